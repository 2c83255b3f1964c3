# Compiler settings for every target of the project.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# So that object paths do not enter the cache key or the binaries' RPATHs among our own libraries.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)

find_program(CONCORD_CCACHE ccache)
mark_as_advanced(CONCORD_CCACHE)
if(CONCORD_CCACHE)
  foreach(language IN ITEMS C CXX)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER "${CONCORD_CCACHE}")
    endif()
  endforeach()
endif()

string(REPLACE "," ";" concord_sanitizers "${CONCORD_SANITIZE}")
foreach(sanitizer IN LISTS concord_sanitizers)
  if(NOT sanitizer MATCHES "^(address|undefined|thread|leak)$")
    message(FATAL_ERROR "CONCORD_SANITIZE=${CONCORD_SANITIZE}: '${sanitizer}' is none of address, "
      "undefined, thread and leak")
  endif()
endforeach()

# Sanitizers leave symbols to be found in the program.
set(concord_no_undefined "")
if(NOT CONCORD_SANITIZE)
  set(concord_no_undefined -Wl,-z,defs)
endif()

# libomp beside the libgomp that oneDNN brings, and libgomp under ThreadSanitizer, mislead: those
# builds run their parallel loops serially.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CONCORD_SANITIZE)
  set(CONCORD_OPENMP ON)
else()
  set(CONCORD_OPENMP OFF)
endif()

# concord_unite_sources(TARGET LINES): compiles the target's files in pieces of so many lines
# (cmake/unity.awk says how).
function(concord_unite_sources target lines)
  get_target_property(sources ${target} SOURCES)
  set(apart "")
  set(ours "")
  foreach(source IN LISTS sources)
    get_filename_component(path "${source}" ABSOLUTE)
    string(FIND "${path}" "${PROJECT_BINARY_DIR}/" generated)
    if(path MATCHES "\\.cpp$" AND generated EQUAL -1)
      list(APPEND ours "${path}")
    else()
      list(APPEND apart "${source}")
    endif()
  endforeach()
  if(NOT ours)
    return()
  endif()
  set(folder "${PROJECT_BINARY_DIR}/unity/${target}")
  file(MAKE_DIRECTORY "${folder}")
  execute_process(
    COMMAND awk -f "${PROJECT_SOURCE_DIR}/cmake/unity.awk" -v "prefix=${folder}/unity_"
      -v "lines=${lines}" ${ours}
    OUTPUT_VARIABLE united OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" united "${united}")
  foreach(source IN LISTS united)
    if(EXISTS "${source}.new")
      file(COPY_FILE "${source}.new" "${source}" ONLY_IF_DIFFERENT)
    endif()
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${united} ${apart})
  # The pieces hold copies, to be held to the same rules.
  if(ours MATCHES "^${PROJECT_SOURCE_DIR}/tests/")
    file(COPY "${PROJECT_SOURCE_DIR}/tests/.clang-tidy" DESTINATION "${folder}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ours}
    "${PROJECT_SOURCE_DIR}/cmake/unity.awk")
endfunction()

# concord_compile_options(TARGET): warnings, sanitizers, include paths.
function(concord_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PRIVATE
    "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/generated")
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi -Wvla
    -Wimplicit-fallthrough
    # A product and a sum are rounded apart unless the source says fma: results then do not depend
    # on what the compiler felt like.
    -ffp-contract=off -fno-math-errno)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE
      -Wduplicated-cond -Wlogical-op
      # Wrong about std::string operator+ in GCC 12 (its bug 105329).
      -Wno-restrict)
  endif()
  if(CONCORD_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CONCORD_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${CONCORD_SANITIZE} -fno-omit-frame-pointer)
    # GCC loses track of std::optional in instrumented code.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    endif()
    target_link_options(${target} PRIVATE -fsanitize=${CONCORD_SANITIZE})
    if("undefined" IN_LIST concord_sanitizers)
      target_compile_options(${target} PRIVATE -fno-sanitize-recover=undefined)
    endif()
  endif()
  target_link_options(${target} PRIVATE -Wl,--as-needed)
  if(CONCORD_UNITY_LINES)
    concord_unite_sources(${target} ${CONCORD_UNITY_LINES})
  endif()
endfunction()
