#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_dynamic_quantize() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("both signs").in(f32, {5, 33}).outputs(3));
  list.push_back(OpCase("positive").in(f32, {40}, uniform(1, 3)).outputs(3));
  list.push_back(OpCase("negative").in(f32, {40}, uniform(-3, -1)).outputs(3));
  list.push_back(OpCase("zeros").in(f32, {40}, values({0})).outputs(3));
  return list;
}

}  // namespace concord::ops_test
