// Softmax, with the maximum subtracted. A row of which every element is -inf, or that contains a
// NaN or +inf, gives NaN, as the formula does.
#pragma once

#include <cstdint>

namespace concord::cpu {

// Rows along the last axis: out = softmax(scale · x + mask). In place is allowed.
struct SoftmaxArgs {
  std::int64_t rows = 0;
  std::int64_t n = 0;
  const float* x = nullptr;
  std::int64_t x_stride = 0;  // elements between rows
  float* out = nullptr;
  std::int64_t out_stride = 0;
  float scale = 1.0f;
  // Added to the scaled row r: mask + ((r / mask_inner) % mask_outer) · mask_stride. For scores
  // [batch, heads, q, k] and a mask [q, k]: inner 1, outer q, stride k; for a mask [batch, 1, 1,
  // k]: inner heads · q, outer batch, stride k.
  const float* mask = nullptr;
  std::int64_t mask_inner = 1;
  std::int64_t mask_outer = 1;
  std::int64_t mask_stride = 0;
  bool log = false;  // log-softmax
};
void softmax(const SoftmaxArgs& args);

// x [outer, n, inner] along the middle axis; also log-softmax.
void softmax_axis(std::int64_t outer, std::int64_t n, std::int64_t inner, const float* x,
                  float* out, bool log = false);

}  // namespace concord::cpu
