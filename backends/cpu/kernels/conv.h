// Convolutions as matrix products over patches that are gathered block by block; depthwise ones
// directly. The result is written channels last: [batch, spatial…, channels].
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/kernels/matmul.h"
#include "backends/cpu/kernels/memory.h"

namespace concord::cpu {

// Extents of a convolution over up to three spatial axes; unused axes come first and have extent 1.
// Output element o of an axis reads inputs o · stride + k · dilation − pad.
struct ConvExtents {
  std::int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;
  std::int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
  std::int64_t stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1}, pad[3] = {0, 0, 0};

  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  std::int64_t in_pixels() const { return in[0] * in[1] * in[2]; }
  std::int64_t out_pixels() const { return out[0] * out[1] * out[2]; }
  bool depthwise() const { return groups == in_channels && groups == out_channels && groups > 1; }
};

// Weights [out_channels, in_channels / groups, kernel…], dense f32, packed once for all extents of
// the input. Patches are gathered channels last if the input has channels enough to make runs;
// otherwise (an image of three) as they lie.
class PackedFilter {
 public:
  PackedFilter() = default;
  static PackedFilter pack(const ConvExtents& extents, const float* weights, Element storage);

  bool channels_last() const { return channels_last_; }
  // f32, f16 or bf16, as PackedWeights has it; those of depthwise and first layers are always f32.
  Element storage() const { return groups_.empty() ? Element::f32 : groups_[0].storage(); }
  std::int64_t bytes() const;

 private:
  friend void convolve(const PackedFilter& filter, const struct ConvArgs& args);
  bool channels_last_ = false;
  std::vector<PackedWeights> groups_;
  AlignedBuffer depthwise_;  // [taps, channels]
  AlignedBuffer direct_;     // see conv_direct.h
};

struct ConvArgs {
  ConvExtents extents;
  // f32, by strides in elements. If the filter is channels last the channel's stride must be 1.
  const float* x = nullptr;
  std::int64_t batch_stride = 0, channel_stride = 0;
  std::int64_t spatial_stride[3] = {0, 0, 0};
  const float* bias = nullptr;  // [out_channels]
  Activation activation = Activation::none;
  const float* residual = nullptr;  // laid out as y, added last
  float* y = nullptr;               // [batch, out…, out_channels]
};
void convolve(const PackedFilter& filter, const ConvArgs& args);

// The second half of a transposed convolution. columns [batch, in…, taps, channels] holds what
// every input element adds to each tap; y [batch, out…, channels] = bias + their sums, where input
// i and tap k meet output i · stride + k · dilation − pad. extents names the transposed
// convolution's own input and output; groups are the caller's.
void sum_columns(const ConvExtents& extents, const float* columns, std::int64_t channels,
                 const float* bias, float* y, std::int64_t y_channel_stride);

}  // namespace concord::cpu
