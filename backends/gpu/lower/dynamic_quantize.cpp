#include "backends/gpu/kernels/quantize.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/reduce.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.in(0) == DataType::undefined) return std::nullopt;
  if (query.in(0) != DataType::f32) return "another type than float32";
  return why_no_reduce(query, "max", DataType::f32);
}

// From the least and the largest element, 0 included, to u8.
void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Operand y = node.has_out(0) ? node.out(0) : node.temporary(DataType::i32, x.shape);
  const Operand scale = node.has_out(1) ? node.out(1) : node.temporary(DataType::f32, {});
  const Operand zero = node.has_out(2) ? node.out(2) : node.temporary(DataType::i32, {});
  const Operand lowest = node.temporary(DataType::f32, {});
  const Operand highest = node.temporary(DataType::f32, {});
  emit_reduce(node, "min", x, {1, x.count(), 1}, lowest);
  emit_reduce(node, "max", x, {1, x.count(), 1}, highest);
  node.dispatch(kernels::quantize_range_f32, {1, 1, 1},
                {node.read(lowest), node.read(highest), node.write(scale), node.write(zero)});
  if (y.count() == 0) return;
  kernels::QuantizeParams params{node.read(x), node.read(scale), node.read(zero), node.write(y)};
  params.n = to_i32(y.count());
  params.axis_extent = 1;
  params.inner = params.n;
  params.blocks = 1;
  params.highest = 255;
  node.dispatch(kernels::quantize_f32, flat_groups(y.count()), params);
  node.add_flops(5.0 * static_cast<double>(y.count()));
}

}  // namespace

const Lowering gpu_dynamic_quantize{why, lower};

}  // namespace concord::gpu
