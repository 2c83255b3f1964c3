// Elementwise operators for integer, boolean and f64 elements, with broadcasting. Integer
// arithmetic wraps around; division by zero gives 0 (all ones modulo nothing is defined by ONNX).
#pragma once

#include <cstdint>
#include <span>

#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/number.h"

namespace concord::cpu {

enum class BitOp : std::uint8_t { bit_and, bit_or, bit_xor, shift_left, shift_right };

// Operand in memory with strides in elements per axis of the output's shape, 0 where broadcast.
struct StridedOperand {
  const void* data;
  const std::int64_t* stride;
};

// True if the operator is defined for the type here: arithmetic, comparisons (out is boolean), min,
// max, abs, neg, sign, relu, clamp by min and max; for f64 also the transcendental ones; for
// boolean the logical ones and equality.
bool supports_exact(ElementOp op, Element type);

// out dense row-major over shape; type is the operands'. Unary operators ignore b.
void elementwise_exact(ElementOp op, Element type, std::span<const std::int64_t> shape,
                       StridedOperand a, StridedOperand b, void* out, double p0 = 0, double p1 = 0);
void bitwise(BitOp op, Element type, std::span<const std::int64_t> shape, StridedOperand a,
             StridedOperand b, void* out);
void bitwise_not(Element type, std::int64_t n, const void* x, void* out);

// out = condition ? a : b for elements of 1, 2, 4, 8 or 16 bytes.
void select(std::size_t element_bytes, std::span<const std::int64_t> shape,
            StridedOperand condition, StridedOperand a, StridedOperand b, void* out);

}  // namespace concord::cpu
