#include "backends/cpu/kernels/pool.h"

#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/image_plan.h"

namespace concord::cpu {
namespace {

bool is_exact_max(DataType dtype) {
  return dtype == DataType::f64 || dtype == DataType::i8 || dtype == DataType::u8;
}

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  const auto& x = graph.value(node.input(0)).shape;
  if (x && x->size() > 5) return "more than three spatial axes";
  if (node.attrs.text("fn") == "max" && is_exact_max(input_dtype(graph, node, 0))) {
    return std::nullopt;
  }
  return why_not_float(graph, node);
}

template <typename T>
void emit_indexed(Planner& p, const ConvExtents& e, Ref x, Ref y, Ref indices, bool column_major) {
  p.emit("max_pool indexed", static_cast<double>(e.batch * e.in_channels * e.out_pixels()),
         [=](const Frame& f) {
           max_pool_indexed(e, f.at<const T>(x), f.at<T>(y), f.at<std::int64_t>(indices),
                            column_major);
         });
}

void plan_indexed(Planner& p, const ConvExtents& e, bool column_major) {
  const Ref x = p.in_f32(0);
  const Ref indices = p.has_output(1) ? p.out(1) : Ref{};
  switch (p.dtype(0)) {
    case DataType::f64:
      return emit_indexed<double>(p, e, x, p.out(), indices, column_major);
    case DataType::i8:
      return emit_indexed<std::int8_t>(p, e, x, p.out(), indices, column_major);
    case DataType::u8:
      return emit_indexed<std::uint8_t>(p, e, x, p.out(), indices, column_major);
    default:
      return emit_indexed<float>(p, e, x, p.out_f32(), indices, column_major);
  }
}

PoolOp pool_op(const graph::Node& node) {
  const std::string fn = node.attrs.text("fn");
  return fn == "max" ? PoolOp::max : fn == "average" ? PoolOp::average : PoolOp::lp;
}

void plan(Planner& p, const graph::Node& node) {
  PoolArgs args;
  const Dims shape = p.shape(0);
  const graph::ConvGeometry geometry = graph::pool_geometry(node, shape);
  set_extents(geometry, args.extents);
  args.op = pool_op(node);
  if (p.has_output(1) || is_exact_max(p.dtype(0))) {
    plan_indexed(p, args.extents, node.attrs.integer("storage_order", 0) != 0);
    return;
  }
  const int axes = shape.rank() - 2;
  const View x = p.view_f32(0);
  args.batch_stride = x.strides[0];
  args.channel_stride = x.strides[1];
  for (int i = 0; i < axes; ++i) {
    args.spatial_stride[3 - axes + i] = x.strides[2 + i];
    args.pad_end[3 - axes + i] = geometry.window.pads_end[static_cast<std::size_t>(i)];
  }
  args.count_include_pad = node.attrs.integer("count_include_pad", 0) != 0;
  args.p = static_cast<double>(node.attrs.integer("p", 2));
  const bool last = is_channels_last(x);
  const ImageResult y = last ? start_channels_last(p) : ImageResult{p.out_f32(), {}, p.out_shape()};
  const double work = static_cast<double>(p.out_shape().count() * args.extents.taps());
  p.emit(std::string(node.attrs.text("fn")) + "_pool", work,
         [args, x = x.at, y = y.at](const Frame& f) {
           PoolArgs now = args;
           now.x = f.at<const float>(x);
           now.y = f.at<float>(y);
           pool(now);
         });
  finish_channels_last(p, y);
}

PlanFn prepare(Compiler& c) {
  return [node = &c.node(), graph = c.shared_graph()](Planner& p) { plan(p, *node); };
}

}  // namespace

const Lowering cpu_pool{.why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = 1};

}  // namespace concord::cpu
