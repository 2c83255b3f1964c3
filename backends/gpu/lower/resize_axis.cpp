#include "backends/gpu/lower/resize_axis.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace concord::gpu {
namespace {

// Where result `o` lies among the inputs.
double place_of(const std::string& coordinates, const ResizeAxis& axis, std::int64_t o) {
  const auto x = static_cast<double>(o);
  const auto last = static_cast<double>(axis.input - 1);
  // What the formulas mean by the output's length: before it was cut to a whole number.
  const double resized = axis.scale * static_cast<double>(axis.input);
  if (coordinates == "asymmetric") return x / axis.scale;
  if (coordinates == "align_corners") return resized == 1 ? 0 : x * last / (resized - 1);
  if (coordinates == "tf_crop_and_resize") {
    if (resized == 1) return 0.5 * (axis.roi_begin + axis.roi_end) * last;
    return axis.roi_begin * last + x * (axis.roi_end - axis.roi_begin) * last / (resized - 1);
  }
  if (coordinates == "pytorch_half_pixel" && resized <= 1) return 0;
  if (coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  double place = (x + 0.5) / axis.scale - 0.5;
  if (coordinates == "half_pixel_symmetric") {
    const auto extent = static_cast<double>(axis.input);
    place += extent / 2 * (1 - static_cast<double>(axis.output) / resized);
  }
  return place;
}

double rounded(const std::string& rule, double x) {
  if (rule == "floor") return std::floor(x);
  if (rule == "ceil") return std::ceil(x);
  return rule == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

double cubic_weight(double distance, double a) {
  const double t = std::abs(distance);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  if (t < 2) return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
  return 0;
}

struct Filter {
  bool cubic = false;
  double cubic_a = 0;
  double stretch = 1;  // below 1: widened by its inverse
  bool exclude_outside = false;
  std::int64_t first = 0;  // offset of the first tap

  double weight(double distance) const {
    return cubic ? cubic_weight(distance * stretch, cubic_a)
                 : std::max(0.0, 1 - std::abs(distance * stretch));
  }
};

}  // namespace

ResizeTable resize_table(const graph::Attributes& attrs, const ResizeAxis& axis) {
  const std::string& mode = attrs.text("mode");
  const std::string& coordinates = attrs.text("coordinates");
  const std::string rule = attrs.text("nearest", "round_prefer_floor");
  const auto last = static_cast<double>(axis.input - 1);
  Filter filter;
  filter.cubic = mode == "cubic";
  filter.cubic_a = attrs.number("cubic_a", -0.75);
  filter.exclude_outside = attrs.integer("exclude_outside", 0) != 0;
  if (attrs.integer("antialias", 0) != 0) filter.stretch = std::min(axis.scale, 1.0);
  const double radius = (filter.cubic ? 2 : 1) / filter.stretch;
  filter.first = static_cast<std::int64_t>(std::floor(-radius)) + 1;

  ResizeTable table;
  table.taps = mode == "nearest" ? 1 : 2 - 2 * filter.first;
  const auto index = [&](double place) {
    return static_cast<std::int32_t>(std::clamp(place, 0.0, last));
  };
  std::vector<double> weights(static_cast<std::size_t>(table.taps));
  for (std::int64_t o = 0; o < axis.output; ++o) {
    const double x = place_of(coordinates, axis, o);
    const bool outside = coordinates == "tf_crop_and_resize" && (x < 0 || x > last);
    const std::size_t row = table.indices.size();
    if (mode == "nearest") {
      table.indices.push_back(index(rounded(rule, x)));
      table.weights.push_back(1);
    } else {
      const double base = std::floor(x);
      double sum = 0;
      for (std::int64_t t = 0; t < table.taps; ++t) {
        const double at = base + static_cast<double>(filter.first + t);
        double weight = filter.weight(x - at);
        if (filter.exclude_outside && (at < 0 || at > last)) weight = 0;
        weights[static_cast<std::size_t>(t)] = weight;
        sum += weight;
        table.indices.push_back(index(at));
      }
      for (const double weight : weights) {
        table.weights.push_back(static_cast<float>(weight / sum));
      }
    }
    if (outside) table.indices[row] = -1;
  }
  return table;
}

}  // namespace concord::gpu
