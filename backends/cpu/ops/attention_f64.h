#pragma once

#include <cstdint>

namespace concord::cpu {

// Attention of f64 by plain loops, over tensors [batch, heads, seq, depth] anywhere in memory
// (strides in elements); the rules are AttentionArgs'. Models seldom have one.
struct AttentionF64 {
  struct Heads {
    const double* data = nullptr;
    std::int64_t strides[4] = {0, 0, 0, 0};
  };
  std::int64_t batch = 0, heads = 0, kv_heads = 0, q_len = 0, kv_len = 0, depth = 0, v_depth = 0;
  Heads q, k, v;
  double* out = nullptr;
  std::int64_t out_strides[4] = {0, 0, 0, 0};
  double scale = 1, softcap = 0;
  const double* mask = nullptr;             // added
  const std::uint8_t* bool_mask = nullptr;  // 0: hidden
  std::int64_t mask_strides[4] = {0, 0, 0, 0};
  bool causal = false;
  std::int64_t causal_offset = 0, window = -1;
  const std::int64_t* key_lengths = nullptr;  // [batch]
  bool empty_rows_zero = false;
};
void attention_f64(const AttentionF64& args);

}  // namespace concord::cpu
