#include "backends/cpu/kernels/grid_sample.h"

#include "backends/cpu/ops/common.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  for (std::size_t i = 0; i < 2; ++i) {
    const DataType dtype = input_dtype(graph, node, i);
    if (!is_kernel_float(dtype) && dtype != DataType::f64) return type_reason(dtype);
  }
  const auto& shape = graph.value(node.input(0)).shape;
  if (shape && shape->size() > kMaxSampleAxes + 2) return "a tensor of more than eight axes";
  return std::nullopt;
}

template <typename T, typename G>
void plan(Planner& p, const graph::Attributes& attrs) {
  GridSampleArgs<T, G> args;
  const std::string& mode = attrs.text("mode");
  args.mode = mode == "nearest"  ? SampleMode::nearest
              : mode == "linear" ? SampleMode::linear
                                 : SampleMode::cubic;
  const std::string& padding = attrs.text("padding");
  args.padding = padding == "zeros"    ? SamplePadding::zeros
                 : padding == "border" ? SamplePadding::border
                                       : SamplePadding::reflection;
  args.align_corners = attrs.integer("align_corners") != 0;
  args.pixels = attrs.integer("pixels") != 0;
  const Dims shape = p.shape(0);
  const Dims grid = p.shape(1);
  args.batch = shape[0];
  args.channels = shape[1];
  args.axes = shape.rank() - 2;
  if (grid.rank() != shape.rank() || grid[0] != shape[0] || grid.back() != args.axes) {
    throw Error(ErrorKind::invalid,
                "a grid of " + grid.text() + " does not fit a tensor of " + shape.text());
  }
  for (int d = 0; d < args.axes; ++d) args.extents[d] = shape[d + 2];
  args.places = grid.product(1, grid.rank() - 1);
  const std::int64_t results = p.out_shape().count();
  if (shape.product(2, shape.rank()) == 0 && results > 0) {
    throw Error(ErrorKind::invalid, "there is nothing to sample in a tensor of " + shape.text());
  }
  const Ref x = std::is_same_v<T, float> ? p.in_f32(0) : p.in(0);
  const Ref at = std::is_same_v<G, float> ? p.in_f32(1) : p.in(1);
  const Ref y = std::is_same_v<T, float> ? p.out_f32() : p.out();
  double taps = 1;
  for (int d = 0; d < args.axes; ++d) {
    taps *= args.mode == SampleMode::nearest ? 1 : args.mode == SampleMode::linear ? 2 : 4;
  }
  if (results == 0) return;
  p.emit("grid_sample", static_cast<double>(results) * taps * 2, [=](const Frame& f) {
    GridSampleArgs<T, G> now = args;
    now.x = f.at<const T>(x);
    now.grid = f.at<const G>(at);
    now.y = f.at<T>(y);
    grid_sample(now);
  });
}

PlanFn prepare(Compiler& c) {
  return [attrs = c.attrs()](Planner& p) {
    const bool wide = p.dtype(0) == DataType::f64;
    const bool wide_grid = p.dtype(1) == DataType::f64;
    if (wide) {
      return wide_grid ? plan<double, double>(p, attrs) : plan<double, float>(p, attrs);
    }
    return wide_grid ? plan<float, double>(p, attrs) : plan<float, float>(p, attrs);
  };
}

}  // namespace

const Lowering cpu_grid_sample{.why_unsupported = why_unsupported, .prepare = prepare};

}  // namespace concord::cpu
