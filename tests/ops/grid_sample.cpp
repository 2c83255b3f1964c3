#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_grid_sample() {
  using enum DataType;
  OpCases list;
  const auto sample = [](const std::string& name, const char* mode, const char* padding,
                         int align_corners) {
    return OpCase(name)
        .set("mode", mode)
        .set("padding", padding)
        .set("align_corners", align_corners)
        .set("pixels", 0);
  };
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      for (const int align : {0, 1}) {
        // Thrown back and forth a billion times, a position means nothing.
        const bool reflects = std::string(padding) == "reflection";
        const Fill away = reflects ? values({-41, 97.25, 40.5, -7.25, kNaN, 0.5})
                                   : values({-1e30, 1e9, 40.5, -7.25, kNaN, 0.5});
        const std::string name =
            std::string(mode) + ", " + padding + (align != 0 ? ", aligned" : "");
        list.push_back(sample(name, mode, padding, align)
                           .in(f32, {2, 3, 5, 6})
                           .in(f32, {2, 4, 7, 2}, uniform(-1.4, 1.4)));
        list.push_back(sample(name + ", volume", mode, padding, align)
                           .in(f32, {1, 2, 3, 4, 5})
                           .in(f32, {1, 2, 3, 4, 3}, uniform(-1.4, 1.4)));
        list.push_back(sample(name + ", line", mode, padding, align)
                           .in(f32, {2, 2, 7})
                           .in(f32, {2, 9, 1}, uniform(-3.0, 3.0)));
        list.push_back(sample(name + ", far away", mode, padding, align)
                           .in(f32, {1, 2, 4, 3})
                           .in(f32, {1, 2, 3, 2}, away));
        list.push_back(sample(name + ", one element", mode, padding, align)
                           .in(f32, {1, 2, 1, 1})
                           .in(f32, {1, 3, 3, 2}, uniform(-2, 2)));
      }
    }
  }
  list.push_back(sample("pixels", "linear", "zeros", 0)
                     .in(f32, {2, 3, 5, 6})
                     .in(f32, {2, 4, 7, 2}, uniform(-2, 8))
                     .set("pixels", 1));
  list.push_back(sample("infinite positions", "linear", "border", 0)
                     .in(f32, {1, 2, 4, 3})
                     .in(f32, {1, 1, 2, 2}, values({kInfinity, -kInfinity, 0.5, kInfinity})));
  list.push_back(sample("many positions", "linear", "zeros", 1)
                     .in(f32, {1, 2, 9, 8})
                     .in(f32, {1, 40, 41, 2}, uniform(-1.2, 1.2)));
  list.push_back(sample("NaN and infinities", "nearest", "zeros", 0)
                     .in(f32, {1, 1, 4, 4}, extremes())
                     .in(f32, {1, 5, 5, 2}, uniform(-1.2, 1.2)));
  list.push_back(sample("f64", "cubic", "zeros", 0)
                     .in(f64, {1, 2, 5, 6})
                     .in(f64, {1, 3, 3, 2}, uniform(-1, 1)));
  list.push_back(sample("f64 at f32", "linear", "zeros", 0)
                     .in(f64, {1, 2, 5, 6})
                     .in(f32, {1, 3, 3, 2}, uniform(-1, 1)));
  list.push_back(sample("f16", "linear", "zeros", 0)
                     .in(f16, {1, 2, 5, 6})
                     .in(f16, {1, 3, 3, 2}, uniform(-1, 1)));
  list.push_back(sample("bf16 at f32", "linear", "border", 0)
                     .in(bf16, {1, 2, 5, 6})
                     .in(f32, {1, 3, 3, 2}, uniform(-1, 1)));
  list.push_back(sample("no positions", "linear", "zeros", 0)
                     .in(f32, {1, 2, 5, 6})
                     .in(f32, {1, 0, 3, 2}, uniform(-1, 1)));
  list.push_back(sample("no channels", "linear", "zeros", 0)
                     .in(f32, {1, 0, 5, 6})
                     .in(f32, {1, 2, 3, 2}, uniform(-1, 1)));
  return list;
}

}  // namespace concord::ops_test
