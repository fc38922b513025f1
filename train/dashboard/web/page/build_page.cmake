# cmake -DSOURCE=<this folder> -DBUILD=<folder> -DOUTPUT=<page_files.cc> -DNPM=<npm> -DNODE=<node> -P build_page.cmake
# Builds the page of the dashboard into a C++ file. Where npm is not there, or cannot fetch what the lock file names, the
# file holds no page, and the dashboard says so in the browser.
set(reason "")
if(NOT NPM OR NOT NODE)
  set(reason "npm or node was not found")
else()
  file(COPY "${SOURCE}/" DESTINATION "${BUILD}" PATTERN node_modules EXCLUDE)
  execute_process(COMMAND "${NPM}" ci --ignore-scripts --no-audit --no-fund --loglevel=error
    WORKING_DIRECTORY "${BUILD}" RESULT_VARIABLE failed OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(failed)
    string(STRIP "${text}" text)
    set(reason "npm ci failed: ${text}")
  endif()
endif()
if(reason)
  message(WARNING "The dashboard is built without its page for browsers: ${reason}")
  file(WRITE "${OUTPUT}" "#include \"train/dashboard/web/page.h\"

namespace burn::train::dashboard {

std::span<const PageFile> page_files() { return {}; }

}  // namespace burn::train::dashboard
")
  return()
endif()
execute_process(COMMAND "${NODE}" build.mjs "${OUTPUT}" 60000 WORKING_DIRECTORY "${BUILD}" RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "The dashboard's page could not be built")
endif()
