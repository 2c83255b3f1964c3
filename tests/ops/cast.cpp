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
  // Every pair, with what rounds, saturates and wraps. What a float to integer cast makes of a
  // number that does not fit is open: there the numbers fit.
  for (const DataType from : all_types()) {
    for (const DataType to : all_types()) {
      if (is_complex(from) || is_complex(to)) continue;
      const bool fits = is_float(from) && is_integer(to);
      const bool is_unsigned = !is_signed_integer(to);
      const Fill numbers = is_unsigned     ? values({0, 1, 0.5, 1.5, 2, 3})
                           : bits(to) == 2 ? values({0, 1, -1, 0.5, -1.5, -2})
                                           : values({0, 1, -1, 0.5, -1.5, 2.5, 6, -6, 7, -8});
      for (const int saturate : {1, 0}) {
        if (saturate == 0 && bits(to) != 8) continue;
        list.push_back(OpCase("pair " + std::string(to_string(from)) + " to " +
                              std::string(to_string(to)) + (saturate != 0 ? "" : ", unsaturated"))
                           .in(from, {4, 7}, fits ? numbers : edge_bits())
                           .set("to", to)
                           .set("saturate", saturate));
        if (!is_float(from) || fits) continue;
        list.push_back(
            OpCase("pair " + std::string(to_string(from)) + " to " + std::string(to_string(to)) +
                   ", numbers" + (saturate != 0 ? "" : ", unsaturated"))
                .in(from, {5, 7},
                    values({0.1,     -0.2,    1.0625,  1.1875,  -2.5,     3.5,       5,
                            7,       9.5,     17,      23,      200,      239,       447,
                            448,     464,     465,     480,     57344,    61440,     65504,
                            65520,   1e6,     -1e6,    3e38,    -3e38,    1e-3,      0x1p-9,
                            0x1p-10, 0x3p-11, 0x1p-16, 0x1p-25, 0x1p-130, kInfinity, kNaN}))
                .set("to", to)
                .set("saturate", saturate));
      }
    }
  }
  add(u4, i32, integers(0, 15));
  return list;
}

}  // namespace concord::ops_test
