#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_gather_nd() {
  using enum DataType;
  OpCases list;
  list.push_back(
      OpCase("rows").in(f32, {4, 5, 6}).in(i64, {3, 2}, integers(0, 3)).set("batch_dims", 0));
  list.push_back(
      OpCase("elements").in(f32, {4, 5}).in(i64, {7, 2}, integers(-4, 3)).set("batch_dims", 0));
  list.push_back(
      OpCase("batch").in(f32, {3, 5, 6}).in(i64, {3, 2, 1}, integers(0, 4)).set("batch_dims", 1));
  list.push_back(OpCase("bool")
                     .in(boolean, {4, 5}, integers(0, 1))
                     .in(i64, {2, 3, 2}, integers(0, 3))
                     .set("batch_dims", 0));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(OpCase("every type, " + type)
                       .in(dtype, {3, 7, 2}, edge_bits())
                       .in(i64, {3, 2}, values({0, 6, -3, -7, 2, 2}))
                       .set("batch_dims", 0));
  }
  list.push_back(OpCase("index beyond")
                     .in(f32, {3, 5})
                     .in(i64, {2, 2}, values({0, 1, 3, 0}))
                     .set("batch_dims", 0)
                     .refused("3"));
  return list;
}

}  // namespace concord::ops_test
