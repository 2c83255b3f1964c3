#pragma once

#include <optional>
#include <string>

#include "backends/cpu/planner.h"
#include "graph/graph.h"

namespace concord::cpu {

// How quantize and dequantize spread their scales over x: seen as [outer, axis, inner], with one
// scale for all, one for each index of the axis, or one for each block of the axis (and each
// outer and inner index).
struct ScaleLayout {
  std::int64_t outer = 1, axis = 1, inner = 1;
  std::int64_t block = 0;  // 0: one for each index; else indices that share one
  bool single = true;      // one for all

  std::int64_t index(std::int64_t o, std::int64_t a, std::int64_t i) const {
    if (single) return 0;
    if (block == 0) return a;
    return (o * ((axis + block - 1) / block) + a / block) * inner + i;
  }
};
ScaleLayout scale_layout(std::span<const std::int64_t> shape, std::int64_t scale_count,
                         std::int64_t axis, std::int64_t block);

// Input 0 and the output of an elementwise step with one scale for all: where the input lies
// densely in some order of its axes, the output lies so too. Else both are dense.
struct SameLayout {
  Ref x, y;
};
SameLayout plan_same_layout(Planner& p);

// Integers and 8-bit and smaller floats, as stored.
bool is_quantised(DataType dtype);
// Element i as a number, whatever its packing.
double quantised_at(DataType dtype, const std::byte* data, std::int64_t i);
// The nearest number of the type, ties to even, saturated; written to element i. Two elements that
// share a byte must be written by one thread.
void quantised_set(DataType dtype, std::byte* data, std::int64_t i, double value);

// y = (x − zero) · scale over dense memory.
struct Dequantise {
  DataType from = DataType::u8;
  ScaleLayout layout;
  const std::byte* x = nullptr;
  const float* scale = nullptr;
  const std::byte* zero = nullptr;  // of x's type, or null
};
void dequantise(const Dequantise& args, float* y);

}  // namespace concord::cpu
