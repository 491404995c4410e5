# sweep_add_module(NAME [PUBLIC lib...] [PRIVATE lib...])
# One folder of src/ = one namespace = one static library sweep::NAME. What it may link (and so include)
# is written here once; scripts/check-layers holds the level of each module.
function(sweep_add_module name)
  cmake_parse_arguments(arg "" "" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp" "${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.h")
  add_library(sweep_${name} STATIC ${sources})
  set_target_properties(sweep_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  set_target_properties(sweep_${name} PROPERTIES LINKER_LANGUAGE CXX)
  if(SWEEP_UNITY)
    set_target_properties(sweep_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${SWEEP_UNITY})
  endif()
  add_library(sweep::${name} ALIAS sweep_${name})
  target_include_directories(sweep_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(sweep_${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE} sweep_build_flags)
endfunction()

# sweep_embed(TARGET SYMBOL FILE...)
# Makes `extern const std::string_view sweep::embedded::SYMBOL_<stem>`-style access possible without a global:
# generates embedded_SYMBOL.h with `std::span<const Embedded> SYMBOL()` listing (relative name, bytes).
function(sweep_embed target symbol)
  cmake_parse_arguments(arg "" "BASE" "FILES" ${ARGN})
  set(out "${CMAKE_CURRENT_BINARY_DIR}/embedded/embedded_${symbol}.cpp")
  set(header "${CMAKE_CURRENT_BINARY_DIR}/embedded/embedded_${symbol}.h")
  add_custom_command(OUTPUT "${out}" "${header}"
    COMMAND "${CMAKE_COMMAND}" -DSYMBOL=${symbol} "-DBASE=${arg_BASE}" "-DFILES=${arg_FILES}" "-DOUT=${out}" "-DHEADER=${header}"
            -P "${PROJECT_SOURCE_DIR}/cmake/Embed.cmake"
    DEPENDS ${arg_FILES} "${PROJECT_SOURCE_DIR}/cmake/Embed.cmake" VERBATIM)
  target_sources(${target} PRIVATE "${out}" "${header}")
  # Every generated file has the same private names.
  set_source_files_properties("${out}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/embedded")
endfunction()
