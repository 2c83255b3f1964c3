#include "backends/cpu/kernels/conv.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/conv_direct.h"
#include "backends/cpu/kernels/conv_internal.h"
#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {

namespace {

constexpr int kPatchSlot = 3;                    // of thread_scratch; the product uses 0 and 1
constexpr std::int64_t kBlockBytes = 192 << 10;  // of patches, to stay in L2 beside the weights
constexpr std::int64_t kSharedBytes = 4 << 20;   // of patches gathered at once
constexpr std::int64_t kEnoughChannels = 8;
constexpr std::int64_t kNarrow = 48;    // output channels that take no longer than their patches
constexpr std::int64_t kLongLine = 64;  // of outputs
constexpr std::int64_t kLongRun = 8;    // of neighbouring inputs, worth gathering into patches

// Where an output pixel's patch begins.
struct Pixel {
  std::int64_t batch;
  std::int64_t start[3];
};

Pixel pixel_of(const ConvExtents& e, std::int64_t row) {
  Pixel p;
  for (int axis = 2; axis >= 0; --axis) {
    p.start[axis] = row % e.out[axis] * e.stride[axis] - e.pad[axis];
    row /= e.out[axis];
  }
  p.batch = row;
  return p;
}

// The taps of one axis that meet the input: [first, end).
void tap_range(const ConvExtents& e, int axis, std::int64_t start, std::int64_t& first,
               std::int64_t& end) {
  const std::int64_t d = e.dilation[axis];
  first = start < 0 ? (-start + d - 1) / d : 0;
  end = e.kernel[axis];
  if (start + (end - 1) * d >= e.in[axis]) {
    end = e.in[axis] <= start ? 0 : (e.in[axis] - start + d - 1) / d;
  }
  first = std::min(first, end);
}

void zero(float* to, std::int64_t n) {
  std::memset(to, 0, static_cast<std::size_t>(n) * sizeof(float));
}

inline void copy(const float* from, float* to, std::int64_t n) {
  std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float));
}

// A patch [kernel…, channels of the group].
void gather_last(const ConvArgs& a, std::int64_t group, const Pixel& p, float* to) {
  const ConvExtents& e = a.extents;
  const std::int64_t channels = e.in_channels / e.groups;
  const std::int64_t row = e.kernel[2] * channels;
  std::int64_t f0, e0, f1, e1, f2, e2;
  tap_range(e, 0, p.start[0], f0, e0);
  tap_range(e, 1, p.start[1], f1, e1);
  tap_range(e, 2, p.start[2], f2, e2);
  const float* x = a.x + p.batch * a.batch_stride + group * channels;
  const bool run = e.dilation[2] == 1 && a.spatial_stride[2] == channels;
  for (std::int64_t k0 = 0; k0 < e.kernel[0]; ++k0) {
    for (std::int64_t k1 = 0; k1 < e.kernel[1]; ++k1, to += row) {
      if (k0 < f0 || k0 >= e0 || k1 < f1 || k1 >= e1) {
        zero(to, row);
        continue;
      }
      const float* from = x + (p.start[0] + k0 * e.dilation[0]) * a.spatial_stride[0] +
                          (p.start[1] + k1 * e.dilation[1]) * a.spatial_stride[1] +
                          p.start[2] * a.spatial_stride[2];
      zero(to, f2 * channels);
      if (run) {
        copy(from + f2 * channels, to + f2 * channels, (e2 - f2) * channels);
      } else {
        for (std::int64_t k2 = f2; k2 < e2; ++k2) {
          copy(from + k2 * e.dilation[2] * a.spatial_stride[2], to + k2 * channels, channels);
        }
      }
      zero(to + e2 * channels, row - e2 * channels);
    }
  }
}

// A patch [channels of the group, kernel…].
void gather_first(const ConvArgs& a, std::int64_t group, const Pixel& p, float* to) {
  const ConvExtents& e = a.extents;
  const std::int64_t channels = e.in_channels / e.groups;
  std::int64_t f0, e0, f1, e1, f2, e2;
  tap_range(e, 0, p.start[0], f0, e0);
  tap_range(e, 1, p.start[1], f1, e1);
  tap_range(e, 2, p.start[2], f2, e2);
  const std::int64_t step = e.dilation[2] * a.spatial_stride[2];
  for (std::int64_t c = 0; c < channels; ++c) {
    const float* x = a.x + p.batch * a.batch_stride + (group * channels + c) * a.channel_stride;
    for (std::int64_t k0 = 0; k0 < e.kernel[0]; ++k0) {
      for (std::int64_t k1 = 0; k1 < e.kernel[1]; ++k1, to += e.kernel[2]) {
        if (k0 < f0 || k0 >= e0 || k1 < f1 || k1 >= e1) {
          zero(to, e.kernel[2]);
          continue;
        }
        const float* from = x + (p.start[0] + k0 * e.dilation[0]) * a.spatial_stride[0] +
                            (p.start[1] + k1 * e.dilation[1]) * a.spatial_stride[1] +
                            p.start[2] * a.spatial_stride[2];
        for (std::int64_t k2 = 0; k2 < f2; ++k2) to[k2] = 0;
        if (step == 1) {
          for (std::int64_t k2 = f2; k2 < e2; ++k2) to[k2] = from[k2];
        } else {
          for (std::int64_t k2 = f2; k2 < e2; ++k2) to[k2] = from[k2 * step];
        }
        for (std::int64_t k2 = e2; k2 < e.kernel[2]; ++k2) to[k2] = 0;
      }
    }
  }
}

MatmulArgs product_args(const ConvArgs& a, std::int64_t group, std::int64_t row) {
  const ConvExtents& e = a.extents;
  const std::int64_t columns = e.out_channels / e.groups;
  MatmulArgs m;
  m.c = a.y + row * e.out_channels + group * columns;
  m.ldc = e.out_channels;
  m.epilogue.bias = a.bias != nullptr ? a.bias + group * columns : nullptr;
  m.epilogue.activation = a.activation;
  if (a.residual != nullptr) {
    m.epilogue.residual = a.residual + row * e.out_channels + group * columns;
    m.epilogue.residual_stride = e.out_channels;
  }
  return m;
}

// A product over the input as it lies: a kernel of one tap on every pixel.
bool is_pointwise(const ConvArgs& a) {
  const ConvExtents& e = a.extents;
  std::int64_t expected = e.in_channels;
  for (int axis = 2; axis >= 0; --axis) {
    if (e.kernel[axis] != 1 || e.stride[axis] != 1 || e.pad[axis] != 0) return false;
    if (e.in[axis] == 1) continue;
    if (a.spatial_stride[axis] != expected) return false;
    expected *= e.in[axis];
  }
  return e.batch == 1 || a.batch_stride == expected;
}

void multiply_patches(const std::vector<PackedWeights>& weights, bool last, const ConvArgs& a) {
  const ConvExtents& e = a.extents;
  const std::int64_t rows = e.batch * e.out_pixels();
  const std::int64_t depth = e.taps() * (e.in_channels / e.groups);
  const auto gather = [&](std::int64_t group, std::int64_t row, float* to) {
    const Pixel p = pixel_of(e, row);
    if (last) {
      gather_last(a, group, p, to);
    } else {
      gather_first(a, group, p, to);
    }
  };
  const std::int64_t row_bytes = std::max<std::int64_t>(1, depth) * 4;
  const auto cost = static_cast<double>(rows * e.out_channels) * static_cast<double>(depth) / 40;
  const std::int64_t block = std::clamp<std::int64_t>(kBlockBytes / row_bytes / 6 * 6, 12, 240);
  const std::int64_t blocks = (rows + block - 1) / block;
  if (blocks < 2 * current_threads() && rows * row_bytes <= kSharedBytes && e.groups == 1) {
    // Few pixels: the threads share the weights' columns rather than the pixels.
    auto* patches = reinterpret_cast<float*>(
        thread_scratch(static_cast<std::size_t>(rows * row_bytes), kPatchSlot));
    parallel_for(rows, 1 + 20000 / (1 + depth), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) gather(0, row, patches + row * depth);
    });
    MatmulArgs m = product_args(a, 0, 0);
    m.rows = rows;
    m.a = patches;
    m.lda = depth;
    matmul(weights[0], m);
    return;
  }
  parallel_dynamic(blocks * e.groups, cost, [&](std::int64_t item) {
    const std::int64_t group = item % e.groups;
    const std::int64_t begin = item / e.groups * block;
    const std::int64_t count = std::min(block, rows - begin);
    auto* patches = reinterpret_cast<float*>(
        thread_scratch(static_cast<std::size_t>(block * row_bytes), kPatchSlot));
    for (std::int64_t i = 0; i < count; ++i) gather(group, begin + i, patches + i * depth);
    MatmulArgs m = product_args(a, group, begin);
    m.rows = count;
    m.a = patches;
    m.lda = depth;
    matmul(weights[static_cast<std::size_t>(group)], m);
  });
}

ElementOp element_op(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return ElementOp::relu;
    case Activation::gelu_erf:
      return ElementOp::gelu_erf;
    case Activation::gelu_tanh:
      return ElementOp::gelu_tanh;
    case Activation::quick_gelu:
      return ElementOp::quick_gelu;
    case Activation::silu:
      return ElementOp::silu;
    case Activation::tanh:
      return ElementOp::tanh;
    case Activation::sigmoid:
      return ElementOp::sigmoid;
    case Activation::none:
      break;
  }
  return ElementOp::copy;
}

// Activation and residual over finished sums.
void finish_rows(const ConvArgs& a) {
  if (a.activation == Activation::none && a.residual == nullptr) return;
  const ConvExtents& e = a.extents;
  const std::int64_t rows = e.batch * e.out[0] * e.out[1];
  const std::int64_t width = e.out[2] * e.out_channels;
  parallel_for(rows, 1 + 10000 / (1 + width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      float* y = a.y + row * width;
      if (a.activation != Activation::none) unary(element_op(a.activation), width, y, y);
      if (a.residual != nullptr) {
        add_floats(width, a.residual + row * width, y);
      }
    }
  });
}

}  // namespace

PackedFilter PackedFilter::pack(const ConvExtents& e, const float* weights, Element storage) {
  PackedFilter filter;
  const std::int64_t channels = e.in_channels / e.groups;
  const std::int64_t taps = e.taps();
  if (e.depthwise()) {
    filter.channels_last_ = true;
    filter.depthwise_ = AlignedBuffer(static_cast<std::size_t>(taps * e.out_channels) * 4);
    auto* to = filter.depthwise_.as<float>();
    for (std::int64_t c = 0; c < e.out_channels; ++c) {
      for (std::int64_t t = 0; t < taps; ++t) to[t * e.out_channels + c] = weights[c * taps + t];
    }
    return filter;
  }
  filter.channels_last_ = channels >= kEnoughChannels || taps == 1;
  const bool narrow =
      filter.channels_last_ && taps > 1 && e.out_channels <= kNarrow && storage == Element::f32;
  const bool first_layer = !filter.channels_last_ && e.kernel[2] < kLongRun;
  const std::int64_t columns = e.out_channels / e.groups;
  const std::int64_t depth = taps * channels;
  std::vector<float> turned;
  for (std::int64_t g = 0; g < e.groups; ++g) {
    const float* from = weights + g * columns * depth;
    if (filter.channels_last_ && taps > 1) {
      turned.resize(static_cast<std::size_t>(columns * depth));
      for (std::int64_t m = 0; m < columns; ++m) {
        for (std::int64_t c = 0; c < channels; ++c) {
          for (std::int64_t t = 0; t < taps; ++t) {
            turned[static_cast<std::size_t>(m * depth + t * channels + c)] =
                from[m * depth + c * taps + t];
          }
        }
      }
      from = turned.data();
    }
    if (e.groups == 1 && (narrow || first_layer)) {
      filter.direct_ = pack_direct(columns, depth, from);
      if (first_layer) return filter;
    }
    filter.groups_.push_back(
        PackedWeights::pack(MatrixView{from, Element::f32, depth, columns, 1, depth}, storage));
  }
  return filter;
}

std::int64_t PackedFilter::bytes() const {
  auto sum = static_cast<std::int64_t>(depthwise_.size() + direct_.size());
  for (const PackedWeights& w : groups_) sum += static_cast<std::int64_t>(w.bytes());
  return sum;
}

void convolve(const PackedFilter& filter, const ConvArgs& args) {
  const ConvExtents& e = args.extents;
  if (e.batch * e.out_pixels() * e.out_channels == 0) return;
  if (filter.depthwise_.size() != 0) {
    convolve_depthwise(filter.depthwise_.as<float>(), args);
    finish_rows(args);
    return;
  }
  // Narrow products pay for patches only along short lines, most of which are borders.
  if (filter.direct_.size() != 0 && (filter.groups_.empty() || e.out[2] >= kLongLine)) {
    convolve_direct(filter.direct_.as<float>(), filter.channels_last_, args);
    finish_rows(args);
    return;
  }
  if (!filter.channels_last_ || !is_pointwise(args)) {
    multiply_patches(filter.groups_, filter.channels_last_, args);
    return;
  }
  for (std::int64_t g = 0; g < e.groups; ++g) {
    MatmulArgs m = product_args(args, g, 0);
    m.rows = e.batch * e.out_pixels();
    m.a = args.x + g * (e.in_channels / e.groups);
    m.lda = e.in_channels;
    matmul(filter.groups_[static_cast<std::size_t>(g)], m);
  }
}

}  // namespace concord::cpu
