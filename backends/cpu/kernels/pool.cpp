#include "backends/cpu/kernels/pool.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "backends/cpu/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/pool.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
constexpr D kTag;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

// a + b, or the larger of the two: NaN if either is NaN.
template <bool kMax, class V>
HWY_INLINE V joined(V a, V b) {
  if constexpr (!kMax) return hn::Add(a, b);
  return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
}

// Channels [c, c + kVectors · lanes) of one output pixel, over its taps.
template <bool kMax, int kVectors>
HWY_INLINE void pool_vectors(const float* x, std::span<const std::int64_t> taps, std::int64_t c,
                             float* y) {
  hn::Vec<D> sums[kVectors];
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::LoadU(kTag, y + c + v * kLanes);
  for (const std::int64_t tap : taps) {
    for (int v = 0; v < kVectors; ++v) {
      sums[v] = joined<kMax>(sums[v], hn::LoadU(kTag, x + tap + c + v * kLanes));
    }
  }
  for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[v], kTag, y + c + v * kLanes);
}

template <bool kMax>
void pool_channels(std::int64_t channels, const float* x, std::span<const std::int64_t> taps,
                   float* y) {
  std::int64_t c = 0;
  for (; c + 4 * kLanes <= channels; c += 4 * kLanes) pool_vectors<kMax, 4>(x, taps, c, y);
  for (; c + kLanes <= channels; c += kLanes) pool_vectors<kMax, 1>(x, taps, c, y);
  for (; c < channels; ++c) {
    for (const std::int64_t tap : taps) {
      const float next = x[tap + c];
      if constexpr (kMax) {
        y[c] = y[c] > next || y[c] != y[c] ? y[c] : next;
      } else {
        y[c] += next;
      }
    }
  }
}

}  // namespace

// y = the sum, or the largest (NaN if one is NaN), of what it holds and the taps of its pixel,
// which lie at these offsets from x.
void pool_add(std::int64_t channels, const float* x, std::span<const std::int64_t> taps, float* y) {
  pool_channels<false>(channels, x, taps, y);
}
void pool_max(std::int64_t channels, const float* x, std::span<const std::int64_t> taps, float* y) {
  pool_channels<true>(channels, x, taps, y);
}

// to = factor · from (first) or to + factor · from.
void scaled_row(std::int64_t n, float factor, const float* from, float* to, bool first) {
  const auto f = hn::Set(kTag, factor);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const auto x = hn::LoadU(kTag, from + i);
    hn::StoreU(first ? hn::Mul(x, f) : hn::MulAdd(x, f, hn::LoadU(kTag, to + i)), kTag, to + i);
  }
  for (; i < n; ++i) to[i] = first ? factor * from[i] : to[i] + factor * from[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace concord::cpu {

HWY_EXPORT(pool_add);
HWY_EXPORT(pool_max);
HWY_EXPORT(scaled_row);

namespace {

// The taps of one output element along an axis: [first, end) meet the input; `padded` of them lie
// within the input and its padding.
struct AxisTaps {
  std::int64_t start, first, end, padded;
};

AxisTaps axis_taps(const ConvExtents& e, int axis, std::int64_t o, std::int64_t pad_end) {
  AxisTaps t;
  const std::int64_t d = e.dilation[axis];
  t.start = o * e.stride[axis] - e.pad[axis];
  t.first = t.start < 0 ? (-t.start + d - 1) / d : 0;
  const auto below = [&](std::int64_t limit) {
    return std::clamp<std::int64_t>((limit - t.start + d - 1) / d, 0, e.kernel[axis]);
  };
  t.end = e.in[axis] <= t.start ? 0 : below(e.in[axis]);
  t.first = std::min(t.first, t.end);
  t.padded = below(e.in[axis] + pad_end);
  return t;
}

template <typename Visit>
void for_each_tap(const ConvExtents& e, const AxisTaps (&t)[3], const std::int64_t* stride,
                  Visit visit) {
  for (std::int64_t k0 = t[0].first; k0 < t[0].end; ++k0) {
    for (std::int64_t k1 = t[1].first; k1 < t[1].end; ++k1) {
      for (std::int64_t k2 = t[2].first; k2 < t[2].end; ++k2) {
        visit((t[0].start + k0 * e.dilation[0]) * stride[0] +
              (t[1].start + k1 * e.dilation[1]) * stride[1] +
              (t[2].start + k2 * e.dilation[2]) * stride[2]);
      }
    }
  }
}

std::int64_t divisor(const PoolArgs& a, const AxisTaps (&t)[3]) {
  std::int64_t count = 1;
  for (const AxisTaps& axis : t) {
    count *= a.count_include_pad ? axis.padded : axis.end - axis.first;
  }
  return std::max<std::int64_t>(1, count);
}

float power(float x, double p) {
  if (p == 1) return std::abs(x);
  if (p == 2) return x * x;
  return std::pow(std::abs(x), static_cast<float>(p));
}

float root(float x, double p) {
  if (p == 1) return x;
  if (p == 2) return std::sqrt(x);
  return std::pow(x, static_cast<float>(1 / p));
}

// All channels of one output pixel, side by side.
void pool_pixel(const PoolArgs& a, const float* x, const AxisTaps (&t)[3], float* y) {
  const ConvExtents& e = a.extents;
  const std::int64_t channels = e.in_channels;
  std::fill_n(y, channels, a.op == PoolOp::max ? -std::numeric_limits<float>::infinity() : 0.0f);
  constexpr std::size_t kTaps = 64;  // handed over at once
  std::array<std::int64_t, kTaps> taps;
  std::size_t count = 0;
  const auto flush = [&] {
    const std::span<const std::int64_t> found(taps.data(), count);
    count = 0;
    if (a.op == PoolOp::max) {
      HWY_DYNAMIC_DISPATCH(pool_max)(channels, x, found, y);
    } else {
      HWY_DYNAMIC_DISPATCH(pool_add)(channels, x, found, y);
    }
  };
  for_each_tap(e, t, a.spatial_stride, [&](std::int64_t offset) {
    if (a.op == PoolOp::lp) {
      for (std::int64_t c = 0; c < channels; ++c) y[c] += power(x[offset + c], a.p);
      return;
    }
    taps[count++] = offset;
    if (count == kTaps) flush();
  });
  if (count > 0) flush();
  if (a.op == PoolOp::average) {
    const auto elements = static_cast<float>(divisor(a, t));
    for (std::int64_t c = 0; c < channels; ++c) y[c] /= elements;
  } else if (a.op == PoolOp::lp) {
    for (std::int64_t c = 0; c < channels; ++c) y[c] = root(y[c], a.p);
  }
}

// One output element of one channel.
float pool_element(const PoolArgs& a, const float* x, const AxisTaps (&t)[3]) {
  float value = a.op == PoolOp::max ? -std::numeric_limits<float>::infinity() : 0.0f;
  for_each_tap(a.extents, t, a.spatial_stride, [&](std::int64_t offset) {
    const float next = x[offset];
    if (a.op == PoolOp::max) {
      value = value > next || value != value ? value : next;
    } else {
      value += a.op == PoolOp::average ? next : power(next, a.p);
    }
  });
  if (a.op == PoolOp::average) return value / static_cast<float>(divisor(a, t));
  return a.op == PoolOp::lp ? root(value, a.p) : value;
}

}  // namespace

void pool(const PoolArgs& a) {
  const ConvExtents& e = a.extents;
  const bool last = a.channel_stride == 1 || e.in_channels == 1;
  const std::int64_t planes = last ? e.batch : e.batch * e.in_channels;
  const std::int64_t lines = planes * e.out[0] * e.out[1];  // of outputs along the last axis
  const std::int64_t width = last ? e.in_channels : 1;
  const std::int64_t work = e.out[2] * e.taps() * width;
  parallel_for(lines, 1 + (last ? 20000 : 4000) / (1 + work),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t line = begin; line < end; ++line) {
                   const std::int64_t plane = line / (e.out[0] * e.out[1]);
                   const float* x = last ? a.x + plane * a.batch_stride
                                         : a.x + plane / e.in_channels * a.batch_stride +
                                               plane % e.in_channels * a.channel_stride;
                   AxisTaps t[3];
                   t[0] = axis_taps(e, 0, line / e.out[1] % e.out[0], a.pad_end[0]);
                   t[1] = axis_taps(e, 1, line % e.out[1], a.pad_end[1]);
                   float* y = a.y + line * e.out[2] * width;
                   for (std::int64_t o = 0; o < e.out[2]; ++o) {
                     t[2] = axis_taps(e, 2, o, a.pad_end[2]);
                     if (last) {
                       pool_pixel(a, x, t, y + o * width);
                     } else {
                       y[o] = pool_element(a, x, t);
                     }
                   }
                 }
               });
}

template <typename T>
void max_pool_indexed(const ConvExtents& e, const T* x, T* y, std::int64_t* indices,
                      bool column_major) {
  const std::int64_t stride[3] = {e.in[1] * e.in[2], e.in[2], 1};
  const std::int64_t planes = e.batch * e.in_channels;
  parallel_for(
      planes, 1 + 4000 / (1 + e.out_pixels() * e.taps()),
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin * e.out_pixels(); row < end * e.out_pixels(); ++row) {
          const std::int64_t plane = row / e.out_pixels();
          const T* from = x + plane * e.in_pixels();
          const AxisTaps t[3] = {axis_taps(e, 0, row / (e.out[1] * e.out[2]) % e.out[0], 0),
                                 axis_taps(e, 1, row / e.out[2] % e.out[1], 0),
                                 axis_taps(e, 2, row % e.out[2], 0)};
          std::int64_t best = -1;
          for_each_tap(e, t, stride, [&](std::int64_t offset) {
            if (best < 0 || from[offset] > from[best]) best = offset;
          });
          y[row] = best >= 0 ? from[best] : std::numeric_limits<T>::lowest();
          if (indices == nullptr) continue;
          if (column_major && best >= 0) {
            const std::int64_t i[3] = {best / stride[0], best / stride[1] % e.in[1],
                                       best % e.in[2]};
            best = i[0] + e.in[0] * (i[1] + e.in[1] * i[2]);
          }
          indices[row] = plane * e.in_pixels() + best;
        }
      });
}

template void max_pool_indexed(const ConvExtents&, const float*, float*, std::int64_t*, bool);
template void max_pool_indexed(const ConvExtents&, const double*, double*, std::int64_t*, bool);
template void max_pool_indexed(const ConvExtents&, const std::int8_t*, std::int8_t*, std::int64_t*,
                               bool);
template void max_pool_indexed(const ConvExtents&, const std::uint8_t*, std::uint8_t*,
                               std::int64_t*, bool);

void resample_nearest(std::span<const NearestAxis> axes, const float* x, float* y, float outside) {
  // The innermost resampled axis is walked along lines; what lies within it is copied whole.
  std::size_t last = axes.size();
  while (last > 0 && axes[last - 1].index == nullptr) --last;
  std::int64_t inner = 1;
  for (std::size_t a = last; a < axes.size(); ++a) inner *= axes[a].in;
  if (last == 0) {
    std::memcpy(y, x, static_cast<std::size_t>(inner) * 4);
    return;
  }
  const NearestAxis& line_axis = axes[last - 1];
  std::int64_t lines = 1;
  for (std::size_t a = 0; a + 1 < last; ++a) lines *= axes[a].out;
  const std::int64_t width = line_axis.out * inner;
  parallel_for(lines, 1 + 20000 / (1 + width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      std::int64_t offset = 0;
      std::int64_t stride = line_axis.in * inner;
      std::int64_t rest = line;
      bool inside = true;
      for (std::size_t a = last - 1; a-- > 0;) {
        const std::int64_t o = rest % axes[a].out;
        rest /= axes[a].out;
        const std::int64_t i = axes[a].index != nullptr ? axes[a].index[o] : o;
        inside = inside && i >= 0;
        offset += i * stride;
        stride *= axes[a].in;
      }
      float* to = y + line * width;
      if (!inside) {
        std::fill_n(to, width, outside);
        continue;
      }
      const float* from = x + offset;
      for (std::int64_t o = 0; o < line_axis.out; ++o) {
        const std::int64_t i = line_axis.index[o];
        if (inner == 1) {
          to[o] = i < 0 ? outside : from[i];
        } else if (i < 0) {
          std::fill_n(to + o * inner, inner, outside);
        } else {
          std::memcpy(to + o * inner, from + i * inner, static_cast<std::size_t>(inner) * 4);
        }
      }
    }
  });
}

void resample(const ResampleAxis& axis, std::int64_t outer, std::int64_t inner, const float* x,
              float* y) {
  parallel_for(outer * axis.out, 1 + 10000 / (1 + inner * axis.taps),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   const std::int64_t i = row % axis.out;
                   const float* from = x + row / axis.out * axis.in * inner;
                   float* to = y + row * inner;
                   const std::int32_t* index = axis.index + i * axis.taps;
                   const float* weight = axis.weight + i * axis.taps;
                   if (index[0] < 0) {
                     std::fill_n(to, inner, axis.outside);
                   } else if (axis.taps == 1) {
                     std::memcpy(to, from + index[0] * inner, static_cast<std::size_t>(inner) * 4);
                   } else if (inner == 1) {
                     float sum = 0;
                     for (int t = 0; t < axis.taps; ++t) sum += weight[t] * from[index[t]];
                     to[0] = sum;
                   } else {
                     for (int t = 0; t < axis.taps; ++t) {
                       HWY_DYNAMIC_DISPATCH(scaled_row)
                       (inner, weight[t], from + index[t] * inner, to, t == 0);
                     }
                   }
                 }
               });
}

}  // namespace concord::cpu
#endif
