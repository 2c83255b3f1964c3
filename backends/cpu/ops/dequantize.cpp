#include "backends/cpu/ops/common.h"
#include "backends/cpu/ops/quantise_plan.h"

namespace concord::cpu {
namespace {

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  if (!is_quantised(input_dtype(graph, node, 0))) return type_reason(input_dtype(graph, node, 0));
  if (!is_kernel_float(output_dtype(graph, node))) return type_reason(output_dtype(graph, node));
  return why_not_float(graph, node, {1});
}

// Weights: the program keeps them as floats.
std::optional<Tensor> fold(Compiler& c, std::int64_t axis, std::int64_t block) {
  const Tensor* x = c.constant(0);
  const Tensor* scale = c.constant(1);
  if (x == nullptr || scale == nullptr || c.out_value().dtype != DataType::f32) return std::nullopt;
  if (c.has(2) && c.constant(2) == nullptr) return std::nullopt;
  Tensor y(DataType::f32, x->shape());
  Dequantise args;
  args.from = x->dtype();
  args.layout = scale_layout(x->shape(), scale->count(), axis, block);
  args.x = x->data();
  args.scale = c.constant_f32(*scale);
  args.zero = c.has(2) ? c.constant(2)->data() : nullptr;
  dequantise(args, y.as_mutable<float>().data());
  x->release_pages();
  return y;
}

PlanFn prepare(Compiler& c) {
  const std::int64_t axis = c.attrs().integer("axis");
  const std::int64_t block = c.attrs().integer("block_size", 0);
  if (auto folded = fold(c, axis, block)) return c.define_constant(std::move(*folded));
  return [axis, block](Planner& p) {
    Dequantise args;
    const Dims shape = p.shape(0);
    args.from = p.dtype(0);
    args.layout = scale_layout(shape, p.shape(1).count(), axis, block);
    const Ref scale = p.in_f32(1);
    const Ref zero = p.in(2);
    const bool whole = args.layout.single && element_bytes(args.from) != 0;
    const auto [x, y] = whole ? plan_same_layout(p) : SameLayout{p.in(0), p.out_f32()};
    p.emit("dequantize", 2.0 * static_cast<double>(shape.count()),
           [args, x = x, y = y, scale, zero](const Frame& f) {
             Dequantise now = args;
             now.x = f.at(x);
             now.scale = f.at<const float>(scale);
             now.zero = f.at(zero);
             dequantise(now, f.at<float>(y));
           });
  };
}

}  // namespace

const Lowering cpu_dequantize{
    .why_unsupported = why_unsupported, .prepare = prepare, .view_inputs = 1};

}  // namespace concord::cpu
