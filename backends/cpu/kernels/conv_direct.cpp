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
// One line of outputs along the last axis. Those in [inner_begin, inner_end) have all their taps
// inside the input; the others' patches are gathered.
struct DirectLine {
  const float* x;     // what the first output's first tap reads
  std::int64_t step;  // elements between neighbouring outputs
  std::int64_t outputs, inner_begin, inner_end;
  const std::int64_t* offset;  // of each product, from an output's first
  const std::int64_t* count;   // 0, 1, 2, …: the offsets within a gathered patch
  void (*gather)(const void* context, std::int64_t output, float* to);
  const void* context;
  float* patches;  // [kMostPixels, depth]
  std::int64_t depth;
  const float* weights;  // [panels, depth, panel]
  const float* bias;
  std::int64_t channels;
  float* y;   // [outputs, channels]
  bool relu;  // the activation, if it is this one
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
  const bool inside = first >= line.inner_begin && first + valid <= line.inner_end;
  const std::int64_t* offsets = inside ? line.offset : line.count;
  for (int p = 0; p < kPixels; ++p) {
    const int pixel = std::min(p, valid - 1);
    if (inside) {
      x[p] = line.x + (first + pixel) * line.step;
    } else {
      float* patch = line.patches + pixel * line.depth;
      if (p < valid) line.gather(line.context, first + p, patch);
      x[p] = patch;
    }
  }
  V sums[kPixels][kVectors];
  for (int p = 0; p < kPixels; ++p) {
    for (int v = 0; v < kVectors; ++v) sums[p][v] = hn::Zero(kTag);
  }
  for (std::int64_t k = 0; k < line.depth; ++k) {
    const float* row = weights + k * kPanel;
    const std::int64_t offset = offsets[k];
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
      V sum = hn::Add(sums[p][v], bias);
      if (line.relu) sum = hn::IfThenElse(hn::Le(sum, hn::Zero(kTag)), hn::Zero(kTag), sum);
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
void segment(const DirectLine& line, std::int64_t begin, std::int64_t end, const float* weights,
             std::int64_t channel) {
  // The last tile is no wider than it must be: what it computes beyond the end is thrown away.
  constexpr int kThird = std::max(1, kPixels / 3);
  constexpr int kTwoThirds = std::max(1, 2 * kPixels / 3);
  for (std::int64_t first = begin; first < end; first += kPixels) {
    const auto valid = static_cast<int>(std::min<std::int64_t>(kPixels, end - first));
    if (valid <= kThird) {
      tile<kVectors, kThird>(line, first, valid, weights, channel);
    } else if (valid <= kTwoThirds) {
      tile<kVectors, kTwoThirds>(line, first, valid, weights, channel);
    } else {
      tile<kVectors, kPixels>(line, first, valid, weights, channel);
    }
  }
}

// The borders apart, in tiles of few pixels: there are seldom more.
template <int kVectors, int kPixels>
void panel(const DirectLine& line, const float* weights, std::int64_t channel) {
  if (line.inner_begin >= line.inner_end) {
    segment<kVectors, kPixels>(line, 0, line.outputs, weights, channel);
    return;
  }
  segment<kVectors, 2>(line, 0, line.inner_begin, weights, channel);
  segment<kVectors, kPixels>(line, line.inner_begin, line.inner_end, weights, channel);
  segment<kVectors, 2>(line, line.inner_end, line.outputs, weights, channel);
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

constexpr int kTableSlot = 3;  // the caller's: offsets
constexpr int kPatchSlot = 2;  // each thread's: patches of a tile
constexpr std::int64_t kMostPixels = 16;

// The outputs of one axis whose taps are all inside the input: [begin, end).
void inner_range(const ConvExtents& e, int axis, std::int64_t& begin, std::int64_t& end) {
  const std::int64_t reach = (e.kernel[axis] - 1) * e.dilation[axis];
  begin = (std::max<std::int64_t>(0, e.pad[axis]) + e.stride[axis] - 1) / e.stride[axis];
  const std::int64_t last = e.in[axis] - 1 - reach + e.pad[axis];
  end = last < 0 ? 0 : std::min(e.out[axis], last / e.stride[axis] + 1);
  begin = std::min(begin, end);
}

// What the gathering of a line's patches needs.
struct LineContext {
  const ConvArgs* args;
  const float* x;         // of the image
  std::int64_t start[3];  // input element of the line's first tap, per axis
};

// Of an input that is channels last.
void gather_patch(const void* opaque, std::int64_t output, float* to) {
  const auto& line = *static_cast<const LineContext*>(opaque);
  const ConvArgs& a = *line.args;
  const ConvExtents& e = a.extents;
  const auto bytes = static_cast<std::size_t>(e.in_channels) * sizeof(float);
  for (std::int64_t k0 = 0; k0 < e.kernel[0]; ++k0) {
    const std::int64_t i0 = line.start[0] + k0 * e.dilation[0];
    for (std::int64_t k1 = 0; k1 < e.kernel[1]; ++k1) {
      const std::int64_t i1 = line.start[1] + k1 * e.dilation[1];
      const bool row = i0 >= 0 && i0 < e.in[0] && i1 >= 0 && i1 < e.in[1];
      const float* from = line.x + i0 * a.spatial_stride[0] + i1 * a.spatial_stride[1];
      for (std::int64_t k2 = 0; k2 < e.kernel[2]; ++k2, to += e.in_channels) {
        const std::int64_t i2 = line.start[2] + output * e.stride[2] + k2 * e.dilation[2];
        if (row && i2 >= 0 && i2 < e.in[2]) {
          std::memcpy(to, from + i2 * a.spatial_stride[2], bytes);
        } else {
          std::memset(to, 0, bytes);
        }
      }
    }
  }
}

// The input elements of one axis that the outputs' taps reach over.
std::int64_t span_of(const ConvExtents& e, int axis) {
  return (e.out[axis] - 1) * e.stride[axis] + (e.kernel[axis] - 1) * e.dilation[axis] + 1;
}

// A copy of one image [channels, span…] with its padding: all taps of all outputs are inside.
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

void fill_offsets(const ConvArgs& a, bool channels_last, std::int64_t* offsets) {
  const ConvExtents& e = a.extents;
  const std::int64_t taps = e.taps();
  for (std::int64_t t = 0; t < taps; ++t) {
    const std::int64_t k[3] = {t / (e.kernel[1] * e.kernel[2]), t / e.kernel[2] % e.kernel[1],
                               t % e.kernel[2]};
    std::int64_t at = 0;
    for (int axis = 0; axis < 3; ++axis) at += k[axis] * e.dilation[axis] * a.spatial_stride[axis];
    for (std::int64_t c = 0; c < e.in_channels; ++c) {
      offsets[channels_last ? t * e.in_channels + c : c * taps + t] = at + c * a.channel_stride;
    }
  }
}

}  // namespace

std::int64_t direct_panel() {
  return HWY_DYNAMIC_DISPATCH(direct_panel_width)();
}

AlignedBuffer pack_direct(std::int64_t channels, std::int64_t depth, const float* weights) {
  const std::int64_t width = direct_panel();
  const std::int64_t panels = (channels + width - 1) / width;
  AlignedBuffer packed(static_cast<std::size_t>(panels * depth * width) * sizeof(float));
  auto* to = packed.as<float>();
  std::fill_n(to, panels * depth * width, 0.0f);
  for (std::int64_t m = 0; m < channels; ++m) {
    for (std::int64_t k = 0; k < depth; ++k) {
      to[(m / width * depth + k) * width + m % width] = weights[m * depth + k];
    }
  }
  return packed;
}

namespace {

// Lines of outputs [first, last) of args, whose x is that of the first image.
void run_lines(const float* weights, const ConvArgs& a, const std::int64_t* offsets,
               std::int64_t depth, std::int64_t first, std::int64_t last) {
  const ConvExtents& e = a.extents;
  std::int64_t begin[3], end[3];
  for (int axis = 0; axis < 3; ++axis) inner_range(e, axis, begin[axis], end[axis]);
  auto* patches = reinterpret_cast<float*>(
      thread_scratch(static_cast<std::size_t>(kMostPixels * depth) * sizeof(float), kPatchSlot));
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t o1 = i % e.out[1];
    const std::int64_t o0 = i / e.out[1] % e.out[0];
    const bool inside = o0 >= begin[0] && o0 < end[0] && o1 >= begin[1] && o1 < end[1];
    const LineContext context{
        &a,
        a.x + i / (e.out[1] * e.out[0]) * a.batch_stride,
        {o0 * e.stride[0] - e.pad[0], o1 * e.stride[1] - e.pad[1], -e.pad[2]}};
    DirectLine line;
    line.step = e.stride[2] * a.spatial_stride[2];
    line.outputs = e.out[2];
    line.inner_begin = inside ? begin[2] : 0;
    line.inner_end = inside ? end[2] : 0;
    line.x = context.x;
    for (int axis = 0; axis < 3; ++axis) line.x += context.start[axis] * a.spatial_stride[axis];
    line.offset = offsets;
    line.count = offsets + depth;
    line.gather = gather_patch;
    line.context = &context;
    line.patches = patches;
    line.depth = depth;
    line.weights = weights;
    line.bias = a.bias;
    line.channels = e.out_channels;
    line.relu = a.activation == Activation::relu;
    line.y = a.y + i * e.out[2] * e.out_channels;
    HWY_DYNAMIC_DISPATCH(direct_line)(line);
  }
}

}  // namespace

void convolve_direct(const float* weights, bool channels_last, const ConvArgs& args) {
  const ConvExtents& e = args.extents;
  const std::int64_t depth = e.in_channels * e.taps();
  const std::int64_t span[3] = {span_of(e, 0), span_of(e, 1), span_of(e, 2)};
  const std::int64_t image = channels_last ? 0 : e.in_channels * span[0] * span[1] * span[2];
  const std::int64_t table_bytes = 2 * depth * static_cast<std::int64_t>(sizeof(std::int64_t));
  std::byte* scratch =
      thread_scratch(static_cast<std::size_t>(table_bytes + image * 4), kTableSlot);
  auto* offsets = reinterpret_cast<std::int64_t*>(scratch);
  auto* copy = reinterpret_cast<float*>(scratch + table_bytes);
  const std::int64_t lines = e.out[0] * e.out[1];
  const std::int64_t grain = 1 + 200000 / (1 + e.out[2] * e.out_channels * depth);
  ConvArgs a = args;
  if (!channels_last) {
    // Of few channels: each image is copied with its padding.
    a.channel_stride = span[0] * span[1] * span[2];
    a.spatial_stride[0] = span[1] * span[2];
    a.spatial_stride[1] = span[2];
    a.spatial_stride[2] = 1;
    for (int axis = 0; axis < 3; ++axis) {
      a.extents.in[axis] = span[axis];
      a.extents.pad[axis] = 0;
    }
  }
  fill_offsets(a, channels_last, offsets);
  for (std::int64_t k = 0; k < depth; ++k) offsets[depth + k] = k;
  if (channels_last) {
    parallel_for(e.batch * lines, grain, [&](std::int64_t first, std::int64_t last) {
      run_lines(weights, a, offsets, depth, first, last);
    });
    return;
  }
  a.x = copy;
  for (std::int64_t batch = 0; batch < e.batch; ++batch) {
    copy_padded(args, args.x + batch * args.batch_stride, span, copy);
    a.y = args.y + batch * lines * e.out[2] * e.out_channels;
    parallel_for(lines, grain, [&](std::int64_t first, std::int64_t last) {
      run_lines(weights, a, offsets, depth, first, last);
    });
  }
}

}  // namespace concord::cpu
#endif
