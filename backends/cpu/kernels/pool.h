// Pooling windows, and resampling along an axis.
#pragma once

#include <cstdint>
#include <span>

#include "backends/cpu/kernels/conv.h"

namespace concord::cpu {

enum class PoolOp : std::uint8_t { max, average, lp };

// Windows as in ConvExtents, channels in in_channels. x by strides in elements, whatever order it
// lies in; y dense: channels last if the channel stride of x is 1, else [batch, channels, out…].
// A window that meets no input gives -inf (max) or 0.
struct PoolArgs {
  PoolOp op = PoolOp::max;
  ConvExtents extents;
  std::int64_t pad_end[3] = {0, 0, 0};
  bool count_include_pad = false;  // average: padding counts, as far as pad_end goes
  double p = 2;                    // lp: (Σ|x|ᵖ)^(1/p)
  const float* x = nullptr;
  std::int64_t batch_stride = 0, channel_stride = 0;
  std::int64_t spatial_stride[3] = {0, 0, 0};
  float* y = nullptr;
};
void pool(const PoolArgs& args);

// Maximum of dense x [batch, channels, in…] of another type, with the flat index of each maximum
// where it is wanted (column_major: the spatial part counted with the first axis fastest).
template <typename T>
void max_pool_indexed(const ConvExtents& extents, const T* x, T* y, std::int64_t* indices,
                      bool column_major);

// One axis resampled: y[o, i, :] = Σ_t weight[i, t] · x[o, index[i, t], :], or `outside` where the
// index is negative.
struct ResampleAxis {
  std::int64_t in = 0, out = 0;
  int taps = 1;
  const std::int32_t* index = nullptr;  // [out, taps], inside [0, in); −1 first: outside
  const float* weight = nullptr;        // [out, taps]
  float outside = 0;
};
void resample(const ResampleAxis& axis, std::int64_t outer, std::int64_t inner, const float* x,
              float* y);

// Nearest neighbours along any axes, in one pass: y[o…] = x[index of each axis…], or `outside`
// where an index is negative. Elements of 4 bytes; axes [rank][extent] from the outermost; axes
// that are not resampled have no table. At most 8.
struct NearestAxis {
  std::int64_t in = 0, out = 0;
  const std::int32_t* index = nullptr;
};
void resample_nearest(std::span<const NearestAxis> axes, const float* x, float* y, float outside);

}  // namespace concord::cpu
