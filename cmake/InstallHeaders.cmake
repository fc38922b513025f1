# Lays down the public headers as include/burn/<folder>/<file>: run by `cmake --install`, after BurnInstall.cmake has set
#   BURN_SOURCE_DIR, BURN_STAGE_DIR  where they come from, and a folder of the build tree to prepare them in
#   BURN_PUBLIC_HEADERS              those that programs include; what these include comes along
#   BURN_HEADER_DESTINATION          below the prefix: "include"
#
# In the repository a header is included by its path there ("client/device.h"), which elsewhere could be another
# project's: the installed ones say "burn/client/device.h", so that one include folder with one root serves their users.
cmake_minimum_required(VERSION 3.25)

set(include_line "^([ \t]*#[ \t]*include[ \t]*)\"([^\"]+)\"")

set(waiting ${BURN_PUBLIC_HEADERS})
set(headers "")
while(waiting)
  list(POP_BACK waiting header)
  if(header IN_LIST headers)
    continue()
  endif()
  list(APPEND headers "${header}")
  file(STRINGS "${BURN_SOURCE_DIR}/${header}" lines REGEX "${include_line}")
  foreach(line IN LISTS lines)
    if(line MATCHES "${include_line}")
      list(APPEND waiting "${CMAKE_MATCH_2}")
    endif()
  endforeach()
endwhile()

file(REMOVE_RECURSE "${BURN_STAGE_DIR}")
foreach(header IN LISTS headers)
  file(READ "${BURN_SOURCE_DIR}/${header}" text)
  string(REGEX REPLACE "(\n[ \t]*#[ \t]*include[ \t]*)\"([^\"\n]+)\"" "\\1\"burn/\\2\"" text "\n${text}")
  string(REPLACE "\"burn/burn/" "\"burn/" text "${text}")
  string(SUBSTRING "${text}" 1 -1 text)
  string(REGEX REPLACE "^burn/" "" header "${header}")
  file(WRITE "${BURN_STAGE_DIR}/burn/${header}" "${text}")
endforeach()

file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/${BURN_HEADER_DESTINATION}" TYPE DIRECTORY FILES "${BURN_STAGE_DIR}/burn")
