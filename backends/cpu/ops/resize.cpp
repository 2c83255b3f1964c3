#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/kernels/pool.h"
#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/image_plan.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  const DataType dtype = input_dtype(graph, node, 0);
  const bool moved = node.attrs.text("mode") == "nearest" && bits(dtype) == 32;
  if (!is_kernel_float(dtype) && !moved) return type_reason(dtype);
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.has_input(i) && !graph.value(node.input(i)).constant) {
      return "scales or sizes that only the run knows";
    }
  }
  return std::nullopt;
}

// What an output element of one axis is made of.
struct Table {
  int taps = 1;
  std::vector<std::int32_t> index;  // [out, taps]
  std::vector<float> weight;        // [out, taps]
};

struct Axis {
  std::int64_t in, out;
  double scale, roi_begin, roi_end;
};

double source_coordinate(const std::string& coordinates, const Axis& a, std::int64_t o) {
  const auto out = static_cast<double>(o);
  if (coordinates == "asymmetric") return out / a.scale;
  if (coordinates == "align_corners") {
    // The resized length before it is cut to whole elements.
    const double length = a.scale * static_cast<double>(a.in);
    return length == 1 ? 0.0 : out * static_cast<double>(a.in - 1) / (length - 1);
  }
  if (coordinates == "tf_crop_and_resize") {
    const auto last = static_cast<double>(a.in - 1);
    if (a.out == 1) return 0.5 * (a.roi_begin + a.roi_end) * last;
    return a.roi_begin * last +
           out * (a.roi_end - a.roi_begin) * last / static_cast<double>(a.out - 1);
  }
  if (coordinates == "pytorch_half_pixel" && a.out == 1) return 0.0;
  double x = (out + 0.5) / a.scale - 0.5;
  if (coordinates == "half_pixel_symmetric") {
    const auto in = static_cast<double>(a.in);
    x += in / 2 * (1 - static_cast<double>(a.out) / (a.scale * in));
  }
  return x;
}

double nearest_index(const std::string& mode, double x) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  // Halves go down, or up.
  return mode == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

Table make_table(const graph::Attributes& attrs, const Axis& axis) {
  const std::string& mode = attrs.text("mode");
  const std::string& coordinates = attrs.text("coordinates");
  const std::string nearest = attrs.text("nearest", "round_prefer_floor");
  const double cubic_a = attrs.number("cubic_a", -0.75);
  const bool exclude_outside = attrs.integer("exclude_outside", 0) != 0;
  const bool is_cubic = mode == "cubic";
  // An antialiasing filter is as much wider as the image gets smaller.
  const double stretch = attrs.integer("antialias", 0) != 0 ? std::min(axis.scale, 1.0) : 1.0;
  const int reach = is_cubic ? 2 : 1;
  const int first = static_cast<int>(std::floor(-reach / stretch)) + 1;
  Table table;
  table.taps = mode == "nearest" ? 1 : 2 - 2 * first;
  std::vector<double> weights(static_cast<std::size_t>(table.taps));
  for (std::int64_t o = 0; o < axis.out; ++o) {
    const double x = source_coordinate(coordinates, axis, o);
    const bool outside =
        coordinates == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(axis.in - 1));
    if (mode == "nearest") {
      const double at =
          std::clamp(nearest_index(nearest, x), 0.0, static_cast<double>(axis.in - 1));
      table.index.push_back(outside ? -1 : static_cast<std::int32_t>(at));
      table.weight.push_back(1);
      continue;
    }
    const double base = std::floor(x);
    double sum = 0;
    for (int t = 0; t < table.taps; ++t) {
      const double at = base + first + t;
      const double distance = (first + t - (x - base)) * stretch;
      double w = is_cubic ? cubic(distance, cubic_a) : std::max(0.0, 1 - std::abs(distance));
      if (exclude_outside && (at < 0 || at >= static_cast<double>(axis.in))) w = 0;
      weights[static_cast<std::size_t>(t)] = w;
      sum += w;
      const double clamped = std::clamp(at, 0.0, static_cast<double>(axis.in - 1));
      table.index.push_back(outside ? -1 : static_cast<std::int32_t>(clamped));
    }
    for (double w : weights) table.weight.push_back(static_cast<float>(w / sum));
  }
  return table;
}

// Axes are resampled one after the other, those that shrink first.
void plan(Planner& p, const graph::Node& node, const std::vector<Tensor>& operands) {
  const Dims shape = p.shape(0);
  const graph::ResizeGeometry g = graph::resize_geometry(node, shape, operands, p.bindings());
  const bool crop = node.attrs.text("coordinates") == "tf_crop_and_resize";
  View x = p.view_f32(0);
  const bool last = shape.rank() > 2 && !x.dense() && is_channels_last(x) &&
                    x.strides == channels_last_strides(shape) && g.output[1] == shape[1];
  if (!last) {
    x.at = p.in_f32(0);
  }
  const ImageResult y =
      last ? start_channels_last(p)
           : ImageResult{p.dtype(0) == DataType::f32 || is_half(p.dtype(0)) ? p.out_f32() : p.out(),
                         {},
                         p.out_shape()};
  std::vector<int> order;  // of the axes in memory
  for (int i = 0; i < shape.rank(); ++i) {
    if (!last || i != 1) order.push_back(i);
  }
  if (last) order.push_back(1);
  std::vector<int> resized;
  for (int i = 0; i < shape.rank(); ++i) {
    const auto a = static_cast<std::size_t>(i);
    if (g.output[a] != shape[i] || g.scales[a] != 1.0 || (crop && g.roi_begin[a] != 0) ||
        (crop && g.roi_end[a] != 1)) {
      resized.push_back(i);
    }
  }
  const auto growth = [&](int axis) {
    return static_cast<double>(g.output[static_cast<std::size_t>(axis)]) /
           static_cast<double>(std::max<std::int64_t>(1, shape[axis]));
  };
  std::stable_sort(resized.begin(), resized.end(),
                   [&](int a, int b) { return growth(a) < growth(b); });
  Dims extents = shape;
  Ref from = x.at;
  p.kernel("resize");
  if (node.attrs.text("mode") == "nearest") {
    std::vector<Table> tables(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const int axis = order[i];
      const auto a = static_cast<std::size_t>(axis);
      if (std::find(resized.begin(), resized.end(), axis) == resized.end()) continue;
      tables[i] = make_table(node.attrs,
                             {shape[axis], g.output[a], g.scales[a], g.roi_begin[a], g.roi_end[a]});
    }
    std::vector<NearestAxis> axes(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      axes[i].in = shape[order[i]];
      axes[i].out = g.output[static_cast<std::size_t>(order[i])];
      axes[i].index = tables[i].index.empty() ? nullptr : tables[i].index.data();
    }
    // Moving the tables keeps their elements where they are.
    p.emit([tables = std::move(tables), axes, from, to = y.at,
            outside = static_cast<float>(node.attrs.number("extrapolation", 0.0))](const Frame& f) {
      resample_nearest(axes, f.at<const float>(from), f.at<float>(to), outside);
    });
    finish_channels_last(p, y);
    return;
  }
  for (std::size_t i = 0; i < resized.size(); ++i) {
    const int axis = resized[i];
    const auto a = static_cast<std::size_t>(axis);
    const Axis what{shape[axis], g.output[a], g.scales[a], g.roi_begin[a], g.roi_end[a]};
    const auto place = std::find(order.begin(), order.end(), axis);
    std::int64_t outer = 1, inner = 1;
    for (auto at = order.begin(); at != place; ++at) outer *= extents[*at];
    for (auto at = place + 1; at != order.end(); ++at) inner *= extents[*at];
    extents[axis] = what.out;
    const Ref to = i + 1 == resized.size() ? y.at : p.scratch(extents.count() * 4);
    p.emit([table = make_table(node.attrs, what), what, outer, inner, from, to,
            outside = static_cast<float>(node.attrs.number("extrapolation", 0.0))](const Frame& f) {
      ResampleAxis r{what.in, what.out, table.taps, table.index.data(), table.weight.data(),
                     outside};
      resample(r, outer, inner, f.at<const float>(from), f.at<float>(to));
    });
    from = to;
  }
  if (resized.empty()) {
    p.emit([from, to = y.at, bytes = static_cast<std::size_t>(shape.count()) * 4](const Frame& f) {
      copy_bytes(bytes, f.at(from), f.at(to));
    });
  }
  finish_channels_last(p, y);
}

PlanFn prepare(Compiler& c) {
  std::vector<Tensor> operands(c.node().inputs.size());
  for (std::size_t i = 1; i < operands.size(); ++i) {
    if (const Tensor* constant = c.constant(static_cast<int>(i))) operands[i] = *constant;
  }
  return [node = &c.node(), graph = c.shared_graph(), operands](Planner& p) {
    plan(p, *node, operands);
  };
}

}  // namespace

const Lowering cpu_resize{.why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = 1};

}  // namespace concord::cpu
