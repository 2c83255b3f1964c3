# Run by CMake in script mode: writes OUTPUT (backends/build_id.h) from TEXT and the contents of the
# headers that HEADER_LIST names.
cmake_minimum_required(VERSION 3.25)
file(READ "${HEADER_LIST}" headers)
list(SORT headers)
set(all "${TEXT}")
foreach(header IN LISTS headers)
  file(RELATIVE_PATH name "${ROOT}" "${header}")
  file(SHA256 "${header}" hash)
  string(APPEND all "\n${name} ${hash}")
endforeach()
string(SHA256 id "${all}")
string(SUBSTRING "${id}" 0 16 id)
set(content "#pragma once

// Differs whenever a backend module and libconcord.so could disagree on the layout of a class: it is
// made of the contents of the library's headers, the compiler and the build type.
#define CONCORD_BUILD_ID \"${id}\"
#define CONCORD_VERSION \"${VERSION}\"
")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" old)
  if(old STREQUAL content)
    return()
  endif()
endif()
file(WRITE "${OUTPUT}" "${content}")
