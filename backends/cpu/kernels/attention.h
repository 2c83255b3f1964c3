// Scaled dot-product attention in one pass over tiles, with online softmax: the score matrix is
// never stored, and no operand is transposed in memory.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/number.h"

namespace concord::cpu {

// A tensor [batch, heads, seq, head_dim] anywhere in memory: strides in elements; head_dim is
// contiguous. (A projection [batch, seq, heads, head_dim], also one third of a fused QKV product,
// has strides seq·ld, head_dim, ld.)
struct HeadsView {
  const void* data = nullptr;
  Element type = Element::f32;  // f32, f16 or bf16
  std::int64_t batch_stride = 0, head_stride = 0, seq_stride = 0;
};

// out = softmax(mask(cap(scale · q kᵀ))) v, row by row. Query head h uses key head
// h / (heads / kv_heads). Key j is seen by query i only if
//   causal:        j <= i + causal_offset
//   window >= 0:   j >  i + causal_offset - window
//   right_window:  j <  i + causal_offset + right_window (>= 0; for two-sided windows)
//   key_lengths:   j <  key_lengths[batch]
//   bool_mask:     the element is not 0
// A row that sees no key gives zeros if empty_rows_zero, else NaN.
struct AttentionArgs {
  std::int64_t batch = 0, heads = 0, kv_heads = 0;
  std::int64_t q_len = 0, kv_len = 0;
  std::int64_t head_dim = 0;    // of q and k
  std::int64_t v_head_dim = 0;  // of v and out
  HeadsView q, k, v;
  void* out = nullptr;  // strides as for the inputs
  Element out_type = Element::f32;
  std::int64_t out_batch_stride = 0, out_head_stride = 0, out_seq_stride = 0;
  float scale = 1.0f;
  float softcap = 0.0f;  // > 0: scores become softcap · tanh(score / softcap), before the mask
  // Additive mask, or boolean mask of bytes, at [b, h, i, j] by strides; 0 where it is broadcast.
  const float* mask = nullptr;
  const std::uint8_t* bool_mask = nullptr;
  std::int64_t mask_batch_stride = 0, mask_head_stride = 0, mask_q_stride = 0, mask_k_stride = 0;
  bool causal = false;
  std::int64_t causal_offset = 0;  // kv_len - q_len when the queries are the last of the sequence
  std::int64_t window = -1;
  std::int64_t right_window = -1;
  const std::int32_t* key_lengths = nullptr;
  bool empty_rows_zero = false;
};
void attention(const AttentionArgs& args);

}  // namespace concord::cpu
