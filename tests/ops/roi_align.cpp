#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_roi_align() {
  using enum DataType;
  OpCases list;
  const auto align = [](const std::string& name, const char* mode, int ratio, int half_pixel) {
    return OpCase(name)
        .set("mode", mode)
        .set("height", 3)
        .set("width", 4)
        .set("sampling_ratio", ratio)
        .set("scale", 0.5)
        .set("half_pixel", half_pixel);
  };
  // Two corners each; some reach out of the map, one is empty, one turned around.
  const Fill corners =
      values({1, 1, 11, 9, -5, -4, 7, 22.5, 3.25, 2.5, 19, 7, 6, 6, 6, 6, 12, 9, 4, 3});
  for (const char* mode : {"avg", "max"}) {
    for (const int ratio : {0, 1, 2}) {
      for (const int half : {0, 1}) {
        const std::string name = std::string(mode) + ", ratio " + std::to_string(ratio) +
                                 (half != 0 ? ", half pixel" : "");
        list.push_back(align(name, mode, ratio, half)
                           .in(f32, {2, 3, 9, 10})
                           .in(f32, {5, 4}, corners)
                           .in(i64, {5}, values({0, 1, 1, 0, 1})));
      }
    }
  }
  const auto add = [&](const std::string& name, DataType dtype, Shape x, std::int64_t regions) {
    list.push_back(align(name, "avg", 2, 1)
                       .in(dtype, std::move(x))
                       .in(dtype, {regions, 4}, corners)
                       .in(i64, {regions}, values({0})));
  };
  add("f64", f64, {1, 2, 9, 10}, 2);
  add("f16", f16, {1, 2, 9, 10}, 2);
  add("bf16", bf16, {1, 2, 9, 10}, 2);
  add("one element", f32, {1, 2, 1, 1}, 3);
  add("no regions", f32, {1, 2, 4, 4}, 0);
  add("empty map", f32, {1, 2, 0, 4}, 2);
  list.push_back(align("NaN and far away", "avg", 2, 1)
                     .in(f32, {1, 2, 4, 4})
                     .in(f32, {2, 4}, values({kNaN, 0, 3, 3, 1e20, 1e20, 2e20, 2e20}))
                     .in(i64, {2}, values({0})));
  list.push_back(align("batch beyond", "avg", 2, 1)
                     .in(f32, {2, 2, 4, 4})
                     .in(f32, {2, 4}, values({0, 0, 3, 3}))
                     .in(i64, {2}, values({1, 2}))
                     .refused("2"));
  list.push_back(align("region too large", "avg", 0, 1)
                     .in(f32, {2, 2, 4, 4})
                     .in(f32, {1, 4}, values({0, 0, 1e30, 3}))
                     .in(i64, {1}, values({1}))
                     .refused("too large"));
  return list;
}

}  // namespace concord::ops_test
