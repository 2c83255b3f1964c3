// One pass per resized axis: nearest takes elements, the other modes blend them.

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/gpu/kernels/gather.h"
#include "backends/gpu/kernels/resample.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/resize_axis.h"
#include "backends/gpu/lower/strides.h"
#include "graph/geometry.h"

namespace concord::gpu {
namespace {

bool crops(const graph::Attributes& attrs) {
  return attrs.text("coordinates") == "tf_crop_and_resize";
}

// Elements that are only taken keep their type; blending is in f32.
bool only_takes(const graph::Attributes& attrs) {
  return attrs.text("mode") == "nearest" && !crops(attrs);
}

std::optional<std::string> why(const Query& query) {
  const bool has_region = crops(query.node.attrs) && query.node.has_input(1);
  if (has_region && !query.graph.value(query.node.input(1)).is_constant()) {
    return "a region that only the run knows";
  }
  if (query.in(0) == DataType::undefined) return std::nullopt;
  if (only_takes(query.node.attrs)) {
    return query.need_kernel(std::string("gather_") + move_suffix(query.in(0)));
  }
  if (!is_float(query.in_dtype(0)) && bits(query.in_dtype(0)) > 16) {
    return "blending integers of more than 16 bits";
  }
  if (query.in(0) == DataType::f64) return "blending float64";
  return query.need_kernel("resample_f32");
}

Tensor indices_of(const ResizeTable& table) {
  return Tensor::of<std::int32_t>({static_cast<std::int64_t>(table.indices.size())}, table.indices);
}

struct Pass {
  std::size_t axis = 0;
  ResizeAxis extents;
};

void emit_pass(NodeLowering& node, const Pass& pass, const Operand& x, const Operand& y) {
  const ResizeTable table = resize_table(node.attrs(), pass.extents);
  const Operand indices = node.plan_constant(indices_of(table));
  const std::int32_t length = to_i32(pass.extents.input);
  const std::int32_t out_length = to_i32(pass.extents.output);
  const std::int32_t inner = to_i32(element_count(std::span(x.shape).subspan(pass.axis + 1)));
  const std::int32_t n = to_i32(y.count());
  if (only_takes(node.attrs())) {
    node.dispatch(node.kernel<kernels::GatherParams>(std::string("gather_") + move_suffix(x.dtype)),
                  flat_groups(n),
                  kernels::GatherParams{node.read(x), node.read(indices), node.write(y),
                                        DevicePtr{}, n, length, out_length, inner});
    return;
  }
  const Operand weights = node.plan_constant(
      Tensor::of<float>({static_cast<std::int64_t>(table.weights.size())}, table.weights));
  kernels::ResampleParams params{node.read(x), node.read(indices), node.read(weights),
                                 node.write(y)};
  params.n = n;
  params.length = length;
  params.out_length = out_length;
  params.inner = inner;
  params.taps = to_i32(table.taps);
  params.fill = static_cast<float>(node.attrs().number("extrapolation", 0.0));
  node.dispatch(kernels::resample_f32, flat_groups(n), params);
  node.add_flops(2.0 * static_cast<double>(y.count()) * static_cast<double>(table.taps));
}

std::vector<Pass> passes_of(NodeLowering& node, const Shape& shape) {
  std::vector<Tensor> operands(node.node().inputs.size());
  for (std::size_t i = 1; i < operands.size(); ++i) {
    if (node.is_constant(i)) operands[i] = node.constant(i);
  }
  const graph::ResizeGeometry g =
      graph::resize_geometry(node.node(), shape, operands, node.bindings());
  std::vector<Pass> passes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool same = shape[i] == g.output[i] && g.scales[i] == 1;
    const bool whole = !crops(node.attrs()) || (g.roi_begin[i] == 0 && g.roi_end[i] == 1);
    if (same && whole) continue;
    passes.push_back({i, {shape[i], g.output[i], g.scales[i], g.roi_begin[i], g.roi_end[i]}});
  }
  // Those that shrink come first.
  std::ranges::stable_sort(passes, {}, [](const Pass& pass) { return pass.extents.scale; });
  return passes;
}

void lower(NodeLowering& node) {
  const std::vector<Pass> passes = passes_of(node, node.in_shape(0));
  if (passes.empty()) return node.alias(0, node.in(0));
  const Operand out = node.out();
  if (out.count() == 0) return;
  Operand x = node.in(0);
  if (!only_takes(node.attrs())) x = emit_cast(node, x, DataType::f32);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    Shape shape = x.shape;
    shape[passes[i].axis] = passes[i].extents.output;
    const bool last = i + 1 == passes.size() && x.dtype == out.dtype;
    const Operand y = last ? out : node.temporary(x.dtype, shape);
    emit_pass(node, passes[i], x, y);
    x = y;
  }
  if (x.dtype != out.dtype) emit_cast(node, x, out, false);
}

}  // namespace

const Lowering gpu_resize{why, lower};

}  // namespace concord::gpu
