# How the pieces go together:
#
#   libconcord.so            every layer (graph, importer, backends, parity)
#   libconcord_<name>.so     one loadable backend each, beside it, linked to it
#   concord                  the program, beside them in the build tree
#
# libconcord.so exports all its symbols: modules, tests and users' programs link to the same C++
# classes, and a table of exports would have to follow every one of them.

set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

# --- backends/build_id.h: tells a module built from other headers or by another compiler ----------
# All of libconcord's headers: modules are compiled against more than the interface.
file(GLOB_RECURSE concord_interface_headers CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/graph/*.h" "${PROJECT_SOURCE_DIR}/graph/*.def"
  "${PROJECT_SOURCE_DIR}/importer/*.h" "${PROJECT_SOURCE_DIR}/parity/*.h"
  "${PROJECT_SOURCE_DIR}/backends/host/*.h" "${PROJECT_SOURCE_DIR}/backends/reference/*.h")
file(GLOB concord_backend_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/backends/*.h")
list(APPEND concord_interface_headers ${concord_backend_headers})
set(concord_build_id_header "${PROJECT_BINARY_DIR}/generated/backends/build_id.h")
set(concord_build_id_text "${PROJECT_VERSION} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} \
${CMAKE_SYSTEM_PROCESSOR} ${CMAKE_BUILD_TYPE} ${CONCORD_SANITIZE}")
file(WRITE "${PROJECT_BINARY_DIR}/generated/build_id_headers.txt.new"
  "${concord_interface_headers}")
file(COPY_FILE "${PROJECT_BINARY_DIR}/generated/build_id_headers.txt.new"
  "${PROJECT_BINARY_DIR}/generated/build_id_headers.txt" ONLY_IF_DIFFERENT)
add_custom_command(
  OUTPUT "${PROJECT_BINARY_DIR}/generated/build_id.stamp"
  BYPRODUCTS "${concord_build_id_header}"
  COMMAND "${CMAKE_COMMAND}" "-DTEXT=${concord_build_id_text}" "-DVERSION=${PROJECT_VERSION}"
    "-DHEADER_LIST=${PROJECT_BINARY_DIR}/generated/build_id_headers.txt"
    "-DROOT=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${concord_build_id_header}"
    -P "${PROJECT_SOURCE_DIR}/cmake/write_build_id.cmake"
  COMMAND "${CMAKE_COMMAND}" -E touch "${PROJECT_BINARY_DIR}/generated/build_id.stamp"
  DEPENDS ${concord_interface_headers} "${PROJECT_SOURCE_DIR}/cmake/write_build_id.cmake"
    "${PROJECT_BINARY_DIR}/generated/build_id_headers.txt"
  COMMENT "Computing the build id" VERBATIM)
add_custom_target(concord_build_id DEPENDS "${PROJECT_BINARY_DIR}/generated/build_id.stamp")

# --- The one library ------------------------------------------------------------------------------
add_library(concord_lib SHARED "${PROJECT_SOURCE_DIR}/cmake/version.cpp")
add_library(Concord::concord ALIAS concord_lib)
concord_compile_options(concord_lib)
add_dependencies(concord_lib concord_build_id)
set_target_properties(concord_lib PROPERTIES
  OUTPUT_NAME concord
  EXPORT_NAME concord
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}
  INSTALL_RPATH "$ORIGIN")
target_include_directories(concord_lib PUBLIC
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:include/concord>")
target_link_libraries(concord_lib PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
target_link_options(concord_lib PRIVATE ${concord_no_undefined})

# concord_add_layer(NAME SOURCES file… [USES layer…] [LINK library…])
# Makes the object library concord_NAME and puts it into libconcord.so. USES names the layers it
# may use; LINK what else it needs, which its users do not see.
function(concord_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;LINK")
  set(target concord_${name})
  add_library(${target} OBJECT ${arg_SOURCES})
  concord_compile_options(${target})
  add_dependencies(${target} concord_build_id)
  foreach(layer IN LISTS arg_USES)
    # Headers of lower layers lie under the same include path; what must follow is only the order.
    add_dependencies(${target} concord_${layer})
  endforeach()
  if(arg_LINK)
    target_link_libraries(${target} PRIVATE ${arg_LINK})
    target_link_libraries(concord_lib PRIVATE ${arg_LINK})
  endif()
  target_link_libraries(concord_lib PRIVATE ${target})
endfunction()

# concord_add_module(NAME SOURCES file… [LINK library…])
# Makes the loadable backend libconcord_NAME.so beside libconcord.so. The object library
# concord_NAME_objects can be linked into tests of the backend's insides.
function(concord_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(concord_${name}_objects OBJECT ${arg_SOURCES})
  concord_compile_options(concord_${name}_objects)
  add_dependencies(concord_${name}_objects concord_build_id)
  target_link_libraries(concord_${name}_objects PUBLIC ${arg_LINK})
  add_library(concord_${name} MODULE)
  target_link_libraries(concord_${name} PRIVATE concord_${name}_objects concord_lib)
  concord_compile_options(concord_${name})
  target_link_options(concord_${name} PRIVATE ${concord_no_undefined})
  set_target_properties(concord_${name} PROPERTIES
    PREFIX "lib" OUTPUT_NAME concord_${name} LINKER_LANGUAGE CXX
    INSTALL_RPATH "$ORIGIN;$ORIGIN/concord")
  set_property(GLOBAL APPEND PROPERTY CONCORD_MODULES concord_${name})
endfunction()

# concord_add_program(NAME SOURCES file… [LINK library…]): a program beside libconcord.so.
function(concord_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  set(target ${name}_program)
  add_executable(${target} ${arg_SOURCES})
  concord_compile_options(${target})
  add_dependencies(${target} concord_build_id)
  target_link_libraries(${target} PRIVATE concord_lib ${arg_LINK})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}"
    INSTALL_RPATH "$ORIGIN/../lib")
  set_property(GLOBAL APPEND PROPERTY CONCORD_PROGRAMS ${target})
endfunction()
