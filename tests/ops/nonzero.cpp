#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_nonzero() {
  OpCases list;
  for (const DataType dtype : all_types()) {
    if (is_complex(dtype)) continue;
    list.push_back(
        OpCase("every type, " + std::string(to_string(dtype))).in(dtype, {3, 7}, edge_bits()));
  }
  using enum DataType;
  list.push_back(OpCase("NaN and zeros").in(f32, {3, 9}, extremes()));
  list.push_back(OpCase("line").in(i64, {9}, integers(0, 1)));
  list.push_back(OpCase("none").in(f32, {3, 4}, values({0})));
  list.push_back(OpCase("empty").in(f32, {3, 0}));
  list.push_back(OpCase("scalar").in(f32, {}, values({2})));
  return list;
}

}  // namespace concord::ops_test
