#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_cast() {
  using enum DataType;
  OpCases list;
  const auto add = [&](DataType from, DataType to, Fill fill) {
    list.push_back(OpCase(std::string(to_string(from)) + " to " + std::string(to_string(to)))
                       .in(from, {5, 7}, std::move(fill))
                       .set("to", to)
                       .set("saturate", 1));
  };
  for (const DataType to : {f16, bf16, f64, i8, u8, i16, u16, i32, i64, boolean}) {
    add(f32, to, uniform(0, 90));
    add(to, f32, integers(0, 1));
  }
  add(f32, i32, normal(0, 90));
  add(f16, bf16, normal());
  add(bf16, f16, normal());
  add(f64, f16, normal());
  add(f32, f32, normal());
  add(i64, i32, integers(-99, 99));
  add(i32, i8, integers(-300, 300));
  add(i32, u8, integers(-300, 300));
  add(u8, i8, integers(0, 255));
  add(boolean, i64, integers(0, 1));
  add(f32, f8e4m3fn, normal(0, 100));
  add(f32, f8e5m2, normal(0, 100));
  add(f8e4m3fn, f32, normal(0, 9));
  add(i4, f32, integers(-8, 7));
  add(u4, i32, integers(0, 15));
  return list;
}

}  // namespace concord::ops_test
