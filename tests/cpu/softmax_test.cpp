// Softmax against double loops.

#include "backends/cpu/kernels/softmax.h"

#include <cmath>
#include <limits>

#include "backends/cpu/kernels/parallel.h"
#include "tests/cpu/isa_param.h"
#include "tests/cpu/random_data.h"

namespace concord::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The error that rounding the shifted score causes in exp, the sum's, and a few ulp.
double tolerance(double y, double spread) {
  return 0x1p-24 * (y * (spread * 2 + 12)) + 1e-37;
}

class Softmax : public IsaTest {};

TEST_P(Softmax, RowsWithScaleAndMask) {
  Random random(1);
  for (const std::int64_t n : {1, 2, 3, 7, 8, 15, 16, 17, 31, 64, 100, 129, 1000}) {
    for (const int mode : {0, 1, 2, 3}) {  // no mask, [q, k], [batch, 1, 1, k], log
      const std::int64_t batch = 2;
      const std::int64_t heads = 3;
      const std::int64_t q = 5;
      const std::int64_t rows = batch * heads * q;
      const std::int64_t stride = n + 2;
      const std::vector<float> x = random.vector(rows * stride, -8, 8);
      const std::vector<float> mask = random.vector(std::max(q, batch) * n, -4, 4);
      std::vector<float> out(static_cast<std::size_t>(rows * stride), 5.0f);
      SoftmaxArgs args;
      args.rows = rows;
      args.n = n;
      args.x = x.data();
      args.x_stride = stride;
      args.out = out.data();
      args.out_stride = stride;
      args.scale = 0.7f;
      args.log = mode == 3;
      if (mode == 1 || mode == 2) {
        args.mask = mask.data();
        args.mask_stride = n;
        args.mask_inner = mode == 1 ? 1 : heads * q;
        args.mask_outer = mode == 1 ? q : batch;
      }
      const ThreadScope scope(2);
      softmax(args);
      for (std::int64_t r = 0; r < rows; ++r) {
        std::vector<double> score(static_cast<std::size_t>(n));
        double top = -1e300;
        for (std::int64_t i = 0; i < n; ++i) {
          double s = double(x[static_cast<std::size_t>(r * stride + i)]) * double(args.scale);
          if (mode == 1) s += double(mask[static_cast<std::size_t>(r % q * n + i)]);
          if (mode == 2) s += double(mask[static_cast<std::size_t>(r / (heads * q) * n + i)]);
          score[static_cast<std::size_t>(i)] = s;
          top = std::max(top, s);
        }
        double sum = 0;
        for (const double s : score) sum += std::exp(s - top);
        for (std::int64_t i = 0; i < n; ++i) {
          const double s = score[static_cast<std::size_t>(i)] - top;
          const double got = double(out[static_cast<std::size_t>(r * stride + i)]);
          if (args.log) {
            ASSERT_NEAR(got, s - std::log(sum), 0x1p-23 * (40 + std::abs(s))) << n;
          } else {
            const double y = std::exp(s) / sum;
            ASSERT_NEAR(got, y, tolerance(y, 24)) << "n " << n << " row " << r << " column " << i;
          }
        }
        for (std::int64_t i = n; i < stride; ++i) {
          ASSERT_EQ(out[static_cast<std::size_t>(r * stride + i)], 5.0f);
        }
      }
    }
  }
}

TEST_P(Softmax, MaskedElementsAreExactlyZero) {
  for (const std::int64_t n : {4, 19, 40}) {
    Random random(2);
    std::vector<float> x = random.vector(n);
    std::vector<float> mask(static_cast<std::size_t>(n), 0.0f);
    for (std::size_t i = 1; i < mask.size(); i += 2) {
      mask[i] = i % 4 == 1 ? -kInfinity : std::numeric_limits<float>::lowest();
    }
    SoftmaxArgs args;
    args.rows = 1;
    args.n = n;
    args.x = x.data();
    args.out = x.data();  // in place
    args.mask = mask.data();
    softmax(args);
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i % 2 == 1) {
        EXPECT_EQ(x[i], 0.0f);
      }
      sum += double(x[i]);
    }
    EXPECT_NEAR(sum, 1.0, 1e-6);
  }
}

TEST_P(Softmax, NonFiniteRows) {
  for (const std::int64_t n : {3, 16, 21}) {
    for (const int mode : {0, 1, 2}) {
      std::vector<float> x(static_cast<std::size_t>(n), mode == 0 ? -kInfinity : 1.0f);
      if (mode == 1) x[1] = std::numeric_limits<float>::quiet_NaN();
      if (mode == 2) x[2] = kInfinity;
      SoftmaxArgs args;
      args.rows = 1;
      args.n = n;
      args.x = x.data();
      args.out = x.data();
      softmax(args);
      bool any = false;
      for (const float y : x) any = any || std::isnan(y);
      EXPECT_TRUE(any) << "mode " << mode;
      if (mode == 0) {
        for (const float y : x) EXPECT_TRUE(std::isnan(y));
      }
    }
  }
}

TEST_P(Softmax, OverflowingScores) {
  std::vector<float> x = {3e38f, 3e38f, -3e38f, 0.0f};
  SoftmaxArgs args;
  args.rows = 1;
  args.n = 4;
  args.x = x.data();
  args.out = x.data();
  softmax(args);
  EXPECT_EQ(x, (std::vector<float>{0.5f, 0.5f, 0.0f, 0.0f}));
}

TEST_P(Softmax, MiddleAxis) {
  Random random(3);
  for (const std::int64_t inner : {1, 2, 15, 16, 17, 70, 130}) {
    for (const std::int64_t n : {1, 3, 20}) {
      for (const bool log : {false, true}) {
        const std::int64_t outer = 3;
        const std::vector<float> x = random.vector(outer * n * inner, -5, 5);
        std::vector<float> out(x.size());
        softmax_axis(outer, n, inner, x.data(), out.data(), log);
        for (std::int64_t o = 0; o < outer; ++o) {
          for (std::int64_t c = 0; c < inner; ++c) {
            const auto at = [&](std::int64_t i) {
              return static_cast<std::size_t>((o * n + i) * inner + c);
            };
            double sum = 0;
            for (std::int64_t i = 0; i < n; ++i) sum += std::exp(double(x[at(i)]));
            for (std::int64_t i = 0; i < n; ++i) {
              const double y = double(x[at(i)]) - std::log(sum);
              if (log) {
                ASSERT_NEAR(double(out[at(i)]), y, 5e-6);
              } else {
                ASSERT_NEAR(double(out[at(i)]), std::exp(y), tolerance(std::exp(y), 20));
              }
            }
          }
        }
      }
    }
  }
}

CONCORD_FOR_EACH_ISA(Softmax);

}  // namespace
}  // namespace concord::cpu
