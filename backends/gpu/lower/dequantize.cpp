#include "backends/gpu/kernels/quantize.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/quantization.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  if (query.out() == DataType::f64) return "scales of float64";
  return why_no_scales(query, query.in_dtype(0));
}

void lower(NodeLowering& node) {
  const Operand x = node.in(0);
  const Operand scale = emit_cast(node, node.in(1), DataType::f32);
  const Operand out = node.out();
  if (out.count() == 0) return;
  const Operand y = out.dtype == DataType::f32 ? out : node.temporary(DataType::f32, out.shape);
  if (is_float(x.dtype)) {  // their zero point is 0
    emit_binary(node, graph::BinaryFn::mul, x, widened_scale(node, scale), y);
  } else {
    const ScalePlace place = scale_place(node);
    kernels::QuantizeDequantizeParams params{node.read(x), node.read(scale)};
    if (node.has(2)) params.zeros = node.read(node.in(2));
    params.y = node.write(y);
    params.n = to_i32(y.count());
    params.axis_extent = place.axis_extent;
    params.inner = place.inner;
    params.block = place.block;
    params.blocks = place.blocks;
    node.dispatch(kernels::quantize_dequantize_i32, flat_groups(y.count()), params);
  }
  if (y.dtype != out.dtype) emit_cast(node, y, out, false);
  node.add_flops(2.0 * static_cast<double>(y.count()));
}

}  // namespace

const Lowering gpu_dequantize{why, lower};

}  // namespace concord::gpu
