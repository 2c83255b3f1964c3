#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/conv_internal.h"
#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {

namespace {

// Kernels that neither overlap nor leave gaps: every output has one product.
bool is_tiling(const ConvExtents& e) {
  for (int axis = 0; axis < 3; ++axis) {
    if (e.stride[axis] != e.kernel[axis] || e.pad[axis] != 0) return false;
    if (e.dilation[axis] != 1 && e.kernel[axis] != 1) return false;
    if (e.out[axis] != e.in[axis] * e.stride[axis]) return false;
  }
  return true;
}

void spread_columns(const ConvExtents& e, const float* columns, std::int64_t channels,
                    const float* bias, float* y, std::int64_t y_channel_stride) {
  const std::int64_t lines = e.batch * e.out[0] * e.out[1];
  const std::int64_t taps = e.taps();
  const std::int64_t width = e.kernel[2] * channels;  // of neighbouring outputs in one column
  parallel_for(
      lines, 1 + 20000 / (1 + e.out[2] * channels), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t line = begin; line < end; ++line) {
          const std::int64_t o1 = line % e.out[1];
          const std::int64_t o0 = line / e.out[1] % e.out[0];
          const std::int64_t batch = line / (e.out[1] * e.out[0]);
          const std::int64_t pixel =
              ((batch * e.in[0] + o0 / e.stride[0]) * e.in[1] + o1 / e.stride[1]) * e.in[2];
          const std::int64_t tap =
              (o0 % e.stride[0] * e.kernel[1] + o1 % e.stride[1]) * e.kernel[2];
          const float* from = columns + (pixel * taps + tap) * channels;
          float* to = y + line * e.out[2] * y_channel_stride;
          for (std::int64_t i = 0; i < e.in[2]; ++i, from += taps * channels) {
            if (y_channel_stride == channels) {
              std::copy_n(from, width, to);
              to += width;
              continue;
            }
            for (std::int64_t k = 0; k < e.kernel[2]; ++k, to += y_channel_stride) {
              std::copy_n(from + k * channels, channels, to);
            }
          }
          if (bias == nullptr) continue;
          to = y + line * e.out[2] * y_channel_stride;
          if (channels == 1) {
            for (std::int64_t i = 0; i < e.out[2]; ++i) to[i * y_channel_stride] += bias[0];
            continue;
          }
          for (std::int64_t i = 0; i < e.out[2]; ++i, to += y_channel_stride) {
            add_floats(channels, bias, to);
          }
        }
      });
}

}  // namespace

void sum_columns(const ConvExtents& e, const float* columns, std::int64_t channels,
                 const float* bias, float* y, std::int64_t y_channel_stride) {
  if (is_tiling(e)) {
    spread_columns(e, columns, channels, bias, y, y_channel_stride);
    return;
  }
  const std::int64_t pixels = e.out_pixels();
  const std::int64_t taps = e.taps();
  // The input that meets output o at tap k, if there is one.
  const auto input_of = [&](int axis, std::int64_t o, std::int64_t k, std::int64_t& i) {
    const std::int64_t at = o + e.pad[axis] - k * e.dilation[axis];
    if (at < 0 || at % e.stride[axis] != 0) return false;
    i = at / e.stride[axis];
    return i < e.in[axis];
  };
  parallel_for(e.batch * pixels, 1 + 20000 / (1 + channels * taps),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   float* to = y + row * y_channel_stride;
                   std::fill_n(to, channels, 0.0f);
                   const std::int64_t o2 = row % e.out[2];
                   const std::int64_t o1 = row / e.out[2] % e.out[1];
                   const std::int64_t o0 = row / (e.out[2] * e.out[1]) % e.out[0];
                   const std::int64_t batch = row / pixels;
                   std::int64_t i0, i1, i2;
                   for (std::int64_t k0 = 0; k0 < e.kernel[0]; ++k0) {
                     if (!input_of(0, o0, k0, i0)) continue;
                     for (std::int64_t k1 = 0; k1 < e.kernel[1]; ++k1) {
                       if (!input_of(1, o1, k1, i1)) continue;
                       for (std::int64_t k2 = 0; k2 < e.kernel[2]; ++k2) {
                         if (!input_of(2, o2, k2, i2)) continue;
                         const std::int64_t pixel =
                             ((batch * e.in[0] + i0) * e.in[1] + i1) * e.in[2] + i2;
                         const std::int64_t tap = (k0 * e.kernel[1] + k1) * e.kernel[2] + k2;
                         add_floats(channels, columns + (pixel * taps + tap) * channels, to);
                       }
                     }
                   }
                   if (bias != nullptr) add_floats(channels, bias, to);
                 }
               });
}

}  // namespace concord::cpu
