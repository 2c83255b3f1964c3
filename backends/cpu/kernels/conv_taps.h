// How a convolution goes tap by tap over an input that is channels last: no patches, and nothing is
// multiplied by the padding.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/kernels/conv.h"

namespace concord::cpu {

// From so many input channels and outputs in a line on sums that go through memory after every tap
// cost less than patches: measured 2 to 18 % less, most where much is padding.
constexpr std::int64_t kDeepTap = 32;
constexpr std::int64_t kTapLine = 4;
// Bytes of sums that stay in L1 beside the rows of one tap: at least a line's for one panel of
// output channels. Longer lines, of which a convolution over one axis has one alone, would neither
// stay there nor be shared by threads.
constexpr std::int64_t kTapSumBytes = 16 << 10;

inline bool goes_by_taps(const ConvExtents& e, std::int64_t panel_width) {
  return e.groups == 1 && e.in_channels >= kDeepTap && e.out[2] >= kTapLine &&
         e.out[2] * panel_width * 4 <= kTapSumBytes;
}

// The outputs of an axis whose tap k lies in the input: [first, end).
struct OutputRange {
  std::int64_t first, end;
};

inline OutputRange outputs_of(const ConvExtents& e, int axis, std::int64_t k) {
  const std::int64_t offset = k * e.dilation[axis] - e.pad[axis];
  const std::int64_t stride = e.stride[axis];
  const auto at_least = [&](std::int64_t input) {  // the first output that reads it or a later one
    return std::max<std::int64_t>(0, (input - offset + stride - 1) / stride);
  };
  const std::int64_t first = offset >= 0 ? 0 : at_least(0);
  const std::int64_t end = e.in[axis] <= offset ? 0 : at_least(e.in[axis]);
  return {first, std::max(first, std::min(end, e.out[axis]))};
}

// Where an image's elements lie, in elements.
struct ImageStrides {
  std::int64_t batch;
  const std::int64_t* spatial;  // [3]
};

// For one tap and each line of outputs in [begin, end), lines counted over batch, out[0] and
// out[1]: meets(line, range, offset) with the outputs that read the input there, the first at this
// offset, and skips(line, range) with those that read padding.
template <class Meets, class Skips>
void walk_tap(const ConvExtents& e, const ImageStrides& strides, std::int64_t tap,
              std::int64_t begin, std::int64_t end, const Meets& meets, const Skips& skips) {
  const std::int64_t k2 = tap % e.kernel[2];
  const std::int64_t k1 = tap / e.kernel[2] % e.kernel[1];
  const std::int64_t k0 = tap / (e.kernel[2] * e.kernel[1]);
  const OutputRange inside = outputs_of(e, 2, k2);
  const std::int64_t column = inside.first * e.stride[2] + k2 * e.dilation[2] - e.pad[2];
  for (std::int64_t line = begin; line < end; ++line) {
    const std::int64_t i1 = line % e.out[1] * e.stride[1] + k1 * e.dilation[1] - e.pad[1];
    const std::int64_t i0 =
        line / e.out[1] % e.out[0] * e.stride[0] + k0 * e.dilation[0] - e.pad[0];
    const bool row = i0 >= 0 && i0 < e.in[0] && i1 >= 0 && i1 < e.in[1];
    if (!row || inside.first == inside.end) {
      skips(line, OutputRange{0, e.out[2]});
      continue;
    }
    if (inside.first > 0) skips(line, OutputRange{0, inside.first});
    if (inside.end < e.out[2]) skips(line, OutputRange{inside.end, e.out[2]});
    meets(line, inside,
          line / (e.out[1] * e.out[0]) * strides.batch + i0 * strides.spatial[0] +
              i1 * strides.spatial[1] + column * strides.spatial[2]);
  }
}

}  // namespace concord::cpu
