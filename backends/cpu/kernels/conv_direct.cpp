#include "backends/cpu/kernels/conv_direct.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/conv_direct.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#ifndef CONCORD_CONV_DIRECT_LINE
#define CONCORD_CONV_DIRECT_LINE
namespace concord::cpu {
// One line of outputs along the last axis.
struct DirectLine {
  const float* x;     // what the first output's first tap reads
  std::int64_t step;  // elements between neighbouring outputs
  std::int64_t outputs;
  const std::int64_t* offset;  // of each product, from an output's first
  std::int64_t depth;
  const float* weights;  // [panels, depth, panel]
  const float* bias;
  std::int64_t channels;
  float* y;  // [outputs, channels]
};
}  // namespace concord::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr D kTag;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
// Registers: 32 with AVX-512, else 16.
constexpr int kPanelVectors = kLanes >= 16 ? 4 : 2;
constexpr std::int64_t kPanel = kPanelVectors * kLanes;

// kPixels neighbouring outputs (the last ones repeated beyond `valid`) for kVectors vectors of
// channels from `channel` on.
template <int kVectors, int kPixels>
void tile(const DirectLine& line, std::int64_t first, int valid, const float* weights,
          std::int64_t channel) {
  const float* x[kPixels];
  for (int p = 0; p < kPixels; ++p) {
    x[p] = line.x + (first + std::min(p, valid - 1)) * line.step;
  }
  V sums[kPixels][kVectors];
  for (int p = 0; p < kPixels; ++p) {
    for (int v = 0; v < kVectors; ++v) sums[p][v] = hn::Zero(kTag);
  }
  for (std::int64_t k = 0; k < line.depth; ++k) {
    const float* row = weights + k * kPanel;
    const std::int64_t offset = line.offset[k];
    V w[kVectors];
    for (int v = 0; v < kVectors; ++v) w[v] = hn::LoadU(kTag, row + v * kLanes);
    for (int p = 0; p < kPixels; ++p) {
      const V a = hn::Set(kTag, x[p][offset]);
      for (int v = 0; v < kVectors; ++v) sums[p][v] = hn::MulAdd(a, w[v], sums[p][v]);
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t c = channel + v * kLanes;
    const std::int64_t count = std::min(kLanes, line.channels - c);
    HWY_ALIGN float lanes[kLanes] = {};
    if (line.bias != nullptr) std::copy_n(line.bias + c, count, lanes);
    const V bias = hn::Load(kTag, lanes);
    for (int p = 0; p < valid; ++p) {
      float* y = line.y + (first + p) * line.channels + c;
      const V sum = hn::Add(sums[p][v], bias);
      if (count == kLanes) {
        hn::StoreU(sum, kTag, y);
      } else {
        hn::Store(sum, kTag, lanes);
        std::copy_n(lanes, count, y);
      }
    }
  }
}

template <int kVectors, int kPixels>
void panel(const DirectLine& line, const float* weights, std::int64_t channel) {
  for (std::int64_t first = 0; first < line.outputs; first += kPixels) {
    const auto valid = static_cast<int>(std::min<std::int64_t>(kPixels, line.outputs - first));
    tile<kVectors, kPixels>(line, first, valid, weights, channel);
  }
}

}  // namespace

std::int64_t direct_panel_width() {
  return kPanel;
}

void direct_line(const DirectLine& line) {
  for (std::int64_t channel = 0; channel < line.channels; channel += kPanel) {
    const float* weights = line.weights + channel / kPanel * line.depth * kPanel;
    const std::int64_t vectors = (std::min(kPanel, line.channels - channel) + kLanes - 1) / kLanes;
    // Enough sums at once to hide the latency of an addition, few enough for the registers.
    if constexpr (kPanelVectors == 4) {
      if (vectors == 4) {
        panel<4, 6>(line, weights, channel);
        continue;
      }
      if (vectors == 3) {
        panel<3, 8>(line, weights, channel);
        continue;
      }
      if (vectors == 2) {
        panel<2, 12>(line, weights, channel);
        continue;
      }
      panel<1, 16>(line, weights, channel);
    } else {
      if (vectors == 2) {
        panel<2, 5>(line, weights, channel);
      } else {
        panel<1, 10>(line, weights, channel);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace concord::cpu {

HWY_EXPORT(direct_panel_width);
HWY_EXPORT(direct_line);

namespace {

constexpr int kScratchSlot = 3;

// The input as the lines read it: [channels, span of each axis], where all taps are inside.
struct Source {
  const float* data;
  std::int64_t channel, axis[3];  // strides
};

// Elements of one axis that the outputs' taps reach over.
std::int64_t span_of(const ConvExtents& e, int axis) {
  return (e.out[axis] - 1) * e.stride[axis] + (e.kernel[axis] - 1) * e.dilation[axis] + 1;
}

bool needs_padding(const ConvExtents& e) {
  for (int axis = 0; axis < 3; ++axis) {
    if (e.pad[axis] != 0 || span_of(e, axis) > e.in[axis]) return true;
  }
  return false;
}

// A copy of one image with its padding.
void copy_padded(const ConvArgs& a, const float* x, const std::int64_t (&span)[3], float* to) {
  const ConvExtents& e = a.extents;
  const std::int64_t rows = e.in_channels * span[0] * span[1];
  parallel_for(rows, 1 + 20000 / (1 + span[2]), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      float* line = to + row * span[2];
      const std::int64_t i1 = row % span[1] - e.pad[1];
      const std::int64_t i0 = row / span[1] % span[0] - e.pad[0];
      const std::int64_t c = row / (span[1] * span[0]);
      if (i0 < 0 || i0 >= e.in[0] || i1 < 0 || i1 >= e.in[1]) {
        std::fill_n(line, span[2], 0.0f);
        continue;
      }
      const float* from =
          x + c * a.channel_stride + i0 * a.spatial_stride[0] + i1 * a.spatial_stride[1];
      // Input element i stands at i + pad; what lies outside the span is not read by any tap.
      const std::int64_t first = std::clamp<std::int64_t>(e.pad[2], 0, span[2]);
      const std::int64_t last = std::clamp<std::int64_t>(e.pad[2] + e.in[2], first, span[2]);
      std::fill(line, line + first, 0.0f);
      const float* start = from + (first - e.pad[2]) * a.spatial_stride[2];
      if (a.spatial_stride[2] == 1) {
        std::copy_n(start, last - first, line + first);
      } else {
        for (std::int64_t i = first; i < last; ++i) {
          line[i] = start[(i - first) * a.spatial_stride[2]];
        }
      }
      std::fill(line + last, line + span[2], 0.0f);
    }
  });
}

}  // namespace

std::int64_t direct_panel() {
  return HWY_DYNAMIC_DISPATCH(direct_panel_width)();
}

AlignedBuffer pack_direct(const ConvExtents& e, const float* weights) {
  const std::int64_t width = direct_panel();
  const std::int64_t depth = e.in_channels * e.taps();
  const std::int64_t panels = (e.out_channels + width - 1) / width;
  AlignedBuffer packed(static_cast<std::size_t>(panels * depth * width) * sizeof(float));
  auto* to = packed.as<float>();
  std::fill_n(to, panels * depth * width, 0.0f);
  for (std::int64_t m = 0; m < e.out_channels; ++m) {
    for (std::int64_t k = 0; k < depth; ++k) {
      to[(m / width * depth + k) * width + m % width] = weights[m * depth + k];
    }
  }
  return packed;
}

void convolve_direct(const float* weights, const ConvArgs& a) {
  const ConvExtents& e = a.extents;
  const std::int64_t depth = e.in_channels * e.taps();
  const std::int64_t span[3] = {span_of(e, 0), span_of(e, 1), span_of(e, 2)};
  const bool padded = needs_padding(e);
  const std::int64_t image = padded ? e.in_channels * span[0] * span[1] * span[2] : 0;
  std::byte* scratch =
      thread_scratch(static_cast<std::size_t>(depth * 8 + image * 4), kScratchSlot);
  auto* offsets = reinterpret_cast<std::int64_t*>(scratch);
  auto* copy = reinterpret_cast<float*>(scratch + depth * 8);
  Source source{
      nullptr, a.channel_stride, {a.spatial_stride[0], a.spatial_stride[1], a.spatial_stride[2]}};
  if (padded) source = {copy, span[0] * span[1] * span[2], {span[1] * span[2], span[2], 1}};
  std::int64_t next = 0;
  for (std::int64_t c = 0; c < e.in_channels; ++c) {
    for (std::int64_t k0 = 0; k0 < e.kernel[0]; ++k0) {
      for (std::int64_t k1 = 0; k1 < e.kernel[1]; ++k1) {
        for (std::int64_t k2 = 0; k2 < e.kernel[2]; ++k2) {
          offsets[next++] = c * source.channel + k0 * e.dilation[0] * source.axis[0] +
                            k1 * e.dilation[1] * source.axis[1] +
                            k2 * e.dilation[2] * source.axis[2];
        }
      }
    }
  }
  const std::int64_t lines = e.out[0] * e.out[1];
  const std::int64_t work = e.out[2] * e.out_channels * depth;
  for (std::int64_t batch = 0; batch < e.batch; ++batch) {
    const float* x = a.x + batch * a.batch_stride;
    if (padded) {
      copy_padded(a, x, span, copy);
      x = copy;
    }
    parallel_for(lines, 1 + 200000 / (1 + work), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        DirectLine line;
        line.x = x + i / e.out[1] * e.stride[0] * source.axis[0] +
                 i % e.out[1] * e.stride[1] * source.axis[1];
        line.step = e.stride[2] * source.axis[2];
        line.outputs = e.out[2];
        line.offset = offsets;
        line.depth = depth;
        line.weights = weights;
        line.bias = a.bias;
        line.channels = e.out_channels;
        line.y = a.y + (batch * lines + i) * e.out[2] * e.out_channels;
        HWY_DYNAMIC_DISPATCH(direct_line)(line);
      }
    });
  }
}

}  // namespace concord::cpu
#endif
