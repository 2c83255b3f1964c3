#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_tile() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("both").in(f32, {2, 3}).dims("repeats", {2, 3}));
  list.push_back(OpCase("one axis").in(f32, {2, 3, 4}).dims("repeats", {1, 5, 1}));
  list.push_back(OpCase("once").in(f32, {2, 3}).dims("repeats", {1, 1}));
  list.push_back(OpCase("never").in(f32, {2, 3}).dims("repeats", {0, 1}));
  list.push_back(OpCase("i64").in(i64, {3}, integers(0, 9)).dims("repeats", {4}));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(
        OpCase("every type, " + type).in(dtype, {1, 7}, edge_bits()).dims("repeats", {3, 2}));
  }
  list.push_back(OpCase("repeats of the run").in(f32, {2, 3}).in(i64, {2}, values({2, 1})));
  list.push_back(
      OpCase("negative repeats").in(f32, {2, 3}).in(i64, {2}, values({2, -1})).refused("-1"));
  // 4 · 2⁶² is 0 in 64 bits.
  list.push_back(OpCase("repeats beyond counting")
                     .in(f32, {4, 3})
                     .in(i64, {2}, values({0x1p62, 1}))
                     .refused("4611686018427387904"));
  return list;
}

}  // namespace concord::ops_test
