// Rotary position embedding.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/attention.h"

namespace concord::cpu {

// The first rotary_dim elements of each head are rotated, the rest is copied:
//   halves:      (x₁, x₂) = (x[i], x[i + rotary_dim/2])
//   interleaved: (x₁, x₂) = (x[2i], x[2i + 1])
//   (x₁ cos − x₂ sin, x₂ cos + x₁ sin), products and sums in f32.
struct RotaryArgs {
  std::int64_t batch = 0, heads = 0, seq = 0, head_dim = 0, rotary_dim = 0;
  HeadsView x;
  void* out = nullptr;  // of x's type; may be x itself with the same strides
  std::int64_t out_batch_stride = 0, out_head_stride = 0, out_seq_stride = 0;
  bool interleaved = false;
  // Tables of rotary_dim/2 values for each position: row p of cos lies at cos + p · table_stride.
  // The row is position_ids[b · position_batch_stride + s] if given (i64, must be inside the
  // table), else b · table_batch_stride + s · table_stride from the start.
  const float* cos = nullptr;
  const float* sin = nullptr;
  std::int64_t table_stride = 0;
  std::int64_t table_batch_stride = 0;
  const std::int64_t* position_ids = nullptr;
  std::int64_t position_batch_stride = 0;
};
void rotary(const RotaryArgs& args);

}  // namespace concord::cpu
