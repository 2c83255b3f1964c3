#pragma once

// Attention in plain double loops, for the tests of its kernels.

#include <algorithm>
#include <cmath>
#include <vector>

namespace concord::gpu {

struct AttentionCase {
  int batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, depth = 1, v_depth = 1;
  int mask_kind = 0;                                       // 0 none, 1 f32, 2 bool
  int mask_batches = 1, mask_heads = 1, mask_queries = 1;  // extents; 1 is broadcast
  bool lengths = false;
  bool causal = false;
  int causal_offset = 0;
  int window = -1;
  float scale = 1.0f, cap = 0.0f;
  bool nan_to_zero = false;
};

inline bool sees(const AttentionCase& c, int length, int i, int j) {
  if (j >= length) return false;
  if (c.causal && j > i + c.causal_offset) return false;
  return c.window < 0 || j > i + c.causal_offset - c.window;
}

// The probabilities of one row of scores, which are masked in place. mask is the row's or null.
inline std::vector<double> probabilities(const AttentionCase& c, std::vector<double>& scores,
                                         int length, int i, const float* mask,
                                         const int* bool_mask) {
  double largest = -INFINITY;
  bool nan = false;
  for (int j = 0; j < c.keys; ++j) {
    double& score = scores[j];
    score *= c.scale;
    if (c.cap != 0) score = c.cap * std::tanh(score / c.cap);
    if (mask != nullptr) score += mask[j];
    if (bool_mask != nullptr && bool_mask[j] == 0) score = -INFINITY;
    if (!sees(c, length, i, j)) score = -INFINITY;
    nan = nan || std::isnan(score);
    largest = std::max(largest, score);
  }
  std::vector<double> p(c.keys);
  if (largest == -INFINITY) {
    std::fill(p.begin(), p.end(), c.nan_to_zero ? 0.0 : NAN);
    return p;
  }
  double sum = 0;
  for (int j = 0; j < c.keys; ++j) sum += p[j] = std::exp(scores[j] - largest);
  for (double& value : p) value /= sum;
  return p;
}

}  // namespace concord::gpu
