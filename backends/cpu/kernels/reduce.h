// Reductions, arg-reductions and running sums.
#pragma once

#include <cstdint>
#include <span>

#include "backends/cpu/kernels/number.h"

namespace concord::cpu {

enum class ReduceOp : std::uint8_t {
  sum,
  mean,
  max,
  min,
  prod,
  l1,
  l2,
  sum_square,
  log_sum,
  log_sum_exp  // with the maximum subtracted
};

// Reduces the axes that are set in the mask (bit i: axis i) of a dense row-major tensor; out is
// dense over the remaining axes in their order. An empty reduction gives the operator's identity
// (0, 1, ∓inf; mean NaN). max and min give NaN if any element is one.
// f32, f16, bf16 (sums in f32, blocked), f64, i32, i64, u8, i8 and boolean (max, min) where the
// operator makes sense; supports_reduce tells.
void reduce(ReduceOp op, Element type, std::span<const std::int64_t> shape, std::uint32_t axes,
            const void* x, void* out);
bool supports_reduce(ReduceOp op, Element type);

// x [outer, n, inner] → index [outer, inner] of the largest (smallest) along the middle axis; the
// first of equals, or the last. A NaN counts as larger than everything (smaller, for the smallest).
struct ArgReduceArgs {
  Element type = Element::f32;  // f32, f16, bf16, f64, i8, u8, i32, i64
  std::int64_t outer = 0, n = 0, inner = 0;
  const void* x = nullptr;
  std::int64_t* out = nullptr;
  bool smallest = false;
  bool last = false;
};
void arg_reduce(const ArgReduceArgs& args);

// Running sum or product along the middle axis of x [outer, n, inner]; f32, f64, i32 or i64.
enum class CumulativeOp : std::uint8_t { sum, prod };
void cumulative(CumulativeOp op, Element type, std::int64_t outer, std::int64_t n,
                std::int64_t inner, const void* x, void* out, bool exclusive, bool reverse);

}  // namespace concord::cpu
