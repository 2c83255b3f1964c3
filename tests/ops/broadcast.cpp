#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_broadcast() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("rows").in(f32, {3, 1}).dims("shape", {3, 5}));
  list.push_back(OpCase("new axes").in(f32, {5}).dims("shape", {2, 3, 1}));
  list.push_back(OpCase("scalar").in(f16, {}).dims("shape", {2, 3}));
  list.push_back(OpCase("i64").in(i64, {2, 1, 4}, integers(-9, 9)).dims("shape", {1, 3, 4}));
  list.push_back(OpCase("bool").in(boolean, {4, 1}, integers(0, 1)).dims("shape", {4, 6}));
  list.push_back(OpCase("to nothing").in(f32, {1, 3}).dims("shape", {0, 3}));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(
        OpCase("every type, " + type).in(dtype, {1, 7, 1}, edge_bits()).dims("shape", {2, 7, 3}));
  }
  list.push_back(OpCase("shape of the run").in(f32, {3, 1}).in(i64, {2}, values({3, 4})));
  list.push_back(OpCase("does not fit").in(f32, {3, 1}).in(i64, {2}, values({2, 4})).refused("2"));
  return list;
}

}  // namespace concord::ops_test
