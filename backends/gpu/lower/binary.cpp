#include "backends/gpu/kernels/binary.h"

#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

bool divides(graph::BinaryFn fn) {
  return fn == graph::BinaryFn::div || fn == graph::BinaryFn::mod || fn == graph::BinaryFn::fmod;
}

bool has_zero(const Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    if (tensor.at_int(i) == 0) return true;
  }
  return false;
}

// Integers have no infinity to give.
void check_divisor(NodeLowering& node, const Operand& b) {
  if (b.count() == 0 || (node.is_constant(1) && !has_zero(node.constant(1)))) return;
  const auto n = static_cast<std::int32_t>(b.count());
  node.dispatch(node.kernel<kernels::BinaryDivisorParams>("binary_divisor_i32"), flat_groups(n),
                kernels::BinaryDivisorParams{node.read(b), node.fault(), n});
}

}  // namespace

const Lowering gpu_binary{
    [](const Query& query) {
      return why_no_binary(query, *graph::parse_binary(query.node.attrs.text("fn")), query.in(0));
    },
    [](NodeLowering& node) {
      const graph::BinaryFn fn = *graph::parse_binary(node.attrs().text("fn"));
      const Operand a = node.in(0);
      // pow's exponent may have a type of its own.
      const Operand b = emit_cast(node, node.in(1), a.dtype);
      const Operand y = node.out();
      if (divides(fn) && b.dtype == DataType::i32) check_divisor(node, b);
      emit_binary(node, fn, a, b, y);
      node.add_flops(static_cast<double>(y.count()));
    }};

}  // namespace concord::gpu
