#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_quantize() {
  using enum DataType;
  OpCases list;
  for (const DataType dtype : {u8, i8, u16, i16, u4, i4}) {
    list.push_back(OpCase("one scale " + std::string(to_string(dtype)))
                       .in(f32, {3, 8})
                       .in(f32, {}, values({0.02}))
                       .in(dtype, {}, values({3}))
                       .set("axis", 1)
                       .set("block_size", 0)
                       .set("to", dtype)
                       .set("saturate", 1));
  }
  list.push_back(OpCase("per channel")
                     .in(f32, {3, 4, 5})
                     .in(f32, {4}, uniform(0.01, 0.1))
                     .in(i8, {4}, integers(-9, 9))
                     .set("axis", 1)
                     .set("block_size", 0)
                     .set("to", i8)
                     .set("saturate", 1));
  list.push_back(OpCase("blocks")
                     .in(f32, {6, 5})
                     .in(f32, {3, 5}, uniform(0.01, 0.1))
                     .in(u8, {3, 5}, integers(100, 150))
                     .set("axis", 0)
                     .set("block_size", 2)
                     .set("to", u8)
                     .set("saturate", 1));
  list.push_back(OpCase("f8")
                     .in(f32, {3, 8})
                     .in(f32, {}, values({0.5}))
                     .omit()
                     .set("axis", 1)
                     .set("block_size", 0)
                     .set("to", f8e4m3fn)
                     .set("saturate", 1));
  for (const DataType dtype : {f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f4e2m1, u2, i2}) {
    list.push_back(OpCase("every type, " + std::string(to_string(dtype)))
                       .in(f32, {4, 9}, normal(0, 3))
                       .in(f32, {}, values({0.25}))
                       .omit()
                       .set("axis", 1)
                       .set("block_size", 0)
                       .set("to", dtype)
                       .set("saturate", 1));
  }
  for (const DataType dtype : {u8, i8, u16, i16}) {
    list.push_back(
        OpCase("beyond, " + std::string(to_string(dtype)))
            .in(f32, {8}, values({kInfinity, -kInfinity, 1e30, -1e30, 0.0, -0.0, 1e-40, 2.5}))
            .in(f32, {}, values({1}))
            .omit()
            .set("axis", 0)
            .set("block_size", 0)
            .set("to", dtype)
            .set("saturate", 1));
  }
  return list;
}

}  // namespace concord::ops_test
