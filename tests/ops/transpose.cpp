#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_transpose() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("matrix").in(f32, {17, 33}).ints("perm", {1, 0}));
  list.push_back(OpCase("heads").in(f32, {2, 5, 3, 8}).ints("perm", {0, 2, 1, 3}));
  list.push_back(OpCase("last two").in(f32, {2, 3, 5, 8}).ints("perm", {0, 1, 3, 2}));
  list.push_back(OpCase("reverse").in(f32, {2, 3, 4, 5, 6}).ints("perm", {4, 3, 2, 1, 0}));
  list.push_back(OpCase("i64").in(i64, {5, 7}, integers(-9, 9)).ints("perm", {1, 0}));
  list.push_back(OpCase("bool").in(boolean, {5, 7}, integers(0, 1)).ints("perm", {1, 0}));
  list.push_back(OpCase("f16").in(f16, {20, 70}).ints("perm", {1, 0}));
  list.push_back(OpCase("empty").in(f32, {0, 7}).ints("perm", {1, 0}));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(
        OpCase("every type, " + type).in(dtype, {3, 7, 2}, edge_bits()).ints("perm", {2, 0, 1}));
  }
  return list;
}

}  // namespace concord::ops_test
