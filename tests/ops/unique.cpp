#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_unique() {
  using enum DataType;
  OpCases list;
  const auto unique = [](const std::string& name, int sorted) {
    return OpCase(name).set("sorted", sorted).outputs(4);
  };
  list.push_back(unique("sorted", 1).in(f32, {20}, integers(-3, 3)));
  list.push_back(unique("as they come", 0).in(i64, {20}, integers(-3, 3)));
  list.push_back(unique("matrix", 1).in(i32, {4, 5}, integers(-3, 3)));
  list.push_back(unique("rows", 1).in(f32, {6, 2}, integers(0, 1)).set("axis", 0));
  list.push_back(unique("columns, as they come", 0).in(i64, {2, 6}, integers(0, 1)).set("axis", 1));
  for (const DataType dtype : {f64, f16, i8, i64, u8, u64, boolean}) {
    list.push_back(
        unique("edges of " + std::string(to_string(dtype)), 1).in(dtype, {14}, edge_bits()));
  }
  list.push_back(unique("empty", 1).in(f32, {0}));
  return list;
}

}  // namespace concord::ops_test
