// What the files of the convolution share.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/conv.h"

namespace concord::cpu {

// to[0, n) += from[0, n), on the calling thread.
void add_floats(std::int64_t n, const float* from, float* to);

// weights [taps, channels]; x channels last. Without activation and residual.
void convolve_depthwise(const float* weights, const ConvArgs& args);

// Tap by tap over the input as it lies, channels last: no patches, and nothing is multiplied by the
// padding. weights [taps · channels, out_channels] are f32. With activation and residual.
void convolve_taps(const PackedWeights& weights, const ConvArgs& args);

}  // namespace concord::cpu
