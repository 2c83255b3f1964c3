# Script: see CMakeLists.txt beside it. Any failing step ends it with an error.
cmake_minimum_required(VERSION 3.25)
set(prefix "${SCRATCH}/first")
set(moved "${SCRATCH}/moved")
file(REMOVE_RECURSE "${SCRATCH}")

function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed (${status}):\n${output}")
  endif()
  set(step_output "${output}" PARENT_SCOPE)
endfunction()

step("cmake --install" "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")
# The tree must not depend on where it was installed first, nor on the build tree.
file(RENAME "${prefix}" "${moved}")

# The README's program must be true: it is taken from there as it stands, but for the name of the
# input, which the bundled model calls x.
file(COPY "${CONSUMER}" DESTINATION "${SCRATCH}")
file(READ "${README}" readme)
if(NOT readme MATCHES "```cpp\n([^`]*)```")
  message(FATAL_ERROR "the README shows no C++ program")
endif()
string(REPLACE "\"input_ids\"" "\"x\"" program "${CMAKE_MATCH_1}")
file(WRITE "${SCRATCH}/consumer/readme.cpp" "${program}")

step("configuring the consumer" "${CMAKE_COMMAND}" -G Ninja
  -S "${SCRATCH}/consumer" -B "${SCRATCH}/build"
  "-DCMAKE_PREFIX_PATH=${moved}" "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE=Release
  "-DSANITIZE=${SANITIZE}")
step("building the consumer" "${CMAKE_COMMAND}" --build "${SCRATCH}/build")
step("running the consumer" "${SCRATCH}/build/consumer" "${MODELS}/bert__dynamo20/model.onnx" cpu)
message("${step_output}")
file(COPY "${MODELS}/lstm__dynamo20/model.onnx" DESTINATION "${SCRATCH}/build")
step("running the README's program" "${CMAKE_COMMAND}" -E chdir "${SCRATCH}/build" ./readme)

# Each public header alone needs only other public headers.
file(GLOB_RECURSE headers RELATIVE "${moved}/include/concord" "${moved}/include/concord/*.h")
foreach(header IN LISTS headers)
  file(WRITE "${SCRATCH}/alone.cpp" "#include \"${header}\"\n")
  step("compiling ${header} alone" "${COMPILER}" -std=c++20 -fsyntax-only
    "-I${moved}/include/concord" "${SCRATCH}/alone.cpp")
endforeach()

file(GLOB libraries "${moved}/lib/*.so*" "${moved}/lib/concord/*.so*" "${moved}/bin/*")
foreach(library IN LISTS libraries)
  execute_process(COMMAND ldd "${library}" OUTPUT_VARIABLE needed ERROR_QUIET)
  if(needed MATCHES "not found")
    message(FATAL_ERROR "${library} does not find all it needs:\n${needed}")
  endif()
  if(needed MATCHES "=> ${BUILD}/lib")
    message(FATAL_ERROR "${library} still uses the build tree:\n${needed}")
  endif()
endforeach()

if(EXISTS "${moved}/bin/concord")
  step("the installed concord" "${moved}/bin/concord" --version)
  message("${step_output}")
  step("the installed concord" "${moved}/bin/concord" devices)
  message("${step_output}")
endif()
file(REMOVE_RECURSE "${SCRATCH}")
