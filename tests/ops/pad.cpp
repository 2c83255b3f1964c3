#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_pad() {
  using enum DataType;
  OpCases list;
  for (const char* mode : {"constant", "reflect", "edge", "wrap"}) {
    list.push_back(
        OpCase(mode).in(f32, {3, 4, 5}).dims("pads", {0, 2, 1, 0, 1, 3}).set("mode", mode));
  }
  list.push_back(OpCase("value")
                     .in(f32, {3, 4})
                     .omit()
                     .in(f32, {}, values({7}))
                     .dims("pads", {1, 0, 0, 2})
                     .set("mode", "constant"));
  list.push_back(
      OpCase("negative").in(f32, {3, 6}).dims("pads", {1, -2, 0, 1}).set("mode", "constant"));
  list.push_back(OpCase("i64")
                     .in(i64, {3, 6}, integers(0, 9))
                     .dims("pads", {1, 0, 0, 1})
                     .set("mode", "constant"));
  list.push_back(OpCase("f16").in(f16, {3, 6}).dims("pads", {1, 0, 0, 1}).set("mode", "edge"));
  for (const DataType dtype : all_types()) {
    const std::string type(to_string(dtype));
    list.push_back(OpCase("every type, " + type)
                       .in(dtype, {3, 7}, edge_bits())
                       .dims("pads", {1, 2, 0, 3})
                       .set("mode", "edge"));
  }
  return list;
}

}  // namespace concord::ops_test
