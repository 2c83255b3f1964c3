// Linear attention: a recurrence over a state per head, instead of a softmax over keys.
#pragma once

#include <cstdint>

namespace concord::cpu {

// For each batch item, head and step t, S being the state [depth, width], which starts as `past`
// (zeros if null):
//   S ← exp(decay)·S            if decay is given
//   v ← beta·(v − Sᵀk)          if beta is given
//   S ← S + k⊗v,  y = scale·Sᵀq for every query head of the group
struct LinearAttentionArgs {
  std::int64_t batch = 0, steps = 0, q_heads = 0, heads = 0, depth = 0, width = 0;
  float scale = 1;
  const float* q = nullptr;      // [batch, steps, q_heads, depth]
  const float* k = nullptr;      // [batch, steps, heads, depth]
  const float* v = nullptr;      // [batch, steps, heads, width]
  const float* past = nullptr;   // [batch, heads, depth, width]
  const float* decay = nullptr;  // [batch, steps, heads, 1 or depth]
  bool decay_per_depth = false;
  const float* beta = nullptr;  // [batch, steps, 1 or heads]
  bool beta_per_head = false;
  float* y = nullptr;      // [batch, steps, q_heads, width]
  float* state = nullptr;  // [batch, heads, depth, width]; may be null
};
void linear_attention(const LinearAttentionArgs& args);

}  // namespace concord::cpu
