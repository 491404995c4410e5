# sweep_source_commit(VARIABLE)
# Commit of the source folder, "-dirty" behind it if tracked files differ; empty where it is no git checkout of its own.
function(sweep_source_commit variable)
  set(${variable} "" PARENT_SCOPE)
  find_package(Git QUIET)
  if(NOT GIT_FOUND OR NOT EXISTS "${PROJECT_SOURCE_DIR}/.git")
    return()
  endif()
  execute_process(COMMAND "${GIT_EXECUTABLE}" describe --always --dirty --abbrev=40 "--exclude=*"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE found RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(failed EQUAL 0 AND found MATCHES "^[0-9a-f]+(-dirty)?$")
    set(${variable} "${found}" PARENT_SCOPE)
  endif()
endfunction()
