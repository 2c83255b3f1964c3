// Patches: what an output pixel of a convolution reads, gathered block by block in front of a
// product. For floats and bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/cpu/kernels/conv.h"
#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {

// The input of a convolution, by strides in elements.
template <typename T>
struct PatchSource {
  const ConvExtents* extents = nullptr;
  const T* x = nullptr;
  std::int64_t batch_stride = 0, channel_stride = 0;
  const std::int64_t* spatial_stride = nullptr;  // [3]
  T outside{};                                   // what the padding holds
  std::int64_t size = 0;                         // elements from x to the end of the input
};

// Where an output pixel's patch begins.
struct Pixel {
  std::int64_t batch;
  std::int64_t start[3];
};

inline Pixel pixel_of(const ConvExtents& e, std::int64_t row) {
  Pixel p;
  for (int axis = 2; axis >= 0; --axis) {
    p.start[axis] = row % e.out[axis] * e.stride[axis] - e.pad[axis];
    row /= e.out[axis];
  }
  p.batch = row;
  return p;
}

// The taps of one axis that meet the input: [first, end).
inline void tap_range(const ConvExtents& e, int axis, std::int64_t start, std::int64_t& first,
                      std::int64_t& end) {
  const std::int64_t d = e.dilation[axis];
  first = start < 0 ? (-start + d - 1) / d : 0;
  end = e.kernel[axis];
  if (start + (end - 1) * d >= e.in[axis]) {
    end = e.in[axis] <= start ? 0 : (e.in[axis] - start + d - 1) / d;
  }
  first = std::min(first, end);
}

template <typename T>
void copy_elements(const T* from, T* to, std::int64_t n) {
  std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
}

// A patch [kernel…, channels of the group] of an input whose channel stride is 1.
template <typename T>
void gather_last(const PatchSource<T>& a, std::int64_t group, const Pixel& p, T* to) {
  const ConvExtents& e = *a.extents;
  const std::int64_t channels = e.in_channels / e.groups;
  const std::int64_t row = e.kernel[2] * channels;
  std::int64_t f0, e0, f1, e1, f2, e2;
  tap_range(e, 0, p.start[0], f0, e0);
  tap_range(e, 1, p.start[1], f1, e1);
  tap_range(e, 2, p.start[2], f2, e2);
  const T* x = a.x + p.batch * a.batch_stride + group * channels;
  const bool run = e.dilation[2] == 1 && a.spatial_stride[2] == channels;
  for (std::int64_t k0 = 0; k0 < e.kernel[0]; ++k0) {
    for (std::int64_t k1 = 0; k1 < e.kernel[1]; ++k1, to += row) {
      if (k0 < f0 || k0 >= e0 || k1 < f1 || k1 >= e1) {
        std::fill_n(to, row, a.outside);
        continue;
      }
      const T* from = x + (p.start[0] + k0 * e.dilation[0]) * a.spatial_stride[0] +
                      (p.start[1] + k1 * e.dilation[1]) * a.spatial_stride[1] +
                      p.start[2] * a.spatial_stride[2];
      std::fill_n(to, f2 * channels, a.outside);
      if (run) {
        copy_elements(from + f2 * channels, to + f2 * channels, (e2 - f2) * channels);
      } else {
        for (std::int64_t k2 = f2; k2 < e2; ++k2) {
          copy_elements(from + k2 * e.dilation[2] * a.spatial_stride[2], to + k2 * channels,
                        channels);
        }
      }
      std::fill_n(to + e2 * channels, row - e2 * channels, a.outside);
    }
  }
}

// Runs of at most 8 bytes are copied as 8 where the patch has room: what is written too much, the
// next run overwrites.
constexpr std::int64_t kShortRun = 8;

// A patch [channels of the group, kernel…] of bytes that lies wholly within the input, its runs
// along the last axis, each of kernel[2] bytes; no stride is negative. False if it may not be read
// so.
inline bool gather_short_runs(const PatchSource<std::byte>& a, std::int64_t group, const Pixel& p,
                              std::byte* to) {
  const ConvExtents& e = *a.extents;
  if (e.kernel[2] > kShortRun || e.dilation[2] * a.spatial_stride[2] != 1) return false;
  std::int64_t last = 0;  // offset of the last run from the first
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t reach = (e.kernel[axis] - 1) * e.dilation[axis];
    if (p.start[axis] < 0 || p.start[axis] + reach >= e.in[axis]) return false;
    if (axis < 2) last += reach * a.spatial_stride[axis];
  }
  const std::int64_t channels = e.in_channels / e.groups;
  last += (channels - 1) * a.channel_stride;
  std::int64_t first = p.batch * a.batch_stride + group * channels * a.channel_stride;
  for (int axis = 0; axis < 3; ++axis) first += p.start[axis] * a.spatial_stride[axis];
  if (first + last + kShortRun > a.size) return false;
  // Bytes may alias anything: what the loops need is held in locals.
  const std::int64_t k0_count = e.kernel[0], k1_count = e.kernel[1], run = e.kernel[2];
  const std::int64_t k0_step = e.dilation[0] * a.spatial_stride[0];
  const std::int64_t k1_step = e.dilation[1] * a.spatial_stride[1];
  const std::int64_t channel_step = a.channel_stride;
  const std::byte* x = a.x + first;
  const std::byte* const end = to + channels * k0_count * k1_count * run;
  for (std::int64_t c = 0; c < channels; ++c, x += channel_step) {
    for (std::int64_t k0 = 0; k0 < k0_count; ++k0) {
      const std::byte* from = x + k0 * k0_step;
      for (std::int64_t k1 = 0; k1 < k1_count; ++k1, from += k1_step, to += run) {
        if (end - to >= kShortRun) {
          std::memcpy(to, from, kShortRun);
        } else {
          std::memcpy(to, from, static_cast<std::size_t>(run));
        }
      }
    }
  }
  return true;
}

// A patch [channels of the group, kernel…].
template <typename T>
void gather_first(const PatchSource<T>& a, std::int64_t group, const Pixel& p, T* to) {
  const ConvExtents& e = *a.extents;
  const std::int64_t channels = e.in_channels / e.groups;
  std::int64_t f0, e0, f1, e1, f2, e2;
  tap_range(e, 0, p.start[0], f0, e0);
  tap_range(e, 1, p.start[1], f1, e1);
  tap_range(e, 2, p.start[2], f2, e2);
  const std::int64_t step = e.dilation[2] * a.spatial_stride[2];
  for (std::int64_t c = 0; c < channels; ++c) {
    const T* x = a.x + p.batch * a.batch_stride + (group * channels + c) * a.channel_stride;
    for (std::int64_t k0 = 0; k0 < e.kernel[0]; ++k0) {
      for (std::int64_t k1 = 0; k1 < e.kernel[1]; ++k1, to += e.kernel[2]) {
        if (k0 < f0 || k0 >= e0 || k1 < f1 || k1 >= e1) {
          std::fill_n(to, e.kernel[2], a.outside);
          continue;
        }
        const T* from = x + (p.start[0] + k0 * e.dilation[0]) * a.spatial_stride[0] +
                        (p.start[1] + k1 * e.dilation[1]) * a.spatial_stride[1] +
                        p.start[2] * a.spatial_stride[2];
        for (std::int64_t k2 = 0; k2 < f2; ++k2) to[k2] = a.outside;
        if (step == 1) {
          for (std::int64_t k2 = f2; k2 < e2; ++k2) to[k2] = from[k2];
        } else {
          for (std::int64_t k2 = f2; k2 < e2; ++k2) to[k2] = from[k2 * step];
        }
        for (std::int64_t k2 = e2; k2 < e.kernel[2]; ++k2) to[k2] = a.outside;
      }
    }
  }
}

// Whether patches are gathered channels last: where there are channels enough to make runs.
inline bool gathers_channels_last(const ConvExtents& e) {
  constexpr std::int64_t kEnoughChannels = 8;
  return e.in_channels / e.groups >= kEnoughChannels || e.taps() == 1;
}

// A product over the input as it lies, which is channels last: a kernel of one tap on every pixel.
template <typename T>
bool is_pointwise(const PatchSource<T>& a) {
  const ConvExtents& e = *a.extents;
  std::int64_t expected = e.in_channels;
  for (int axis = 2; axis >= 0; --axis) {
    if (e.kernel[axis] != 1 || e.stride[axis] != 1 || e.pad[axis] != 0) return false;
    if (e.out[axis] != e.in[axis]) return false;  // padding behind the end
    if (e.in[axis] == 1) continue;
    if (a.spatial_stride[axis] != expected) return false;
    expected *= e.in[axis];
  }
  return e.batch == 1 || a.batch_stride == expected;
}

// Elements from one patch to the next: whole groups of four bytes, which products of bytes read.
template <typename T>
std::int64_t patch_stride(const ConvExtents& e) {
  const std::int64_t depth = e.taps() * (e.in_channels / e.groups);
  return sizeof(T) == 1 ? (depth + 3) / 4 * 4 : depth;
}

// Calls multiply(group, first, rows, patches) for all output pixels, whose patches lie
// patch_stride() apart, zeros between them. `per_nanosecond`: multiplications that a product makes
// in one.
template <typename T, typename Multiply>
void for_patches(const PatchSource<T>& source, bool last, double per_nanosecond,
                 Multiply&& multiply) {
  constexpr int kPatchSlot = 3;                    // of thread_scratch; products use the others
  constexpr std::int64_t kBlockBytes = 192 << 10;  // of patches, to stay in L2 beside the weights
  constexpr std::int64_t kSharedBytes = 4 << 20;   // of patches gathered at once
  const ConvExtents& e = *source.extents;
  const std::int64_t rows = e.batch * e.out_pixels();
  const std::int64_t depth = e.taps() * (e.in_channels / e.groups);
  const std::int64_t stride = patch_stride<T>(e);
  const auto gather = [&](std::int64_t group, std::int64_t row, T* to) {
    const Pixel p = pixel_of(e, row);
    std::fill(to + depth, to + stride, T{});
    if (last) {
      gather_last(source, group, p, to);
    } else {
      if constexpr (sizeof(T) == 1) {
        if (gather_short_runs(source, group, p, to)) return;
      }
      gather_first(source, group, p, to);
    }
  };
  const std::int64_t row_bytes =
      std::max<std::int64_t>(1, stride) * static_cast<std::int64_t>(sizeof(T));
  const auto cost =
      static_cast<double>(rows * e.out_channels) * static_cast<double>(depth) / per_nanosecond;
  const std::int64_t block = std::clamp<std::int64_t>(kBlockBytes / row_bytes / 6 * 6, 12, 240);
  const std::int64_t blocks = (rows + block - 1) / block;
  if (blocks < 2 * current_threads() && rows * row_bytes <= kSharedBytes && e.groups == 1) {
    // Few pixels: the threads share the weights' columns rather than the pixels.
    auto* patches = reinterpret_cast<T*>(
        thread_scratch(static_cast<std::size_t>(rows * row_bytes), kPatchSlot));
    parallel_for(rows, 1 + 20000 / (1 + depth), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) gather(0, row, patches + row * stride);
    });
    multiply(0, 0, rows, patches);
    return;
  }
  parallel_dynamic(blocks * e.groups, cost, [&](std::int64_t item) {
    const std::int64_t group = item % e.groups;
    const std::int64_t begin = item / e.groups * block;
    const std::int64_t count = std::min(block, rows - begin);
    auto* patches = reinterpret_cast<T*>(
        thread_scratch(static_cast<std::size_t>(block * row_bytes), kPatchSlot));
    for (std::int64_t i = 0; i < count; ++i) gather(group, begin + i, patches + i * stride);
    multiply(group, begin, count, patches);
  });
}

}  // namespace concord::cpu
