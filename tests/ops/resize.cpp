#include "tests/ops/op_case.h"

namespace concord::ops_test {

OpCases cases_resize() {
  using enum DataType;
  OpCases list;
  const auto resize = [](const std::string& name, const char* mode, const char* coordinates) {
    return OpCase(name)
        .set("mode", mode)
        .set("coordinates", coordinates)
        .set("nearest", "round_prefer_floor")
        .set("cubic_a", -0.75)
        .set("exclude_outside", 0)
        .set("extrapolation", 0.0)
        .set("antialias", 0)
        .set("keep_aspect", "stretch")
        .ints("axes", {});
  };
  const std::vector<double> up{1, 1, 2, 1.5};
  const std::vector<double> down{1, 1, 0.6, 0.5};
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinates : {"half_pixel", "pytorch_half_pixel", "align_corners",
                                    "asymmetric", "half_pixel_symmetric"}) {
      const std::string name = std::string(mode) + " " + coordinates;
      list.push_back(
          resize(name + " up", mode, coordinates).in(f32, {2, 3, 5, 6}).set("scales", up));
      list.push_back(
          resize(name + " down, cut", mode, coordinates).in(f32, {2, 3, 9, 7}).set("scales", down));
      list.push_back(
          resize(name + " down", mode, coordinates).in(f32, {2, 3, 10, 8}).set("scales", down));
    }
  }
  for (const char* nearest : {"round_prefer_ceil", "floor", "ceil"}) {
    list.push_back(resize(std::string("nearest ") + nearest, "nearest", "half_pixel")
                       .in(f32, {1, 1, 4, 5})
                       .set("nearest", nearest)
                       .set("scales", std::vector<double>{1, 1, 1.7, 2.5}));
  }
  list.push_back(
      resize("sizes", "linear", "half_pixel").in(f32, {1, 2, 4, 5}).dims("sizes", {1, 2, 7, 3}));
  list.push_back(resize("one axis", "linear", "half_pixel")
                     .in(f32, {2, 3, 7})
                     .set("scales", std::vector<double>{1, 1, 3}));
  list.push_back(resize("antialias linear", "linear", "half_pixel")
                     .in(f32, {1, 2, 12, 9})
                     .set("scales", down)
                     .set("antialias", 1));
  list.push_back(resize("antialias cubic", "cubic", "half_pixel")
                     .in(f32, {1, 2, 12, 9})
                     .set("scales", down)
                     .set("antialias", 1));
  list.push_back(resize("exclude outside", "cubic", "half_pixel")
                     .in(f32, {1, 2, 5, 6})
                     .set("scales", up)
                     .set("exclude_outside", 1));
  list.push_back(resize("f16", "linear", "half_pixel").in(f16, {1, 2, 5, 6}).set("scales", up));
  return list;
}

}  // namespace concord::ops_test
