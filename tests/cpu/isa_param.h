// Runs a test under every instruction set that this machine has.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/kernels/isa.h"

namespace concord::cpu {

inline std::vector<Isa> testable_isas() {
  std::vector<Isa> isas{Isa::baseline};
  if (native_isa() >= Isa::avx2) isas.push_back(Isa::avx2);
  if (native_isa() >= Isa::avx512) isas.push_back(Isa::avx512);
  return isas;
}

class IsaTest : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override { limit_isa(GetParam()); }
  void TearDown() override { limit_isa(native_isa()); }
};

inline std::string isa_test_name(const ::testing::TestParamInfo<Isa>& info) {
  return std::string(isa_name(info.param));
}

}  // namespace concord::cpu

#define CONCORD_FOR_EACH_ISA(suite)                                                          \
  INSTANTIATE_TEST_SUITE_P(Isa, suite, ::testing::ValuesIn(::concord::cpu::testable_isas()), \
                           ::concord::cpu::isa_test_name)
