#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_arg_reduce() {
  using enum DataType;
  OpCases list;
  list.push_back(OpCase("argmax last")
                     .in(f32, {3, 5})
                     .set("fn", "argmax")
                     .set("axis", 1)
                     .set("keepdims", 1)
                     .set("select_last", 0));
  list.push_back(OpCase("argmin inner")
                     .in(f32, {2, 7, 3})
                     .set("fn", "argmin")
                     .set("axis", 1)
                     .set("keepdims", 0)
                     .set("select_last", 0));
  list.push_back(OpCase("ties, first")
                     .in(f32, {2, 8}, integers(0, 2))
                     .set("fn", "argmax")
                     .set("axis", 1)
                     .set("keepdims", 0)
                     .set("select_last", 0));
  list.push_back(OpCase("ties, last")
                     .in(i32, {4, 8}, integers(0, 2))
                     .set("fn", "argmax")
                     .set("axis", 1)
                     .set("keepdims", 0)
                     .set("select_last", 1));
  list.push_back(OpCase("f16")
                     .in(f16, {3, 33})
                     .set("fn", "argmin")
                     .set("axis", 1)
                     .set("keepdims", 1)
                     .set("select_last", 0));
  list.push_back(OpCase("i64 first axis")
                     .in(i64, {5, 4}, integers(-9, 9))
                     .set("fn", "argmax")
                     .set("axis", 0)
                     .set("keepdims", 1)
                     .set("select_last", 0));
  for (const char* fn : {"argmax", "argmin"}) {
    for (const DataType dtype : {f32, f64, f16, bf16, i8, u8, i16, i32, u32, i64, u64}) {
      for (const int select_last : {0, 1}) {
        list.push_back(OpCase("edges, " + std::string(fn) + " " + std::string(to_string(dtype)) +
                              (select_last != 0 ? ", last" : ""))
                           .in(dtype, {3, 10}, edge_bits())
                           .set("fn", fn)
                           .set("axis", 1)
                           .set("keepdims", 1)
                           .set("select_last", select_last));
      }
    }
    list.push_back(OpCase("infinities, " + std::string(fn))
                       .in(f32, {2, 4}, values({1, -kInfinity, kInfinity, 0}))
                       .set("fn", fn)
                       .set("axis", 1)
                       .set("keepdims", 0)
                       .set("select_last", 0));
  }
  return list;
}

}  // namespace concord::ops_test
