# The report's script and style sheet: npm packages from the lock file, bundled once into one file each by esbuild.
find_program(NPM_EXECUTABLE npm REQUIRED)
set(web_source "${PROJECT_SOURCE_DIR}/src/report/web")
set(web_build "${PROJECT_BINARY_DIR}/web")
file(GLOB_RECURSE web_files CONFIGURE_DEPENDS "${web_source}/*.js" "${web_source}/*.css")
file(MAKE_DIRECTORY "${web_build}/bundle")
add_custom_command(
  OUTPUT "${web_build}/packages.stamp"
  COMMAND "${CMAKE_COMMAND}" -E copy "${web_source}/package.json" "${web_source}/package-lock.json" "${web_build}"
  COMMAND "${NPM_EXECUTABLE}" ci --ignore-scripts --no-audit --no-fund --loglevel=error
  COMMAND "${CMAKE_COMMAND}" -E touch packages.stamp
  DEPENDS "${web_source}/package.json" "${web_source}/package-lock.json"
  WORKING_DIRECTORY "${web_build}" COMMENT "Installing the report's npm packages" VERBATIM)
# The sources stay where they are; NODE_PATH says where their packages are.
set(esbuild "${CMAKE_COMMAND}" -E env "NODE_PATH=${web_build}/node_modules" "${web_build}/node_modules/.bin/esbuild")
add_custom_command(
  OUTPUT "${web_build}/bundle/report.js" "${web_build}/bundle/report.css"
  COMMAND ${esbuild} "${web_source}/main.js" --bundle --minify --format=iife --target=es2020
          --log-level=warning --outfile=bundle/report.js
  COMMAND ${esbuild} "${web_source}/style.css" --bundle --minify --log-level=warning --outfile=bundle/report.css
  DEPENDS "${web_build}/packages.stamp" ${web_files}
  WORKING_DIRECTORY "${web_build}" COMMENT "Bundling the report's script" VERBATIM)
