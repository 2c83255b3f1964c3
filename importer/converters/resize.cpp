#include <algorithm>

#include "importer/converter_table.h"

namespace concord::importer {
namespace {

// A constant without elements means the same as an omitted input.
ValueId unless_empty(Conversion& c, std::size_t i) {
  if (!c.has_input(i)) return {};
  const auto& shape = c.shape(c.input(i));
  const bool empty = shape && shape->size() == 1 && shape->front().is_constant(0);
  return empty ? ValueId{} : c.input(i);
}

Attributes defaults() {
  return {{"mode", std::string("nearest")},     {"coordinates", std::string("asymmetric")},
          {"nearest", std::string("floor")},    {"cubic_a", -0.75},
          {"exclude_outside", std::int64_t{0}}, {"extrapolation", 0.0},
          {"antialias", std::int64_t{0}},       {"keep_aspect", std::string("stretch")}};
}

std::string mode_of(Conversion& c) {
  std::string mode = c.text("mode", "nearest");
  if (mode == "bilinear" || mode == "trilinear") mode = "linear";
  if (mode != "nearest" && mode != "linear" && mode != "cubic") {
    c.invalid("attribute 'mode' is '" + mode + "', expected nearest, linear or cubic");
  }
  return mode;
}

// Upsample, and Resize of opset 10: x / scale, rounded down; Resize rounded up where it shrank.
void resize_10(Conversion& c, ValueId scales, bool rounds_up_when_smaller) {
  Attributes attrs = defaults();
  attrs.set("mode", mode_of(c));
  if (rounds_up_when_smaller && c.text("mode", "nearest") == "nearest") {
    const auto& constant = c.constant(scales);
    if (!constant) c.unsupported("scales that are known only when running");
    bool smaller = false;
    bool larger = false;
    for (std::int64_t i = 0; i < constant->count(); ++i) {
      smaller = smaller || constant->at_double(i) < 1;
      larger = larger || constant->at_double(i) > 1;
    }
    if (smaller && larger) c.unsupported("one axis that grows and one that shrinks");
    if (smaller) attrs.set("nearest", std::string("ceil"));
  }
  c.output(0, c.emit(OpKind::resize, {c.input(0), ValueId{}, scales}, std::move(attrs)));
}

void upsample(Conversion& c) {
  if (c.opset() >= 9) return resize_10(c, c.input(1), false);
  std::vector<float> scales;
  if (c.opset() < 7) {
    const auto height = c.number("height_scale");
    const auto width = c.number("width_scale");
    scales = {1, 1, static_cast<float>(height), static_cast<float>(width)};
  } else {
    const auto numbers = c.numbers("scales");
    if (!numbers) c.invalid("attribute 'scales' is missing");
    scales.assign(numbers->begin(), numbers->end());
  }
  resize_10(c,
            c.make_constant(Tensor::of<float>({static_cast<std::int64_t>(scales.size())}, scales)),
            false);
}

void resize(Conversion& c) {
  if (c.opset() < 11) return resize_10(c, c.input(1), true);
  const ValueId x = c.input(0);
  Attributes attrs = defaults();
  attrs.set("mode", mode_of(c));
  attrs.set("coordinates", c.text("coordinate_transformation_mode", "half_pixel"));
  attrs.set("nearest", c.text("nearest_mode", "round_prefer_floor"));
  attrs.set("cubic_a", c.number("cubic_coeff_a", -0.75));
  attrs.set("exclude_outside", std::int64_t{c.flag("exclude_outside") ? 1 : 0});
  attrs.set("extrapolation", c.number("extrapolation_value", 0.0));
  attrs.set("antialias", std::int64_t{c.flag("antialias") ? 1 : 0});
  attrs.set("keep_aspect", c.text("keep_aspect_ratio_policy", "stretch"));
  if (const auto axes = c.integers("axes"); axes && !axes->empty()) {
    attrs.set("axes", c.axes(*axes, c.known_rank(x)));
  }
  const ValueId scales = unless_empty(c, 2);
  const ValueId sizes = unless_empty(c, 3);
  if (scales.valid() == sizes.valid()) {
    c.invalid(scales.valid() ? "it has scales and sizes, expected one of them"
                             : "it has neither scales nor sizes");
  }
  const std::string coordinates = attrs.text("coordinates");
  const ValueId roi = coordinates == "tf_crop_and_resize" ? unless_empty(c, 1) : ValueId{};
  constexpr std::string_view known[] = {
      "half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",  "asymmetric",
      "align_corners", "tf_crop_and_resize",   "tf_half_pixel_for_nn"};
  if (std::find(std::begin(known), std::end(known), coordinates) == std::end(known)) {
    c.invalid("attribute 'coordinate_transformation_mode' is '" + coordinates + "'");
  }
  c.output(0, c.emit(OpKind::resize, {x, roi, scales, sizes}, std::move(attrs)));
}

constexpr Converter kConverters[] = {
    {kOnnx, "Resize", 10, kLatest, resize},
    {kOnnx, "Upsample", 1, kLatest, upsample},
};

}  // namespace

std::span<const Converter> resize_converters() {
  return kConverters;
}

}  // namespace concord::importer
