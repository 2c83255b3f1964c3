#include "backends/reference/product.h"

#include <random>

#include "tests/reference/oracle_case.h"

namespace concord::test {
namespace {

TEST(Matmul, ByHand) {
  const Tensor a = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = f32({3, 2}, {1, 0, 2, 1, 0, 3});
  expect_oracle(OpKind::matmul, {a, b}, {}, {2, 2}, {5, 11, 14, 23});
  expect_oracle(OpKind::matmul, {a, f32({2, 3}, {1, 2, 0, 0, 1, 3})}, {{"trans_b", 1L}}, {2, 2},
                {5, 11, 14, 23});
  expect_oracle(OpKind::matmul, {f32({3, 2}, {1, 4, 2, 5, 3, 6}), b}, {{"trans_a", 1L}}, {2, 2},
                {5, 11, 14, 23});
}

TEST(Matmul, BatchesBroadcast) {
  const Tensor a = f32({2, 1, 1, 2}, {1, 2, 3, 4});
  const Tensor b = f32({3, 2, 1}, {1, 1, 2, 2, 3, 3});
  expect_oracle(OpKind::matmul, {a, b}, {}, {2, 3, 1, 1}, {3, 6, 9, 7, 14, 21});
}

TEST(Matmul, Epilogue) {
  // relu(2·(1·3 + 2·−4) + bias) + residual.
  expect_oracle(
      OpKind::matmul,
      {f32({1, 2}, {1, 2}), f32({2, 2}, {3, 1, -4, 1}), f32({2}, {4, 1}), f32({1, 1}, {10})},
      {{"alpha", 2.0}, {"activation", std::string("relu")}}, {1, 2}, {10, 17});
}

TEST(Matmul, EmptyExtents) {
  expect_oracle(OpKind::matmul, {f32({2, 0}, {}), f32({0, 1}, {})}, {}, {2, 1}, {0, 0});
  expect_oracle(OpKind::matmul, {f32({0, 2}, {}), f32({2, 3}, {1, 2, 3, 4, 5, 6})}, {}, {0, 3}, {});
}

TEST(Matmul, IntegersWrapAround) {
  const auto y =
      oracle_run(OpKind::matmul,
                 {tensor<std::int32_t>({1, 2}, {1 << 30, 1}), tensor<std::int32_t>({2, 1}, {4, 7})},
                 {}, {DataType::i32});
  EXPECT_EQ(shown(y[0].value), "int32[1, 1]{7}");
}

TEST(Matmul, ShapesThatDoNotFit) {
  EXPECT_THROW(oracle_run(OpKind::matmul, {f32({1, 2}, {1, 2}), f32({3, 1}, {1, 2, 3})}, {}),
               Error);
}

// Every edge of the tiles, against the definition.
TEST(Product, AllSizes) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> random(-1, 1);
  for (const std::int64_t m : {1, 3, 4, 5, 9}) {
    for (const std::int64_t n : {1, 15, 16, 17, 33}) {
      for (const std::int64_t k : {0, 1, 7, 40}) {
        std::vector<double> a(static_cast<std::size_t>(m * k));
        std::vector<double> b(static_cast<std::size_t>(k * n));
        for (double& v : a) v = random(generator);
        for (double& v : b) v = random(generator);
        std::vector<double> y(static_cast<std::size_t>(m * n));
        std::vector<reference::Squares<double>> squares(y.size());
        std::vector<double> alone(y.size());
        std::vector<long double> wide(y.size());
        // a as [m, k] dense; b as the transpose of [n, k].
        const reference::MatrixView left{a.data(), k, 1};
        const reference::MatrixView right{b.data(), 1, k};
        reference::multiply(m, n, k, left, right, y.data(), squares.data());
        reference::multiply<double>(m, n, k, left, right, alone.data(), nullptr);
        reference::multiply<long double>(m, n, k, left, right, wide.data(), nullptr);
        for (std::int64_t i = 0; i < m; ++i) {
          for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            reference::Squares<double> square;
            for (std::int64_t p = 0; p < k; ++p) {
              const double term =
                  a[static_cast<std::size_t>(i * k + p)] * b[static_cast<std::size_t>(j * k + p)];
              sum += term;
              square.terms += term * term;
              square.sums += sum * sum;
            }
            const auto at = static_cast<std::size_t>(i * n + j);
            ASSERT_EQ(y[at], sum) << m << " " << n << " " << k;
            ASSERT_EQ(alone[at], sum);
            ASSERT_EQ(squares[at].terms, square.terms);
            ASSERT_EQ(squares[at].sums, square.sums);
            ASSERT_NEAR(static_cast<double>(wide[at]), sum, 1e-14);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace concord::test
