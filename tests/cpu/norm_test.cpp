// Layer, RMS and group norm against double loops.

#include "backends/cpu/kernels/norm.h"

#include <cmath>

#include "backends/cpu/kernels/parallel.h"
#include "tests/cpu/isa_param.h"
#include "tests/cpu/random_data.h"

namespace concord::cpu {
namespace {

class Norm : public IsaTest {
 protected:
  static void check(std::int64_t n, bool rms, bool residual, bool bias, bool want_sum, bool affine,
                    float offset) {
    SCOPED_TRACE(::testing::Message() << "n " << n << " rms " << rms << " residual " << residual
                                      << " bias " << bias << " sum " << want_sum);
    Random random(static_cast<std::uint32_t>(n));
    const std::int64_t rows = 7;
    const std::int64_t stride = n + 3;
    const std::vector<float> x = random.vector(rows * stride, offset - 2, offset + 2);
    const std::vector<float> r = random.vector(rows * stride);
    const std::vector<float> b = random.vector(n);
    const std::vector<float> gamma = random.vector(n, 0.5f, 1.5f);
    const std::vector<float> beta = random.vector(n);
    std::vector<float> out(x.size(), 9.0f);
    std::vector<float> sum(x.size(), 9.0f);
    std::vector<float> mean(static_cast<std::size_t>(rows));
    std::vector<float> inverse(mean.size());
    NormArgs args;
    args.rows = rows;
    args.n = n;
    args.x = x.data();
    args.x_stride = stride;
    args.out = out.data();
    args.out_stride = stride;
    args.mean = mean.data();
    args.inverse = inverse.data();
    args.epsilon = 1e-5f;
    if (residual) {
      args.residual = r.data();
      args.residual_stride = stride;
    }
    if (bias) args.bias = b.data();
    if (want_sum) {
      args.sum = sum.data();
      args.sum_stride = stride;
    }
    if (affine) {
      args.gamma = gamma.data();
      if (!rms) args.beta = beta.data();
    }
    const ThreadScope scope(2);
    rms ? rms_norm(args) : layer_norm(args);
    for (std::int64_t i = 0; i < rows; ++i) {
      std::vector<double> s(static_cast<std::size_t>(n));
      double total = 0;
      double largest = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        const auto at = static_cast<std::size_t>(i * stride + j);
        float value = x[at];
        if (bias) value += b[static_cast<std::size_t>(j)];
        if (residual) value += r[at];
        s[static_cast<std::size_t>(j)] = double(value);
        total += double(value);
        largest = std::max(largest, std::abs(double(value)));
        if (want_sum) {
          ASSERT_EQ(sum[at], value);
        }
      }
      const double centre = rms ? 0 : total / double(n);
      double squares = 0;
      for (const double v : s) squares += (v - centre) * (v - centre);
      const double scale = 1 / std::sqrt(squares / double(n) + double(args.epsilon));
      // The mean's rounding moves every element by up to an ulp or two of the largest.
      const double shift = 0x1p-24 * largest * 3 * scale;
      if (!rms) {
        ASSERT_NEAR(double(mean[static_cast<std::size_t>(i)]), centre, 0x1p-22 * largest);
      }
      ASSERT_NEAR(double(inverse[static_cast<std::size_t>(i)]), scale,
                  scale * (0x1p-20 + shift * shift * 40));
      for (std::int64_t j = 0; j < n; ++j) {
        double y = (s[static_cast<std::size_t>(j)] - centre) * scale;
        const double plain = y;
        if (affine) y *= double(gamma[static_cast<std::size_t>(j)]);
        if (affine && !rms) y += double(beta[static_cast<std::size_t>(j)]);
        const double bound =
            0x1p-24 * (std::abs(plain) * 24 + std::abs(y) * 2) + 1.5 * shift + 1e-9;
        ASSERT_NEAR(double(out[static_cast<std::size_t>(i * stride + j)]), y, bound);
      }
      for (std::int64_t j = n; j < stride; ++j) {
        ASSERT_EQ(out[static_cast<std::size_t>(i * stride + j)], 9.0f);
      }
    }
  }
};

TEST_P(Norm, Rows) {
  for (const std::int64_t n : {1, 2, 3, 8, 15, 16, 17, 33, 63, 64, 65, 100, 384, 769}) {
    for (int flags = 0; flags < 32; ++flags) {
      check(n, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0, (flags & 8) != 0,
            (flags & 16) != 0, 0.0f);
    }
    check(n, false, true, false, false, true, 100.0f);
  }
}

TEST_P(Norm, LargeOffsetIsSubtractedFirst) {
  // One pass by E[x²] - E[x]² would lose everything here.
  std::vector<float> x(256);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 10000.0f + (i % 2 == 0 ? 0.5f : -0.5f);
  std::vector<float> out(x.size());
  NormArgs args;
  args.rows = 1;
  args.n = 256;
  args.x = x.data();
  args.out = out.data();
  args.epsilon = 0;
  layer_norm(args);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(out[i], i % 2 == 0 ? 1.0f : -1.0f, 1e-5f);
}

TEST_P(Norm, InPlaceAndSumOverResidual) {
  Random random(8);
  const std::vector<float> x = random.vector(5 * 40);
  const std::vector<float> r = random.vector(5 * 40);
  NormArgs args;
  args.rows = 5;
  args.n = 40;
  args.x_stride = args.residual_stride = args.sum_stride = args.out_stride = 40;
  std::vector<float> sum(x.size());
  std::vector<float> out(x.size());
  args.x = x.data();
  args.residual = r.data();
  args.sum = sum.data();
  args.out = out.data();
  layer_norm(args);
  std::vector<float> x2 = x;
  std::vector<float> r2 = r;
  args.x = x2.data();
  args.residual = r2.data();
  args.sum = r2.data();
  args.out = x2.data();
  layer_norm(args);
  EXPECT_EQ(r2, sum);
  EXPECT_EQ(x2, out);
}

TEST_P(Norm, Groups) {
  Random random(6);
  for (const std::int64_t spatial : {1, 5, 49, 200}) {
    for (const std::int64_t groups : {1, 2, 6}) {
      const std::int64_t batch = 2;
      const std::int64_t channels = 6;
      const std::int64_t count = channels / groups;
      const std::vector<float> x = random.vector(batch * channels * spatial);
      const std::vector<float> gamma = random.vector(channels);
      const std::vector<float> beta = random.vector(channels);
      std::vector<float> out(x.size());
      group_norm(batch, channels, spatial, groups, x.data(), gamma.data(), beta.data(), 1e-3f,
                 out.data());
      for (std::int64_t g = 0; g < batch * groups; ++g) {
        const std::int64_t start = g * count * spatial;
        const auto n = static_cast<double>(count * spatial);
        double mean = 0;
        double squares = 0;
        for (std::int64_t i = 0; i < count * spatial; ++i) {
          mean += double(x[static_cast<std::size_t>(start + i)]) / n;
        }
        for (std::int64_t i = 0; i < count * spatial; ++i) {
          squares += std::pow(double(x[static_cast<std::size_t>(start + i)]) - mean, 2) / n;
        }
        for (std::int64_t i = 0; i < count * spatial; ++i) {
          const auto c = static_cast<std::size_t>(g % groups * count + i / spatial);
          const auto at = static_cast<std::size_t>(start + i);
          const double y = (double(x[at]) - mean) / std::sqrt(squares + 1e-3) * double(gamma[c]) +
                           double(beta[c]);
          ASSERT_NEAR(double(out[at]), y, 3e-6);
        }
      }
    }
  }
}

CONCORD_FOR_EACH_ISA(Norm);

}  // namespace
}  // namespace concord::cpu
