#include "backends/gpu/lower/narrow.h"

#include <cmath>

#include "backends/gpu/kernels/narrow.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

// Flags of narrow.slang.
constexpr std::int32_t kSaturates = 1;
constexpr std::int32_t kHasInfinity = 2;
constexpr std::int32_t kHasNoNan = 4;
constexpr std::int32_t kHasNoNegativeZero = 8;

struct FloatForm {
  std::int32_t mantissa;  // bits
  std::int32_t min_exponent;
  float limit;  // the largest finite number
  std::int32_t flags;
};

FloatForm form_of(DataType dtype) {
  switch (dtype) {
    case DataType::f16:
      return {10, -14, 65504.0F, kHasInfinity};
    case DataType::f8e4m3fn:
      return {3, -6, 448.0F, 0};
    case DataType::f8e4m3fnuz:
      return {3, -7, 240.0F, kHasNoNegativeZero};
    case DataType::f8e5m2:
      return {2, -14, 57344.0F, kHasInfinity};
    case DataType::f8e5m2fnuz:
      return {2, -15, 57344.0F, kHasNoNegativeZero};
    default:  // f4e2m1
      return {1, 0, 6.0F, kHasNoNan | kSaturates};
  }
}

void narrow_float(NodeLowering& node, const Operand& x, const Operand& y, DataType dtype,
                  Overflow overflow) {
  const std::int32_t n = to_i32(y.count());
  // Types of 16 bits have infinity for that.
  const bool saturate = overflow == Overflow::saturate && bits(dtype) < 16;
  if (dtype == DataType::bf16) {
    node.dispatch(kernels::narrow_bfloat_f32, flat_groups(n), {node.read(x), node.write(y), n});
  } else if (dtype == DataType::f8e8m0) {
    node.dispatch(kernels::narrow_e8m0_f32, flat_groups(n),
                  {node.read(x), node.write(y), n, saturate ? 1 : 0});
  } else {
    const FloatForm form = form_of(dtype);
    node.dispatch(kernels::narrow_float_f32, flat_groups(n),
                  {node.read(x), node.write(y), n, form.mantissa, form.min_exponent, form.limit,
                   form.flags | (saturate ? kSaturates : 0)});
  }
}

void narrow_integer(NodeLowering& node, const Operand& x, const Operand& y, DataType dtype,
                    Overflow overflow) {
  const std::int32_t n = to_i32(y.count());
  const std::int32_t width = bits(dtype);
  const bool is_signed = is_signed_integer(dtype);
  if (overflow == Overflow::wrap) {
    node.dispatch(kernels::narrow_wrap_i32, flat_groups(n),
                  {node.read(x), node.write(y), n, width, is_signed ? 1 : 0});
    return;
  }
  const std::int32_t lowest = is_signed ? -(1 << (width - 1)) : 0;
  const std::int32_t highest = (1 << (is_signed ? width - 1 : width)) - 1;
  node.dispatch(kernels::narrow_clamp_i32, flat_groups(n),
                {node.read(x), node.write(y), n, lowest, highest});
}

}  // namespace

bool lies_wider(DataType dtype, DataType storage) {
  if (is_integer(dtype)) return bits(dtype) < 32;
  return is_float(dtype) && dtype != storage && bits(dtype) < 32;
}

void emit_narrow(NodeLowering& node, const Operand& x, const Operand& y, DataType dtype,
                 Overflow overflow) {
  if (y.count() == 0) return;
  if (is_integer(dtype)) return narrow_integer(node, x, y, dtype, overflow);
  narrow_float(node, x, y, dtype, overflow);
}

}  // namespace concord::gpu
