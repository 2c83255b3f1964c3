#include "backends/cpu/kernels/conv_int8.h"

#include <vector>

#include "backends/cpu/kernels/conv_patches.h"

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
  return filter;
}

void convolve_int8(const PackedByteFilter& filter, const ConvInt8Args& args) {
  const ConvExtents& e = args.extents;
  const std::int64_t rows = e.batch * e.out_pixels();
  if (rows * e.out_channels == 0) return;
  const auto product = [&](std::int64_t row, std::int64_t count, const std::byte* a,
                           std::int64_t lda) {
    MatmulInt8Args m;
    m.rows = count;
    m.a = a;
    m.a_signed = args.x_signed;
    m.lda = lda;
    m.a_zeros = args.x_zero;
    m.scales = args.scales;
    m.scale_stride = args.scale_stride;
    m.c = args.y + row * e.out_channels;
    m.ldc = e.out_channels;
    m.epilogue.bias = args.bias;
    m.epilogue.activation = args.activation;
    matmul_int8(filter.weights_, m);
  };
  const PatchSource<std::byte> source{&e,
                                      args.x,
                                      args.batch_stride,
                                      args.channel_stride,
                                      args.spatial_stride,
                                      args.x_zero != nullptr ? *args.x_zero : std::byte{0}};
  if (filter.channels_last_ && is_pointwise(source)) {
    product(0, rows, args.x, e.in_channels);
    return;
  }
  const std::int64_t depth = e.taps() * e.in_channels;
  for_patches(source, filter.channels_last_, 200,
              [&](std::int64_t, std::int64_t row, std::int64_t count, const std::byte* patches) {
                product(row, count, patches, depth);
              });
}

}  // namespace concord::cpu
