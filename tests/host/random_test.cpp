#include <cmath>

#include "tests/host/host_case.h"

namespace concord::test {
namespace {

Tensor drawn(const char* fn, double alpha, double beta, std::int64_t seed, DataType to,
             std::int64_t count) {
  return host_run(OpKind::random, {},
                  {{"fn", std::string(fn)},
                   {"alpha", alpha},
                   {"beta", beta},
                   {"seed", seed},
                   {"to", to},
                   {"shape", SymShape{Dim(count)}}},
                  {to})
      .at(0);
}

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments moments(const Tensor& x) {
  Moments m;
  const auto n = static_cast<double>(x.count());
  for (std::int64_t i = 0; i < x.count(); ++i) m.mean += x.at_double(i) / n;
  for (std::int64_t i = 0; i < x.count(); ++i) {
    m.deviation += std::pow(x.at_double(i) - m.mean, 2) / n;
  }
  m.deviation = std::sqrt(m.deviation);
  return m;
}

// Means of n numbers scatter by deviation/√n; five times that is met once in a million.
TEST(Random, IsDistributedAsAsked) {
  constexpr std::int64_t n = 20000;
  const double root = std::sqrt(static_cast<double>(n));
  const Moments uniform = moments(drawn("uniform", -1, 3, 1, DataType::f32, n));
  EXPECT_NEAR(uniform.mean, 1, 5 * uniform.deviation / root);
  EXPECT_NEAR(uniform.deviation, 4 / std::sqrt(12.0), 0.03);
  const Moments normal = moments(drawn("normal", 2, 0.5, 1, DataType::f64, n));
  EXPECT_NEAR(normal.mean, 2, 5 * 0.5 / root);
  EXPECT_NEAR(normal.deviation, 0.5, 5 * 0.5 / root);
}

TEST(Random, StaysBelowTheEndWhenRounded) {
  const Tensor x = drawn("uniform", 0, 1, 3, DataType::bf16, 20000);
  for (std::int64_t i = 0; i < x.count(); ++i) {
    ASSERT_GE(x.at_double(i), 0);
    ASSERT_LT(x.at_double(i), 1);
  }
}

TEST(Random, FollowsItsSeedAlone) {
  const Tensor a = drawn("normal", 0, 1, 5, DataType::f32, 9);
  EXPECT_TRUE(identical(a, drawn("normal", 0, 1, 5, DataType::f32, 9)));
  EXPECT_FALSE(identical(a, drawn("normal", 0, 1, 6, DataType::f32, 9)));
}

}  // namespace
}  // namespace concord::test
