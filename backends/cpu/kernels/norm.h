// Normalisation: mean, then centred sum of squares (two passes over a row that is in cache), in f32
// with blocked sums.
#pragma once

#include <cstdint>

namespace concord::cpu {

// Row r of the sum s = x + residual + bias (either may be absent) is normalised:
//   layer: (s - mean) / sqrt(mean((s - mean)²) + epsilon) · gamma + beta
//   rms:    s / sqrt(mean(s²) + epsilon) · gamma (+ beta)
struct NormArgs {
  std::int64_t rows = 0;
  std::int64_t n = 0;
  const float* x = nullptr;
  std::int64_t x_stride = 0;  // elements between rows; all of these
  const float* residual = nullptr;
  std::int64_t residual_stride = 0;
  const float* bias = nullptr;  // [n]
  float* sum = nullptr;         // where s is wanted too; may be x or residual
  std::int64_t sum_stride = 0;
  const float* gamma = nullptr;  // [n], 1 if absent
  const float* beta = nullptr;   // [n], 0 if absent
  float epsilon = 1e-5f;
  float* out = nullptr;  // may be x
  std::int64_t out_stride = 0;
  float* mean = nullptr;     // [rows], where wanted (layer only)
  float* inverse = nullptr;  // [rows]: 1 / sqrt(… + epsilon), where wanted
};
void layer_norm(const NormArgs& args);
void rms_norm(const NormArgs& args);

// x [batch, channels, spatial], normalised over each group of channels / groups channels and the
// spatial extent, then scaled by gamma [channels] and beta [channels]. groups = channels is
// instance norm.
void group_norm(std::int64_t batch, std::int64_t channels, std::int64_t spatial,
                std::int64_t groups, const float* x, const float* gamma, const float* beta,
                float epsilon, float* out);

}  // namespace concord::cpu
