// Convolutions of 8-bit integers as products over gathered patches. Sums are exact; the result is
// f32, written channels last.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/conv.h"
#include "backends/cpu/kernels/matmul_int8.h"

namespace concord::cpu {

// Signed weights [out_channels, in_channels, kernel…] of one group, dense, packed once for all
// extents of the input.
class PackedByteFilter {
 public:
  PackedByteFilter() = default;
  static PackedByteFilter pack(const ConvExtents& extents, const std::int8_t* weights);

  // Whether the input's channel stride must be 1.
  bool channels_last() const { return channels_last_; }
  std::size_t bytes() const { return weights_.bytes() + tap_sums_.size(); }

 private:
  friend void convolve_int8(const PackedByteFilter& filter, const struct ConvInt8Args& args);
  bool channels_last_ = false;
  PackedBytes weights_;
  AlignedBuffer tap_sums_;  // i32 [taps][whole panels of out_channels], if taps go one by one
};

// y = activation(scale · Σ (x − x_zero) · w + bias), x_zero standing in the padding.
struct ConvInt8Args {
  ConvExtents extents;
  const std::byte* x = nullptr;
  bool x_signed = false;
  // Positive along axes of more than one element.
  std::int64_t batch_stride = 0, channel_stride = 0;
  std::int64_t spatial_stride[3] = {0, 0, 0};
  const std::byte* x_zero = nullptr;  // of x's type; null: zero
  const float* scales = nullptr;
  std::int64_t scale_stride = 0;  // 1: one per output channel
  const float* bias = nullptr;    // [out_channels]
  Activation activation = Activation::none;
  float* y = nullptr;            // [batch, out…, out_channels]
  std::byte* flipped = nullptr;  // span() bytes of scratch if x_signed, else not used

  std::int64_t span() const;  // bytes from x to the end of the input, 0 if it is empty
};
void convolve_int8(const PackedByteFilter& filter, const ConvInt8Args& args);

}  // namespace concord::cpu
