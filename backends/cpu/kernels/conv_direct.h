// Convolution of an input with few channels without patches in memory: every output pixel's
// products read the input through a table of offsets. For first layers, on images.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/conv.h"

namespace concord::cpu {

// Output channels that stand side by side in the packed weights.
std::int64_t direct_panel();

// [panels, channels · taps, direct_panel()], zeros beyond the last output channel.
AlignedBuffer pack_direct(const ConvExtents& extents, const float* weights);

// One group; any strides. Writes y without activation and residual.
void convolve_direct(const float* weights, const ConvArgs& args);

}  // namespace concord::cpu
