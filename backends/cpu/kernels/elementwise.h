// Elementwise chains: a small program over f32 registers, run over tiles that stay in L1, in one
// pass over memory. A single operator is a chain of one step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/cpu/kernels/number.h"

namespace concord::cpu {

enum class ElementOp : std::uint8_t {
  // one operand
  copy,
  neg,
  abs,
  sign,
  ceil,
  floor,
  round,  // round: ties to even
  reciprocal,
  sqrt,
  rsqrt,
  square,
  exp,
  expm1,
  log,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh,
  tanh,
  erf,
  sigmoid,
  relu,
  gelu_erf,
  gelu_tanh,
  quick_gelu,
  silu,
  mish,
  softplus,
  softsign,
  hard_swish,
  leaky_relu,        // p0 = slope
  elu,               // p0 = alpha
  selu,              // p0 = alpha, p1 = gamma
  celu,              // p0 = alpha
  hard_sigmoid,      // max(0, min(1, p0 x + p1))
  thresholded_relu,  // p0 = alpha: x > alpha ? x : 0
  shrink,            // p0 = lambda, p1 = bias
  affine,            // p0 x + p1, rounded once
  clamp,             // min(max(x, p0), p1); NaN stays
  grid8,             // p0 min(max(round(x (1 / p0)), p1), p1 + 255): the values of 8 bits
  grid16,            // as grid8 with p1 + 65535: those of 16 bits
  logical_not,
  is_nan,
  is_inf,  // p0 != 0: counts -inf, p1 != 0: counts +inf
  // two operands
  add,
  sub,
  mul,
  div,
  min,
  max,  // min, max: NaN if either is
  pow,
  fmod,       // sign of the dividend
  floor_mod,  // sign of the divisor
  prelu,      // a < 0 ? b a : a
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,  // 1 or 0
  logical_and,
  logical_or,
  logical_xor,
  // three operands
  select,  // a != 0 ? b : c
  fma,     // a b + c, rounded once
};

// Operand numbers: input i is i; the result of step j is inputs + j.
struct ElementStep {
  ElementOp op = ElementOp::copy;
  std::uint8_t a = 0, b = 0, c = 0;
  float p0 = 0.0f, p1 = 0.0f;
};

// Types: an input or output of f32, f16, bf16 (converted when read and written), boolean (1 and 0),
// or an integer up to 32 bits or i64 as an input (rounded to f32; exact up to 2^24). Outputs may
// also be i32 and u8 (truncated towards zero, saturated; NaN gives 0).
class ElementProgram {
 public:
  static constexpr int max_operands = 64;  // inputs and steps
  static constexpr int max_outputs = 4;
  static constexpr int max_rank = 8;

  struct Quantisation {
    float scale = 1;
    std::int32_t zero = 0;
  };

  // outputs: the operand that each output stores. `quantisation` is that of all outputs of bytes.
  // Throws std::invalid_argument on an operand that is not defined before its use, or too many of
  // anything.
  ElementProgram(std::vector<Element> inputs, std::vector<ElementStep> steps,
                 std::vector<int> outputs, std::vector<Element> output_types,
                 std::optional<Quantisation> quantisation = std::nullopt);

  std::span<const ElementStep> steps() const { return steps_; }

  struct Input {
    const void* data;
    std::int64_t stride[max_rank];  // in elements, 0 where it is broadcast
  };
  // Outputs are dense row-major over shape. An output may be an input's own memory if that input
  // is dense and of the same element size.
  void run(std::span<const std::int64_t> shape, std::span<const Input> inputs,
           std::span<void* const> outputs) const;

 private:
  friend struct ElementAccess;
  std::vector<Element> input_types_, output_types_;
  std::vector<ElementStep> steps_;
  std::vector<int> outputs_;
  std::optional<Quantisation> quantisation_;
  std::vector<std::uint8_t> slot_;  // of each operand: which tile register holds it
  int slots_ = 0;
  double cost_ = 0;  // rough nanoseconds per element on one core
};

// Dense one-operand and two-operand shorthand, f32.
void unary(ElementOp op, std::int64_t n, const float* x, float* out, float p0 = 0, float p1 = 0);
void binary(ElementOp op, std::int64_t n, const float* a, const float* b, float* out);

// Strides in elements for broadcasting shape [..] against the output's shape, aligned at the last
// axis: 0 where the operand's dimension is 1 or missing. Returns rank(out) numbers in stride.
void broadcast_strides(std::span<const std::int64_t> operand, std::span<const std::int64_t> out,
                       std::int64_t* stride);

}  // namespace concord::cpu
