// oneDNN's products against double loops, and the choice of them by a program.

#include "backends/cpu/onednn_product.h"

#include <cmath>

#include <gtest/gtest.h>

#include "backends/cpu/kernels/parallel.h"
#include "tests/cpu/random_data.h"

namespace concord::cpu {
namespace {

struct Problem {
  std::int64_t m, n, k;
  bool transposed = false;
  Activation activation = Activation::none;
  bool bias = false, multiplier = false;
  int residual = 0;  // 1: a row, 2: a matrix
  Element storage = Element::f32;
};

double activate(Activation activation, double x) {
  switch (activation) {
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::gelu_erf:
      return x * std::erfc(-x * std::sqrt(0.5)) / 2;
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::quick_gelu:
      return x / (1 + std::exp(-1.702 * x));
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
    default:
      return x;
  }
}

void check(const Problem& p) {
  SCOPED_TRACE(::testing::Message()
               << p.m << "x" << p.n << "x" << p.k << " transposed " << p.transposed
               << " activation " << static_cast<int>(p.activation));
  Random random(static_cast<std::uint32_t>(p.m * 131 + p.n * 17 + p.k));
  const std::int64_t lda = p.k + 3;
  const std::int64_t ldc = p.n + 5;
  const std::vector<float> a = random.vector(p.m * lda);
  const std::vector<float> w = random.vector(p.k * p.n);
  const std::vector<float> bias = random.vector(p.n);
  const std::vector<float> multiplier = random.vector(p.m * ldc);
  const std::vector<float> residual = random.vector(p.m * ldc);
  const MatrixView view = p.transposed ? MatrixView{w.data(), Element::f32, p.k, p.n, 1, p.k}
                                       : MatrixView{w.data(), Element::f32, p.k, p.n, p.n, 1};
  const ThreadScope scope(1, Workers::openmp);
  const auto product = OnednnProduct::pack(view, p.storage);
  std::vector<float> c(static_cast<std::size_t>(p.m * ldc), 77.0f);
  MatmulArgs args;
  args.rows = p.m;
  args.a = a.data();
  args.lda = lda;
  args.c = c.data();
  args.ldc = ldc;
  args.epilogue.activation = p.activation;
  if (p.bias) args.epilogue.bias = bias.data();
  if (p.multiplier) {
    args.epilogue.multiplier = multiplier.data();
    args.epilogue.multiplier_stride = ldc;
  }
  if (p.residual != 0) {
    args.epilogue.residual = residual.data();
    args.epilogue.residual_stride = p.residual == 2 ? ldc : 0;
  }
  product->run(args);
  const auto rounded = [&](float x) {
    return double(p.storage == Element::bf16 ? to_float(to_bfloat16(x)) : x);
  };
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < ldc; ++j) {
      const auto at = static_cast<std::size_t>(i * ldc + j);
      if (j >= p.n) {
        ASSERT_EQ(c[at], 77.0f) << "wrote beyond the row";
        continue;
      }
      const auto column = static_cast<std::size_t>(j);
      double sum = p.bias ? double(bias[column]) : 0;
      double size = std::abs(sum);
      for (std::int64_t l = 0; l < p.k; ++l) {
        const auto from = static_cast<std::size_t>(p.transposed ? j * p.k + l : l * p.n + j);
        const double term = rounded(a[static_cast<std::size_t>(i * lda + l)]) * rounded(w[from]);
        sum += term;
        size += std::abs(term);
      }
      double y = activate(p.activation, sum);
      if (p.multiplier) y *= double(multiplier[at]);
      if (p.residual == 1) y += double(residual[column]);
      if (p.residual == 2) y += double(residual[at]);
      ASSERT_NEAR(double(c[at]), y, 2e-6 * (size + 1)) << "row " << i << " column " << j;
    }
  }
}

TEST(OnednnProduct, SizesAndLayouts) {
  for (const std::int64_t m : {1, 7, 64, 130}) {
    for (const std::int64_t n : {1, 17, 64}) {
      for (const std::int64_t k : {1, 33, 96}) {
        check({m, n, k});
        check({m, n, k, true});
      }
    }
  }
}

TEST(OnednnProduct, EveryEpilogue) {
  for (const Activation activation :
       {Activation::none, Activation::relu, Activation::gelu_erf, Activation::quick_gelu,
        Activation::silu, Activation::tanh, Activation::sigmoid}) {
    for (const bool bias : {false, true}) {
      for (const bool multiplier : {false, true}) {
        for (int residual = 0; residual < 3; ++residual) {
          check({5, 33, 40, false, activation, bias, multiplier, residual});
        }
      }
    }
  }
}

TEST(OnednnProduct, RoundsOperandsToBf16) {
  check({.m = 9, .n = 33, .k = 64, .bias = true, .storage = Element::bf16});
}

TEST(OnednnProduct, ManyNumbersOfRows) {
  const std::vector<float> w(64 * 32, 0.5f);
  const ThreadScope scope(1, Workers::openmp);
  const auto product =
      OnednnProduct::pack(MatrixView{w.data(), Element::f32, 64, 32, 32, 1}, Element::f32);
  for (std::int64_t rows = 1; rows < 40; ++rows) {
    const std::vector<float> a(static_cast<std::size_t>(rows * 64), 2.0f);
    std::vector<float> c(static_cast<std::size_t>(rows * 32));
    MatmulArgs args;
    args.rows = rows;
    args.a = a.data();
    args.lda = 64;
    args.c = c.data();
    args.ldc = 32;
    product->run(args);
    for (const float value : c) ASSERT_EQ(value, 64.0f) << rows;
  }
}

}  // namespace
}  // namespace concord::cpu
