#include "backends/gpu/kernels/binary.h"

#include <cmath>

#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

using graph::BinaryFn;

bool divides(BinaryFn fn) {
  return fn == BinaryFn::div || fn == BinaryFn::mod || fn == BinaryFn::fmod;
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

BinaryFn function_of(const graph::Attributes& attrs) {
  return *graph::parse_binary(attrs.text("fn"));
}

// A power of integers is one only with whole exponents.
bool has_fractions(const Query& query) {
  const graph::Value& exponent = query.graph.value(query.node.input(1));
  if (is_float(query.in_dtype(0)) || !is_float(exponent.dtype)) return false;
  if (!exponent.is_constant()) return true;
  const Tensor& values = *exponent.constant;
  for (std::int64_t i = 0; i < values.count(); ++i) {
    if (values.at_double(i) != std::trunc(values.at_double(i))) return true;
  }
  return false;
}

std::optional<std::string> why(const Query& query) {
  const BinaryFn fn = function_of(query.node.attrs);
  if (query.in(0) == DataType::undefined || query.in(1) == DataType::undefined) return std::nullopt;
  if (fn == BinaryFn::pow && has_fractions(query)) {
    return "integers to a power that may be no whole number";
  }
  if (auto reason = why_no_cast(query, query.in(1), query.in(0))) return reason;
  return why_no_binary(query, fn, query.in(0));
}

void lower(NodeLowering& node) {
  const Operand a = node.in(0);
  // pow's exponent may have a type of its own.
  const Operand b = emit_cast(node, node.in(1), a.dtype);
  const Operand y = node.out();
  const BinaryFn fn = function_of(node.attrs());
  if (divides(fn) && (b.dtype == DataType::i32 || b.dtype == DataType::u32)) check_divisor(node, b);
  emit_binary(node, fn, a, b, y);
  node.add_flops(static_cast<double>(y.count()));
}

}  // namespace

const Lowering gpu_binary{why, lower};

}  // namespace concord::gpu
