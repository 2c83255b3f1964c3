#include "backends/cpu/kernels/conv.h"

#include <algorithm>

#include "backends/cpu/kernels/conv_direct.h"
#include "backends/cpu/kernels/conv_internal.h"
#include "backends/cpu/kernels/conv_patches.h"
#include "backends/cpu/kernels/conv_taps.h"
#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/matmul_internal.h"
#include "backends/cpu/kernels/parallel.h"

namespace concord::cpu {

namespace {

constexpr std::int64_t kNarrow = 48;    // output channels that take no longer than their patches
constexpr std::int64_t kLongLine = 64;  // of outputs
constexpr std::int64_t kLongRun = 8;    // of neighbouring inputs, worth gathering into patches

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

void multiply_patches(const std::vector<PackedWeights>& weights, bool last,
                      const PatchSource<float>& source, const ConvArgs& a) {
  const std::int64_t depth = a.extents.taps() * (a.extents.in_channels / a.extents.groups);
  for_patches(source, last, 40,
              [&](std::int64_t group, std::int64_t row, std::int64_t rows, const float* patches) {
                MatmulArgs m = product_args(a, group, row);
                m.rows = rows;
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
void finish_rows(const ConvArgs& a, Activation activation) {
  if (activation == Activation::none && a.residual == nullptr) return;
  const ConvExtents& e = a.extents;
  const std::int64_t rows = e.batch * e.out[0] * e.out[1];
  const std::int64_t width = e.out[2] * e.out_channels;
  parallel_for(rows, 1 + 10000 / (1 + width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      float* y = a.y + row * width;
      if (activation != Activation::none) unary(element_op(activation), width, y, y);
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
  filter.channels_last_ = gathers_channels_last(e);
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
    finish_rows(args, args.activation);
    return;
  }
  // Narrow products pay for patches only along short lines, most of which are borders.
  if (filter.direct_.size() != 0 && (filter.groups_.empty() || e.out[2] >= kLongLine)) {
    convolve_direct(filter.direct_.as<float>(), filter.channels_last_, args);
    finish_rows(args, args.activation == Activation::relu ? Activation::none : args.activation);
    return;
  }
  const PatchSource<float> source{&e, args.x, args.batch_stride, args.channel_stride,
                                  args.spatial_stride};
  if (filter.channels_last_ && !is_pointwise(source) && filter.storage() == Element::f32 &&
      goes_by_taps(e, matmul_panel_width())) {
    convolve_taps(filter.groups_[0], args);
    return;
  }
  if (!filter.channels_last_ || !is_pointwise(source)) {
    multiply_patches(filter.groups_, filter.channels_last_, source, args);
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
