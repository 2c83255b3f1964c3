#include "backends/gpu/kernels/quantize.h"

#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/narrow.h"
#include "backends/gpu/lower/quantization.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.out_dtype() == DataType::i32) return "integers of more than 16 bits";
  return why_no_scales(query, query.out_dtype());
}

void lower(NodeLowering& node) {
  const Operand x = emit_cast(node, node.in(0), DataType::f32);
  const Operand scale = emit_cast(node, node.in(1), DataType::f32);
  const Operand y = node.out();
  const DataType to = node.out_dtype();
  if (y.count() == 0) return;
  if (is_float(to)) {  // their zero point is 0
    const Operand quotient = node.temporary(DataType::f32, y.shape);
    emit_binary(node, graph::BinaryFn::div, x, widened_scale(node, scale), quotient);
    const bool saturate = node.attrs().integer("saturate", 1) != 0;
    return emit_narrow(node, quotient, y, to, saturate ? Overflow::saturate : Overflow::wrap);
  }
  const std::int32_t width = bits(to);
  const bool is_signed = is_signed_integer(to);
  const ScalePlace place = scale_place(node);
  kernels::QuantizeParams params{node.read(x), node.read(scale)};
  if (node.has(2)) params.zeros = node.read(node.in(2));
  params.y = node.write(y);
  params.n = to_i32(y.count());
  params.axis_extent = place.axis_extent;
  params.inner = place.inner;
  params.block = place.block;
  params.blocks = place.blocks;
  params.lowest = is_signed ? -(1 << (width - 1)) : 0;
  params.highest = (1 << (is_signed ? width - 1 : width)) - 1;
  node.dispatch(kernels::quantize_f32, flat_groups(y.count()), params);
  node.add_flops(3.0 * static_cast<double>(y.count()));
}

}  // namespace

const Lowering gpu_quantize{why, lower};

}  // namespace concord::gpu
