#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_select() {
  using enum DataType;
  OpCases list;
  list.push_back(
      OpCase("same").in(boolean, {3, 7}, integers(0, 1)).in(f32, {3, 7}).in(f32, {3, 7}));
  list.push_back(
      OpCase("broadcast").in(boolean, {3, 1, 7}, integers(0, 1)).in(f32, {4, 1}).in(f32, {}));
  list.push_back(OpCase("i64")
                     .in(boolean, {5}, integers(0, 1))
                     .in(i64, {5}, integers(-9, 9))
                     .in(i64, {1}, integers(-9, 9)));
  list.push_back(OpCase("bool")
                     .in(boolean, {5}, integers(0, 1))
                     .in(boolean, {5}, integers(0, 1))
                     .in(boolean, {5}, integers(0, 1)));
  list.push_back(OpCase("f16").in(boolean, {5}, integers(0, 1)).in(f16, {5}).in(f16, {5}));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(OpCase("every type, " + type)
                       .in(boolean, {3, 1}, values({1, 0, 1}))
                       .in(dtype, {3, 7}, edge_bits())
                       .in(dtype, {7}, edge_bits()));
  }
  return list;
}

}  // namespace concord::ops_test
