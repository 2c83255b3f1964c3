#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_bit_cast() {
  using enum DataType;
  OpCases list;
  const auto add = [&](DataType from, DataType to, Fill fill) {
    list.push_back(OpCase(std::string(to_string(from)) + " to " + std::string(to_string(to)))
                       .in(from, {3, 5}, std::move(fill))
                       .set("to", to));
  };
  add(f32, i32, extremes());
  add(i32, f32, integers(-1000000000, 1000000000));
  add(f32, u32, normal());
  add(f64, i64, extremes());
  add(i64, f64, integers(-1000000000, 1000000000));
  add(f16, i16, normal());
  add(u16, bf16, integers(0, 30000));
  add(i8, u8, integers(-128, 127));
  add(boolean, u8, integers(0, 1));
  add(u8, f8e4m3fn, integers(0, 126));
  add(i4, u4, integers(-8, 7));
  add(u2, i2, integers(0, 3));
  list.push_back(OpCase("scalar").in(f32, {}).set("to", i32));
  list.push_back(OpCase("empty").in(f32, {0, 3}).set("to", i32));
  return list;
}

}  // namespace concord::ops_test
