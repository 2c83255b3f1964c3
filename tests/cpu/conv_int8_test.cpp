// Convolutions of bytes against plain loops, bit for bit: every path, for every number of threads,
// on inputs that end where their memory does.

#include "backends/cpu/kernels/conv_int8.h"

#include <memory>

#include "backends/cpu/kernels/parallel.h"
#include "tests/cpu/isa_param.h"
#include "tests/cpu/random_data.h"

namespace concord::cpu {
namespace {

class ConvInt8 : public IsaTest {
 protected:
  static void check(std::int64_t batch, std::int64_t channels, std::int64_t height,
                    std::int64_t width, std::int64_t outputs, std::int64_t kernel_height,
                    std::int64_t kernel_width, std::int64_t pad, bool is_signed) {
    SCOPED_TRACE(::testing::Message() << batch << "x" << channels << "x" << height << "x" << width
                                      << " to " << outputs << ", " << kernel_height << "x"
                                      << kernel_width << ", pad " << pad << ", " << is_signed);
    ConvInt8Args args;
    ConvExtents& e = args.extents;
    e.batch = batch;
    e.in_channels = channels;
    e.out_channels = outputs;
    e.in[1] = height;
    e.in[2] = width;
    e.kernel[1] = kernel_height;
    e.kernel[2] = kernel_width;
    e.pad[1] = e.pad[2] = pad;
    e.out[1] = height + 2 * pad - kernel_height + 1;
    e.out[2] = width + 2 * pad - kernel_width + 1;
    Random random(static_cast<std::uint32_t>(channels * 31 + width));
    std::vector<std::int8_t> weights(static_cast<std::size_t>(outputs * channels * e.taps()));
    for (std::int8_t& w : weights) w = static_cast<std::int8_t>(random.below(255) - 127);
    const PackedByteFilter filter = PackedByteFilter::pack(e, weights.data());
    // Exactly as much memory as there are elements.
    const auto count = static_cast<std::size_t>(batch * channels * height * width);
    const auto x = std::make_unique<std::byte[]>(count);
    for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<std::byte>(random.below(256));
    const bool last = filter.channels_last();
    args.x = x.get();
    args.x_signed = is_signed;
    args.batch_stride = channels * height * width;
    args.channel_stride = last ? 1 : height * width;
    args.spatial_stride[2] = last ? channels : 1;
    args.spatial_stride[1] = width * args.spatial_stride[2];
    args.spatial_stride[0] = height * args.spatial_stride[1];
    const auto zero = std::byte{7};
    args.x_zero = &zero;
    const float scale = 0.25f;  // results are exact
    args.scales = &scale;
    const auto flipped = std::make_unique<std::byte[]>(static_cast<std::size_t>(args.span()));
    args.flipped = flipped.get();

    const auto value = [&](std::int64_t n, std::int64_t c, std::int64_t i, std::int64_t j) {
      if (i < 0 || i >= height || j < 0 || j >= width) return 0;
      const std::byte b =
          x[static_cast<std::size_t>(n * args.batch_stride + c * args.channel_stride +
                                     i * args.spatial_stride[1] + j * args.spatial_stride[2])];
      return (is_signed ? int{static_cast<std::int8_t>(b)} : int{static_cast<std::uint8_t>(b)}) - 7;
    };
    std::vector<float> expected;
    for (std::int64_t n = 0; n < batch; ++n) {
      for (std::int64_t i = 0; i < e.out[1]; ++i) {
        for (std::int64_t j = 0; j < e.out[2]; ++j) {
          for (std::int64_t m = 0; m < outputs; ++m) {
            std::int32_t sum = 0;
            const std::int8_t* w = &weights[static_cast<std::size_t>(m * channels * e.taps())];
            for (std::int64_t c = 0; c < channels; ++c) {
              for (std::int64_t k = 0; k < e.taps(); ++k, ++w) {
                sum += *w * value(n, c, i + k / kernel_width - pad, j + k % kernel_width - pad);
              }
            }
            expected.push_back(static_cast<float>(sum) * scale);
          }
        }
      }
    }
    for (const int threads : {1, 2, 3}) {
      const ThreadScope scope(threads);
      std::vector<float> y(expected.size(), -1.0f);
      args.y = y.data();
      convolve_int8(filter, args);
      ASSERT_EQ(y, expected) << threads << " threads";
    }
  }
};

TEST_P(ConvInt8, Patches) {
  for (const bool is_signed : {false, true}) {
    check(1, 7, 28, 28, 64, 3, 3, 0, is_signed);  // rows of 63 bytes, shared by threads
    check(1, 3, 50, 50, 8, 3, 3, 0, is_signed);
    check(2, 3, 9, 11, 5, 7, 7, 3, is_signed);
    check(1, 4, 12, 12, 5, 3, 1, 0, is_signed);
    check(1, 3, 9, 9, 5, 2, 2, 1, is_signed);
    check(2, 9, 6, 5, 33, 3, 3, 1, is_signed);
    check(1, 16, 5, 7, 24, 1, 1, 0, is_signed);
  }
}

TEST_P(ConvInt8, Taps) {
  for (const bool is_signed : {false, true}) {
    check(2, 32, 6, 5, 70, 3, 3, 1, is_signed);
    check(1, 36, 9, 14, 17, 3, 2, 2, is_signed);
    check(3, 64, 4, 4, 64, 3, 3, 1, is_signed);
    check(1, 32, 1, 300, 20, 1, 5, 0, is_signed);  // a line too long for taps
  }
}

CONCORD_FOR_EACH_ISA(ConvInt8);

}  // namespace
}  // namespace concord::cpu
