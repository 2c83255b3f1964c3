#include <algorithm>
#include <cmath>

#include "backends/host/cast.h"
#include "backends/reference/kernel.h"
#include "backends/reference/quantization.h"
#include "graph/geometry.h"

namespace concord::reference {
namespace {

// What one output position along an axis is made of.
template <typename N>
struct Blend {
  struct Part {
    std::int64_t index;
    N weight;
  };
  std::vector<Part> parts;
  bool outside = false;  // of the input: takes the extrapolation value, if there is one
};

struct Axis {
  std::int64_t input;
  std::int64_t output;
  double scale;
  double roi_begin;
  double roi_end;
  // The output's length before it was cut to a whole number: what the formulas mean.
  double resized() const { return scale * static_cast<double>(input); }
};

// Place along the input that output position o is taken from. Coordinates are computed, so they
// carry an error of their own.
template <typename N>
N coordinate(const Axis& a, const std::string& mode, std::int64_t o) {
  const N x = number<N>(static_cast<double>(o));
  const N half = number<N>(0.5);
  const N scale = number<N>(a.scale);
  const auto extent = static_cast<double>(a.input);
  if (mode == "asymmetric") return a.scale == 1 ? x : x / scale;
  if (mode == "align_corners") {
    if (a.resized() == 1) return number<N>(0);
    return x * number<N>(extent - 1) / number<N>(a.resized() - 1);
  }
  if (mode == "tf_crop_and_resize") {
    const N begin = number<N>(a.roi_begin);
    const N end = number<N>(a.roi_end);
    const N last = number<N>(extent - 1);
    if (a.resized() == 1) return half * (begin + end) * last;
    return begin * last + x * (end - begin) * last / number<N>(a.resized() - 1);
  }
  if (mode == "pytorch_half_pixel" && a.resized() <= 1) return number<N>(0);
  if (mode == "tf_half_pixel_for_nn") return (x + half) / scale;
  if (a.scale == 1 && mode != "half_pixel_symmetric") return x;
  N place = (x + half) / scale - half;
  if (mode == "half_pixel_symmetric") {
    const N adjustment = number<N>(static_cast<double>(a.output)) / number<N>(a.resized());
    place = number<N>(extent / 2) * (number<N>(1) - adjustment) + place;
  }
  return place;
}

std::int64_t nearest(double x, const std::string& rule) {
  if (rule == "floor") return static_cast<std::int64_t>(std::floor(x));
  if (rule == "ceil") return static_cast<std::int64_t>(std::ceil(x));
  if (rule == "round_prefer_ceil") return static_cast<std::int64_t>(std::floor(x + 0.5));
  return static_cast<std::int64_t>(std::ceil(x - 0.5));  // round_prefer_floor
}

template <typename N>
N cubic_weight(const N& distance, double a) {
  const N t = abs(distance);
  const N c = number<N>(a);
  const auto v = value_of(t);
  if (v <= 1) {
    return ((c + number<N>(2)) * t - (c + number<N>(3))) * t * t + number<N>(1);
  }
  if (v < 2) {
    return ((c * t - number<N>(5) * c) * t + number<N>(8) * c) * t - number<N>(4) * c;
  }
  return number<N>(0);
}

template <typename N>
N linear_weight(const N& distance) {
  const N weight = number<N>(1) - abs(distance);
  return value_of(weight) > 0 ? weight : number<N>(0);
}

struct Rules {
  std::string mode;
  std::string coordinates;
  std::string nearest;
  double cubic_a;
  bool exclude_outside;
  bool antialias;
};

template <typename N>
Blend<N> blend(const Axis& axis, const Rules& rules, std::int64_t o) {
  const N x = coordinate<N>(axis, rules.coordinates, o);
  const auto place = static_cast<double>(value_of(x));
  Blend<N> result;
  result.outside = rules.coordinates == "tf_crop_and_resize" &&
                   (place < 0 || place > static_cast<double>(axis.input - 1));
  const std::int64_t last = axis.input - 1;
  if (rules.mode == "nearest") {
    const std::int64_t at = std::clamp<std::int64_t>(nearest(place, rules.nearest), 0, last);
    result.parts.push_back({at, number<N>(1)});
    return result;
  }
  const bool cubic = rules.mode == "cubic";
  // When shrinking with antialias the kernel is stretched by 1/scale.
  const bool stretched = rules.antialias && axis.scale < 1;
  const double stretch = stretched ? axis.scale : 1;
  const double radius = (cubic ? 2 : 1) / stretch;
  const auto base = static_cast<std::int64_t>(std::floor(place));
  const auto first = static_cast<std::int64_t>(std::floor(-radius)) + 1;
  Sum<N> total;
  for (std::int64_t i = first; i < 2 - first; ++i) {
    N distance = x - number<N>(static_cast<double>(base + i));
    if (stretched) distance = distance * number<N>(stretch);
    N weight = cubic ? cubic_weight(distance, rules.cubic_a) : linear_weight(distance);
    if (rules.exclude_outside && (base + i < 0 || base + i > last)) weight = number<N>(0);
    total.add(weight);
    result.parts.push_back({std::clamp<std::int64_t>(base + i, 0, last), weight});
  }
  if (stretched || rules.exclude_outside) {
    const N sum = total.result();
    for (auto& part : result.parts) part.weight = part.weight / sum;
  }
  return result;
}

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const std::vector<Tensor> inputs = call.tensors();
  Shape shape = call.shape(0);
  const graph::ResizeGeometry g = graph::resize_geometry(call.node, shape, inputs, call.bindings);
  const Rules rules{call.attrs().text("mode"),
                    call.attrs().text("coordinates"),
                    call.attrs().text("nearest", "round_prefer_floor"),
                    call.attrs().number("cubic_a", -0.75),
                    call.attrs().integer("exclude_outside", 0) != 0,
                    call.attrs().integer("antialias", 0) != 0};
  Output<N> y(call, 0, g.output);  // refuses what no memory holds, before the axes' tables grow
  std::vector<N> values;
  for (const double x : real_values(call.input(0))) values.push_back(number<N>(x));
  std::vector<std::vector<bool>> outside;

  for (std::size_t d = 0; d < shape.size(); ++d) {
    const Axis axis{shape[d], g.output[d], g.scales[d], g.roi_begin[d], g.roi_end[d]};
    outside.emplace_back(static_cast<std::size_t>(axis.output), false);
    const bool crops =
        rules.coordinates == "tf_crop_and_resize" && (axis.roi_begin != 0 || axis.roi_end != 1);
    if (axis.input == axis.output && axis.scale == 1 && !crops) continue;
    std::vector<Blend<N>> blends;
    for (std::int64_t o = 0; o < axis.output; ++o) {
      blends.push_back(blend<N>(axis, rules, o));
      outside[d][static_cast<std::size_t>(o)] = blends.back().outside;
    }
    const std::int64_t inner = host::extent_product(shape, d + 1, shape.size());
    const std::int64_t outer = host::extent_product(shape, 0, d);
    std::vector<N> next(static_cast<std::size_t>(outer * axis.output * inner));
    parallel_for(outer * axis.output, grain_for(8.0 * static_cast<double>(inner)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t line = begin; line < end; ++line) {
                     const auto& parts = blends[static_cast<std::size_t>(line % axis.output)].parts;
                     const std::int64_t base = line / axis.output * axis.input * inner;
                     for (std::int64_t i = 0; i < inner; ++i) {
                       N& to = next[static_cast<std::size_t>(line * inner + i)];
                       const auto at = [&](std::int64_t index) -> const N& {
                         return values[static_cast<std::size_t>(base + index * inner + i)];
                       };
                       if (rules.mode == "nearest") {
                         to = at(parts[0].index);
                         continue;
                       }
                       Sum<N> sum;
                       for (const auto& part : parts) sum.add_product(part.weight, at(part.index));
                       to = sum.result();
                     }
                   }
                 });
    values = std::move(next);
    shape[d] = axis.output;
  }
  if (rules.coordinates == "tf_crop_and_resize") {
    const N fill = number<N>(call.attrs().number("extrapolation", 0));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Shape position = host::position_of(static_cast<std::int64_t>(i), shape);
      for (std::size_t d = 0; d < shape.size(); ++d) {
        if (outside[d][static_cast<std::size_t>(position[d])]) values[i] = fill;
      }
    }
  }
  for (std::int64_t i = 0; i < y.count(); ++i) y.set(i, values[static_cast<std::size_t>(i)]);
  OracleValue result = y.finish();
  const DataType dtype = call.input(0).dtype();
  if (is_float(dtype)) return {std::move(result)};
  return {exact_output(call, 0, host::cast(result.value, dtype, true))};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_resize{run};

}  // namespace concord::reference
