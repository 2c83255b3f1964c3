#include "backends/cpu/kernels/conv_int8.h"

#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/conv_int8_taps.h"
#include "backends/cpu/kernels/conv_patches.h"
#include "backends/cpu/kernels/matmul_internal.h"

namespace concord::cpu {

PackedByteFilter PackedByteFilter::pack(const ConvExtents& e, const std::int8_t* weights) {
  PackedByteFilter filter;
  filter.channels_last_ = gathers_channels_last(e);
  const std::int64_t channels = e.in_channels;
  const std::int64_t taps = e.taps();
  const std::int64_t depth = taps * channels;
  std::vector<std::int8_t> turned;
  if (filter.channels_last_ && taps > 1) {
    turned.resize(static_cast<std::size_t>(e.out_channels * depth));
    std::int8_t* to = turned.data();
    for (std::int64_t m = 0; m < e.out_channels; ++m) {
      for (std::int64_t t = 0; t < taps; ++t) {
        for (std::int64_t c = 0; c < channels; ++c) *to++ = weights[m * depth + c * taps + t];
      }
    }
    weights = turned.data();
  }
  filter.weights_ = PackedBytes::pack({weights, true, depth, e.out_channels, 1, depth}, {});
  if (filter.channels_last_ && channels >= kDeepTap && channels % 4 == 0) {
    const std::int64_t width = matmul_panel_width();
    const std::int64_t padded = (e.out_channels + width - 1) / width * width;
    filter.tap_sums_ = AlignedBuffer(static_cast<std::size_t>(taps * padded) * 4);
    auto* sums = filter.tap_sums_.as<std::int32_t>();
    std::fill_n(sums, taps * padded, 0);
    for (std::int64_t m = 0; m < e.out_channels; ++m) {
      for (std::int64_t l = 0; l < depth; ++l) {
        sums[l / channels * padded + m] += weights[m * depth + l];
      }
    }
  }
  return filter;
}

namespace {

// Signed bytes become unsigned ones, 128 larger: what the products take.
constexpr std::byte kFlip{0x80};

void flip(const std::byte* x, std::int64_t count, std::byte* y) {
  parallel_for(count, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y[i] = x[i] ^ kFlip;
  });
}

}  // namespace

std::int64_t ConvInt8Args::span() const {
  if (extents.batch * extents.in_channels * extents.in_pixels() == 0) return 0;
  std::int64_t elements =
      1 + (extents.batch - 1) * batch_stride + (extents.in_channels - 1) * channel_stride;
  for (int axis = 0; axis < 3; ++axis) {
    elements += (extents.in[axis] - 1) * spatial_stride[axis];
  }
  return elements;
}

void convolve_int8(const PackedByteFilter& filter, const ConvInt8Args& args) {
  const ConvExtents& e = args.extents;
  const std::int64_t rows = e.batch * e.out_pixels();
  if (rows * e.out_channels == 0) return;
  MatmulInt8Args m;
  m.a_signed = args.x_signed;
  m.a_zeros = args.x_zero;
  m.scales = args.scales;
  m.scale_stride = args.scale_stride;
  m.ldc = e.out_channels;
  m.epilogue.bias = args.bias;
  m.epilogue.activation = args.activation;
  PatchSource<std::byte> source{&e, args.x, args.batch_stride, args.channel_stride,
                                args.spatial_stride};
  if (filter.channels_last_ && is_pointwise(source)) {
    m.rows = rows;
    m.a = args.x;
    m.lda = e.in_channels;
    m.c = args.y;
    matmul_int8(filter.weights_, m);
    return;
  }
  source.outside = args.x_zero != nullptr ? *args.x_zero : std::byte{0};
  source.size = args.span();
  if (args.x_signed) {
    flip(args.x, source.size, args.flipped);
    source.x = args.flipped;
    source.outside ^= kFlip;
    m.a_signed = false;
    m.a_zeros = &source.outside;
  }
  if (filter.tap_sums_.size() != 0 && goes_by_taps(e, matmul_panel_width())) {
    m.c = args.y;
    ByteTaps taps;
    taps.extents = &e;
    taps.share = whole_share(filter.weights_, m);
    taps.x = source.x;
    taps.strides = {args.batch_stride, args.spatial_stride};
    taps.zero = static_cast<std::int32_t>(source.outside);
    taps.tap_sums = filter.tap_sums_.as<std::int32_t>();
    convolve_byte_taps(taps);
    return;
  }
  m.a_whole_quads = true;
  m.lda = patch_stride<std::byte>(e);
  for_patches(source, filter.channels_last_, 200,
              [&](std::int64_t, std::int64_t row, std::int64_t count, const std::byte* patches) {
                MatmulInt8Args block = m;
                block.rows = count;
                block.a = patches;
                block.c = args.y + row * e.out_channels;
                matmul_int8(filter.weights_, block);
              });
}

}  // namespace concord::cpu
