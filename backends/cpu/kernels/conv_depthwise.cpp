#include <algorithm>

#include "backends/cpu/kernels/conv_internal.h"
#include "backends/cpu/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/conv_depthwise.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Full = hn::ScalableTag<float>;
template <class D>
constexpr std::int64_t kLanesOf = static_cast<std::int64_t>(hn::MaxLanes(D()));
constexpr std::int64_t kLanes = kLanesOf<Full>;

// The taps that meet the input for one output element of an axis: [first, end).
struct Taps {
  std::int64_t first, end, start;  // start: the input element of tap 0
};

Taps taps_of(const ConvExtents& e, int axis, std::int64_t o) {
  Taps t;
  t.start = o * e.stride[axis] - e.pad[axis];
  const std::int64_t d = e.dilation[axis];
  t.first = t.start < 0 ? (-t.start + d - 1) / d : 0;
  t.end = e.kernel[axis];
  if (t.start + (t.end - 1) * d >= e.in[axis]) {
    t.end = e.in[axis] - t.start <= 0 ? 0 : (e.in[axis] - t.start + d - 1) / d;
  }
  t.first = std::min(t.first, t.end);
  return t;
}

// kWidth output elements side by side that all have the same taps, for kVectors vectors of
// channels.
template <class D, int kVectors, int kWidth>
HWY_INLINE void depthwise_tile(const ConvArgs& args, const float* weights, const float* x,
                               const Taps& t0, const Taps& t1, const Taps& t2, std::int64_t channel,
                               float* y) {
  const D d;
  using V = hn::Vec<D>;
  constexpr std::int64_t kStep = kLanesOf<D>;
  const ConvExtents& e = args.extents;
  const std::int64_t channels = e.out_channels;
  V sums[kWidth][kVectors];
  for (int w = 0; w < kWidth; ++w) {
    for (int v = 0; v < kVectors; ++v) sums[w][v] = hn::Zero(d);
  }
  const std::int64_t step = e.stride[2] * args.spatial_stride[2];
  for (std::int64_t k0 = t0.first; k0 < t0.end; ++k0) {
    for (std::int64_t k1 = t1.first; k1 < t1.end; ++k1) {
      const float* row = x + (t0.start + k0 * e.dilation[0]) * args.spatial_stride[0] +
                         (t1.start + k1 * e.dilation[1]) * args.spatial_stride[1] + channel;
      const float* tap = weights + (k0 * e.kernel[1] + k1) * e.kernel[2] * channels + channel;
      for (std::int64_t k2 = t2.first; k2 < t2.end; ++k2) {
        const float* pixel = row + (t2.start + k2 * e.dilation[2]) * args.spatial_stride[2];
        for (int v = 0; v < kVectors; ++v) {
          const V weight = hn::LoadU(d, tap + k2 * channels + v * kStep);
          for (int w = 0; w < kWidth; ++w) {
            sums[w][v] = hn::MulAdd(hn::LoadU(d, pixel + w * step + v * kStep), weight, sums[w][v]);
          }
        }
      }
    }
  }
  // The bias comes last: in front, a large one would round every product that is added to it.
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t c = channel + v * kStep;
    const V bias = args.bias != nullptr ? hn::LoadU(d, args.bias + c) : hn::Zero(d);
    for (int w = 0; w < kWidth; ++w) {
      hn::StoreU(hn::Add(sums[w][v], bias), d, y + w * channels + c);
    }
  }
}

// The channels that do not fill the smallest vector.
void depthwise_rest(const ConvArgs& args, const float* weights, const float* x, const Taps& t0,
                    const Taps& t1, const Taps& t2, std::int64_t channel, float* y) {
  const ConvExtents& e = args.extents;
  for (std::int64_t c = channel; c < e.out_channels; ++c) {
    float sum = 0.0f;
    for (std::int64_t k0 = t0.first; k0 < t0.end; ++k0) {
      for (std::int64_t k1 = t1.first; k1 < t1.end; ++k1) {
        for (std::int64_t k2 = t2.first; k2 < t2.end; ++k2) {
          const float a = x[(t0.start + k0 * e.dilation[0]) * args.spatial_stride[0] +
                            (t1.start + k1 * e.dilation[1]) * args.spatial_stride[1] +
                            (t2.start + k2 * e.dilation[2]) * args.spatial_stride[2] + c];
          sum += a * weights[((k0 * e.kernel[1] + k1) * e.kernel[2] + k2) * e.out_channels + c];
        }
      }
    }
    y[c] = args.bias != nullptr ? sum + args.bias[c] : sum;
  }
}

// All channels that fill vectors, the widest first; `channel` is moved to what is left.
template <int kWidth>
HWY_INLINE void depthwise_tiles(const ConvArgs& args, const float* weights, const float* x,
                                const Taps& t0, const Taps& t1, const Taps& t2,
                                std::int64_t& channel, float* y) {
  using Half = hn::CappedTag<float, 8>;
  using Quarter = hn::CappedTag<float, 4>;
  std::int64_t& c = channel;
  const std::int64_t channels = args.extents.out_channels;
  for (; c + 4 * kLanes <= channels; c += 4 * kLanes) {
    depthwise_tile<Full, 4, kWidth>(args, weights, x, t0, t1, t2, c, y);
  }
  for (; c + kLanes <= channels; c += kLanes) {
    depthwise_tile<Full, 1, kWidth>(args, weights, x, t0, t1, t2, c, y);
  }
  for (; c + kLanesOf<Half> <= channels; c += kLanesOf<Half>) {
    depthwise_tile<Half, 1, kWidth>(args, weights, x, t0, t1, t2, c, y);
  }
  for (; c + kLanesOf<Quarter> <= channels; c += kLanesOf<Quarter>) {
    depthwise_tile<Quarter, 1, kWidth>(args, weights, x, t0, t1, t2, c, y);
  }
}

}  // namespace

// One row of outputs along the last axis, without its activation.
void depthwise_row(const ConvArgs& args, const float* weights, std::int64_t batch, std::int64_t o0,
                   std::int64_t o1, float* y) {
  const ConvExtents& e = args.extents;
  const float* x = args.x + batch * args.batch_stride;
  const Taps t0 = taps_of(e, 0, o0);
  const Taps t1 = taps_of(e, 1, o1);
  const std::int64_t channels = e.out_channels;
  const auto inside = [&](const Taps& t) { return t.first == 0 && t.end == e.kernel[2]; };
  for (std::int64_t o2 = 0; o2 < e.out[2];) {
    const Taps t2 = taps_of(e, 2, o2);
    const bool wide = o2 + 4 <= e.out[2] && inside(t2) && inside(taps_of(e, 2, o2 + 3));
    float* out = y + o2 * channels;
    std::int64_t c = 0;
    if (wide) {
      depthwise_tiles<4>(args, weights, x, t0, t1, t2, c, out);
      for (int w = 0; c < channels && w < 4; ++w) {
        depthwise_rest(args, weights, x, t0, t1, taps_of(e, 2, o2 + w), c, out + w * channels);
      }
      o2 += 4;
    } else {
      depthwise_tiles<1>(args, weights, x, t0, t1, t2, c, out);
      if (c < channels) depthwise_rest(args, weights, x, t0, t1, t2, c, out);
      ++o2;
    }
  }
}

// to[0, n) += from[0, n)
void add_row(std::int64_t n, const float* from, float* to) {
  const Full d;
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, from + i)), d, to + i);
  }
  for (; i < n; ++i) to[i] += from[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace concord::cpu {

HWY_EXPORT(depthwise_row);
HWY_EXPORT(add_row);

void add_floats(std::int64_t n, const float* from, float* to) {
  HWY_DYNAMIC_DISPATCH(add_row)(n, from, to);
}

void convolve_depthwise(const float* weights, const ConvArgs& a) {
  const ConvExtents& e = a.extents;
  const std::int64_t rows = e.batch * e.out[0] * e.out[1];
  const std::int64_t row_elements = e.out[2] * e.out_channels;
  const std::int64_t work = row_elements * e.taps();
  parallel_for(rows, 1 + 30000 / (1 + work), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      float* y = a.y + row * row_elements;
      const std::int64_t o1 = row % e.out[1];
      const std::int64_t o0 = row / e.out[1] % e.out[0];
      HWY_DYNAMIC_DISPATCH(depthwise_row)(a, weights, row / (e.out[0] * e.out[1]), o0, o1, y);
    }
  });
}

}  // namespace concord::cpu
#endif
