// Walks operands with broadcasting in long runs, over threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {

// Calls f(out index, operand offsets..., count, operand steps...) for runs along the last axis,
// over threads.
template <std::size_t kOperands, typename Run>
void for_each_run(std::span<const std::int64_t> shape,
                  const std::array<const std::int64_t*, kOperands>& strides, double nanoseconds,
                  Run run) {
  std::int64_t total = 1;
  for (const std::int64_t extent : shape) total *= extent;
  if (total == 0) return;
  const std::size_t rank = shape.size();
  // The longest tail of axes over which every operand is dense or constant makes one run.
  std::int64_t length = 1;
  std::array<std::int64_t, kOperands> step{};
  std::size_t inner = rank;
  while (inner > 0) {
    const std::size_t axis = inner - 1;
    bool fits = true;
    for (std::size_t o = 0; o < kOperands; ++o) {
      const std::int64_t stride = strides[o][axis];
      if (shape[axis] == 1) continue;
      if (length == 1) {
        step[o] = stride;
      } else {
        fits = fits && stride == step[o] * length;
      }
    }
    if (!fits) break;
    length *= shape[axis];
    --inner;
  }
  const std::int64_t rows = total / length;
  // Long runs are cut so that they too go over threads.
  const std::int64_t piece = std::min<std::int64_t>(length, 4096);
  const std::int64_t pieces = (length + piece - 1) / piece;
  parallel_for(rows * pieces,
               static_cast<std::int64_t>(5000 / (nanoseconds * static_cast<double>(piece) + 2)) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t item = begin; item < end; ++item) {
                   const std::int64_t first = item % pieces * piece;
                   std::int64_t row = item / pieces;
                   const std::int64_t at = row * length + first;
                   std::array<std::int64_t, kOperands> offset{};
                   for (std::size_t o = 0; o < kOperands; ++o) offset[o] = first * step[o];
                   for (std::size_t axis = inner; axis-- > 0;) {
                     const std::int64_t index = row % shape[axis];
                     row /= shape[axis];
                     for (std::size_t o = 0; o < kOperands; ++o)
                       offset[o] += index * strides[o][axis];
                   }
                   run(at, offset, std::min(piece, length - first), step);
                 }
               });
}

}  // namespace concord::cpu
