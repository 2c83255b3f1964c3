// Convolution without patches in memory: every output pixel's products read the input through a
// table of offsets. For few channels on either side: first layers, on images, and narrow ones,
// where gathering patches would take as long as multiplying them.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/conv.h"

namespace concord::cpu {

// Output channels that stand side by side in the packed weights.
std::int64_t direct_panel();

// Weights [out_channels, depth], depth in the order of the patches (see PackedFilter), as [panels,
// depth, direct_panel()], zeros beyond the last output channel.
AlignedBuffer pack_direct(std::int64_t channels, std::int64_t depth, const float* weights);

// One group. Patches are [taps, channels] of an input with a channel stride of 1 if channels_last,
// else [channels, taps] of any. Writes y with a relu, but without any other activation and without
// the residual.
void convolve_direct(const float* weights, bool channels_last, const ConvArgs& args);

}  // namespace concord::cpu
