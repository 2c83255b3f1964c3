#include "tests/ops/op_case.h"

namespace concord::ops_test {
namespace {

OpCase drawn(const char* name, const char* fn, double alpha, double beta, DataType to,
             const std::vector<std::int64_t>& shape) {
  return OpCase(name)
      .set("fn", fn)
      .set("alpha", alpha)
      .set("beta", beta)
      .set("seed", 17)
      .set("to", graph::AttrValue(to))
      .dims("shape", shape);
}

}  // namespace

// That every backend draws the same numbers; how they are distributed is tested in tests/host.
OpCases cases_random() {
  return {
      drawn("uniform", "uniform", -1, 3, DataType::f32, {7, 9}),
      drawn("uniform f64", "uniform", 0, 1, DataType::f64, {5}),
      drawn("uniform f16", "uniform", 0, 1, DataType::f16, {65}),
      drawn("normal", "normal", 2, 0.5, DataType::f32, {4, 3, 2}),
      drawn("scalar", "normal", 0, 1, DataType::f32, {}),
      drawn("empty", "uniform", 0, 1, DataType::f32, {3, 0}),
  };
}

}  // namespace concord::ops_test
