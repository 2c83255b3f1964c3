#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_matmul_integer() {
  using enum DataType;
  OpCases list;
  for (const DataType a : {u8, i8}) {
    for (const DataType b : {u8, i8}) {
      const auto range = [](DataType t) {
        return t == u8 ? integers(0, 255) : integers(-128, 127);
      };
      const std::string types = std::string(to_string(a)) + " " + std::string(to_string(b));
      list.push_back(OpCase(types).in(a, {5, 70}, range(a)).weight(b, {70, 33}, range(b)));
      list.push_back(OpCase(types + " zero points")
                         .in(a, {2, 5, 70}, range(a))
                         .weight(b, {70, 33}, range(b))
                         .in(a, {}, values({9}))
                         .weight(b, {}, values({3})));
      list.push_back(OpCase(types + " zero point per column")
                         .in(a, {5, 1}, range(a))
                         .weight(b, {1, 33}, range(b))
                         .in(a, {}, values({9}))
                         .weight(b, {33}, integers(0, 9)));
    }
  }
  list.push_back(OpCase("both of the run")
                     .in(u8, {3, 5, 7}, integers(0, 255))
                     .in(i8, {3, 7, 9}, integers(-128, 127))
                     .in(u8, {}, values({128})));
  const auto scaled = [](const std::string& name, Shape scale) {
    return OpCase("scaled, " + name)
        .in(u8, {2, 5, 70}, integers(0, 255))
        .weight(i8, {70, 33}, integers(-128, 127))
        .in(u8, {}, values({117}))
        .weight(i8, {}, values({3}))
        .in(f32, std::move(scale), uniform(1e-4, 1e-3));
  };
  list.push_back(scaled("one scale", {}));
  list.push_back(scaled("one scale of rank 1", {1}));
  list.push_back(scaled("scale per column", {33}));
  list.push_back(scaled("bias and residual", {33}).weight(f32, {33}).in(f32, {2, 5, 33}));
  for (const char* fn : {"relu", "gelu_erf", "elu"}) {
    list.push_back(scaled(std::string("activation ") + fn, {})
                       .weight(f32, {33})
                       .in(f32, {2, 5, 33})
                       .set("activation", fn)
                       .set("act_alpha", 0.5)
                       .set("act_beta", 0.0));
  }
  for (const DataType b : {u8, i8}) {
    const auto both = [&](const std::string& name) {
      return OpCase("scaled, both of the run, " + name + " " + std::string(to_string(b)))
          .in(u8, {2, 3, 5, 37}, integers(0, 255))
          .in(b, {3, 37, 70}, b == u8 ? integers(0, 255) : integers(-128, 127))
          .weight(u8, {}, values({131}))
          .weight(b, {}, values({5}))
          .weight(f32, {}, values({0.003}));
    };
    list.push_back(both("plain"));
    list.push_back(both("bias, activation, residual")
                       .weight(f32, {70})
                       .in(f32, {2, 3, 5, 70})
                       .set("activation", "gelu_erf")
                       .set("act_alpha", 0.0)
                       .set("act_beta", 0.0));
  }
  list.push_back(OpCase("both of the run, signed, zero points")
                     .in(i8, {1, 5, 6}, integers(-128, 127))
                     .in(u8, {4, 6, 65}, integers(0, 255))
                     .in(i8, {1}, values({-7}))
                     .in(u8, {1}, values({250})));
  return list;
}

}  // namespace concord::ops_test
