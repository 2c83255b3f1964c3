# Script: counts the instructions of one run of MODEL's plan and compares them with WANTED, a tenth
# more or less.
cmake_minimum_required(VERSION 3.25)
execute_process(
  COMMAND "${VALGRIND}" --tool=callgrind "--callgrind-out-file=${OUT}"
    "--toggle-collect=concord::cpu::CpuPlan::run(concord::RunArgs const&) const"
    "${CONCORD}" run "${MODEL}" --backend cpu:threads=1 --isa avx2
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT status EQUAL 0 OR NOT errors MATCHES "Collected : ([0-9]+)")
  message(FATAL_ERROR "no instructions were counted:\n${output}${errors}")
endif()
set(counted ${CMAKE_MATCH_1})
math(EXPR least "${WANTED} * 9 / 10")
math(EXPR most "${WANTED} * 11 / 10")
message("${counted} instructions, ${WANTED} expected; see callgrind_annotate ${OUT}")
if(counted GREATER most)
  message(FATAL_ERROR "a run takes more instructions than it did")
endif()
if(counted LESS least)
  message(FATAL_ERROR "a run takes fewer instructions than it did: write the new number down")
endif()
