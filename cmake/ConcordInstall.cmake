# cmake --install:
#   bin/concord
#   lib/libconcord.so*, lib/libconcord_<backend>.so
#   lib/concord/             oneDNN, where it is not the system's
#   lib/cmake/Concord/       find_package(Concord) → Concord::concord
#   include/concord/         the library's public headers, by the paths they have here
#   share/doc/concord/       licences
# RPATHs are relative, so that any prefix will do, and the tree can be moved.
set(CMAKE_INSTALL_LIBDIR lib CACHE STRING "Folder of libraries below the prefix")
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(concord_modules GLOBAL PROPERTY CONCORD_MODULES)
get_property(concord_programs GLOBAL PROPERTY CONCORD_PROGRAMS)

# `ninja product`: what the installed tree consists of, without the tests.
add_custom_target(product DEPENDS concord_lib ${concord_modules} ${concord_programs})

install(TARGETS concord_lib EXPORT ConcordTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(concord_modules)
  install(TARGETS ${concord_modules} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
if(concord_programs)
  install(TARGETS ${concord_programs} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

# What a program that uses the library includes; each compiles alone (tests/install).
set(concord_public_headers
  backends/backend.h backends/registry.h backends/session.h backends/spec.h
  graph/attributes.h graph/dim.h graph/dtype.h graph/error.h graph/functions.h graph/graph.h
  graph/passes.h graph/tensor.h graph/functions.def graph/ops.def
  importer/importer.h importer/mapped_file.h importer/npy.h importer/tensor_io.h)
foreach(header IN LISTS concord_public_headers)
  get_filename_component(folder "${header}" DIRECTORY)
  install(FILES "${PROJECT_SOURCE_DIR}/${header}"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/concord/${folder}")
endforeach()

set(concord_dnnl_location "/lib")
if(TARGET DNNL::dnnl)
  get_target_property(concord_dnnl_location DNNL::dnnl LOCATION)
endif()
if(NOT concord_dnnl_location MATCHES "^/(usr/)?lib")
  install(IMPORTED_RUNTIME_ARTIFACTS DNNL::dnnl
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/concord")
  get_filename_component(concord_dnnl_root "${concord_dnnl_location}/../.." ABSOLUTE)
  install(DIRECTORY "${concord_dnnl_root}/share/doc/onednn"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/concord" OPTIONAL)
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/concord")

set(concord_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Concord")
install(EXPORT ConcordTargets NAMESPACE Concord:: DESTINATION "${concord_package_dir}")
file(WRITE "${PROJECT_BINARY_DIR}/ConcordConfig.cmake"
  "include(\"\${CMAKE_CURRENT_LIST_DIR}/ConcordTargets.cmake\")\n")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ConcordConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/ConcordConfig.cmake"
  "${PROJECT_BINARY_DIR}/ConcordConfigVersion.cmake" DESTINATION "${concord_package_dir}")
