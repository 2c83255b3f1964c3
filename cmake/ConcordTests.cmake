# Helpers for tests/.
find_package(GTest QUIET)
if(NOT GTest_FOUND)
  message(FATAL_ERROR "GoogleTest was not found. ${concord_setup_hint}")
endif()
include(GoogleTest)

# concord_add_test(NAME SOURCES file… [LINK library…] [WHOLE] [ALONE] [TIMEOUT seconds]
#                  [LABELS label…])
# A GoogleTest program NAME_test. Each of its cases becomes a ctest test, or, with WHOLE, the whole
# program becomes one: for suites of very many quick cases. With ALONE it is not linked to
# libconcord. Tests run in their own folder and are told where things lie by CONCORD_SOURCE_DIR and
# CONCORD_BINARY_DIR (compile definitions).
function(concord_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WHOLE;ALONE" "TIMEOUT" "SOURCES;LINK;LABELS")
  set(target ${name}_test)
  add_executable(${target} ${arg_SOURCES})
  concord_compile_options(${target})
  add_dependencies(${target} concord_build_id)
  # gtest's headers have semicolons and shadows of their own; they are system headers to us.
  if(NOT arg_ALONE)
    target_link_libraries(${target} PRIVATE concord_lib)
  endif()
  target_link_libraries(${target} PRIVATE ${arg_LINK} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE
    CONCORD_SOURCE_DIR="${PROJECT_SOURCE_DIR}" CONCORD_BINARY_DIR="${PROJECT_BINARY_DIR}"
    CONCORD_ONNX_TEST_DATA="${CONCORD_ONNX_TEST_DATA}")
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
    if(CONCORD_SANITIZE)
      set(arg_TIMEOUT 1200)
    endif()
  endif()
  set(properties TIMEOUT ${arg_TIMEOUT})
  if(arg_LABELS)
    list(APPEND properties LABELS "${arg_LABELS}")
  endif()
  # Sanitised programs take long to start.
  if(arg_WHOLE OR CONCORD_SANITIZE)
    add_test(NAME ${name} COMMAND ${target} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES ${properties})
  else()
    gtest_discover_tests(${target} TEST_PREFIX "${name}." PROPERTIES ${properties}
      DISCOVERY_TIMEOUT 60)
  endif()
endfunction()
