#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_dequantize() {
  using enum DataType;
  OpCases list;
  for (const DataType dtype : {u8, i8, u16, i16, u4, i4}) {
    const int low = is_signed_integer(dtype) ? -7 : 0;
    list.push_back(OpCase("one scale " + std::string(to_string(dtype)))
                       .in(dtype, {3, 8}, integers(low, 7))
                       .in(f32, {}, values({0.02}))
                       .in(dtype, {}, values({3}))
                       .set("axis", 1)
                       .set("block_size", 0)
                       .set("to", f32));
  }
  list.push_back(OpCase("i32")
                     .in(i32, {3, 8}, integers(-99999, 99999))
                     .in(f32, {}, values({0.02}))
                     .set("axis", 1)
                     .set("block_size", 0)
                     .set("to", f32));
  list.push_back(OpCase("per channel")
                     .in(i8, {3, 4, 5}, integers(-100, 100))
                     .in(f32, {4}, uniform(0.01, 0.1))
                     .in(i8, {4}, integers(-9, 9))
                     .set("axis", 1)
                     .set("block_size", 0)
                     .set("to", f32));
  list.push_back(OpCase("blocks")
                     .in(u8, {6, 5}, integers(0, 255))
                     .in(f32, {3, 5}, uniform(0.01, 0.1))
                     .in(u8, {3, 5}, integers(100, 150))
                     .set("axis", 0)
                     .set("block_size", 2)
                     .set("to", f32));
  list.push_back(OpCase("constant blocks of 4 bits")
                     .weight(u4, {5, 32}, integers(0, 15))
                     .weight(f32, {5, 2}, uniform(0.01, 0.1))
                     .weight(u4, {5, 2}, integers(6, 9))
                     .set("axis", 1)
                     .set("block_size", 16)
                     .set("to", f32));
  list.push_back(OpCase("f8")
                     .in(f8e4m3fn, {3, 8})
                     .in(f32, {}, values({0.5}))
                     .set("axis", 1)
                     .set("block_size", 0)
                     .set("to", f32));
  list.push_back(OpCase("to f16")
                     .in(u8, {3, 8}, integers(0, 255))
                     .in(f16, {}, values({0.5}))
                     .in(u8, {}, values({128}))
                     .set("axis", 1)
                     .set("block_size", 0)
                     .set("to", f16));
  for (const DataType dtype :
       {u8, i8, u16, i16, i32, u4, i4, u2, i2, f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f4e2m1}) {
    list.push_back(OpCase("edges, " + std::string(to_string(dtype)))
                       .in(dtype, {2, 7}, edge_bits())
                       .in(f32, {}, values({0.5}))
                       .set("axis", 1)
                       .set("block_size", 0)
                       .set("to", f32));
  }
  return list;
}

}  // namespace concord::ops_test
