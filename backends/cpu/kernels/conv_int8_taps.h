#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/conv_taps.h"
#include "backends/cpu/kernels/matmul_int8_internal.h"

namespace concord::cpu {

// A convolution of bytes tap by tap, channels last and a multiple of four.
struct ByteTaps {
  const ConvExtents* extents = nullptr;
  ByteShare share;  // weights [taps · channels, out_channels], and the args of the product
  const std::byte* x = nullptr;  // unsigned
  ImageStrides strides{};
  std::int32_t zero = 0;                   // x's zero point, which the padding holds
  const std::int32_t* tap_sums = nullptr;  // [taps][share.padded_n]: Σ of each tap's weights
};
void convolve_byte_taps(const ByteTaps& taps);

}  // namespace concord::cpu
