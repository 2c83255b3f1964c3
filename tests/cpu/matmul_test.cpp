// Matrix products against double loops: odd sizes, both orders of the weights, every type, every
// epilogue; and the promise that results do not depend on threads or on the batch.

#include "backends/cpu/kernels/matmul.h"

#include <cmath>

#include "backends/cpu/kernels/parallel.h"
#include "tests/cpu/isa_param.h"
#include "tests/cpu/random_data.h"

namespace concord::cpu {
namespace {

constexpr double kUnit = 0x1p-24;

double activate(Activation activation, double x) {
  switch (activation) {
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::gelu_erf:
      return x * std::erfc(-x * std::sqrt(0.5)) / 2;
    case Activation::gelu_tanh:
      return x / 2 * (1 + std::tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
    case Activation::quick_gelu:
      return x / (1 + std::exp(-1.702 * x));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::none:
      break;
  }
  return x;
}

struct Problem {
  std::int64_t m, n, k;
  bool transposed = false;
  Element storage = Element::f32;
  Element a_type = Element::f32;
  Element c_type = Element::f32;
  Activation activation = Activation::none;
  bool bias = false, multiplier = false, residual = false;
  float scale = 1.0f;
};

float round_to(Element type, float x) {
  if (type == Element::bf16) return to_float(to_bfloat16(x));
  if (type == Element::f16) return to_float(to_half(x));
  return x;
}

class Matmul : public IsaTest {
 protected:
  static void check(const Problem& p, int threads = 1) {
    SCOPED_TRACE(::testing::Message() << p.m << "x" << p.n << "x" << p.k << " transposed "
                                      << p.transposed << " storage " << static_cast<int>(p.storage)
                                      << " activation " << static_cast<int>(p.activation));
    Random random(static_cast<std::uint32_t>(p.m * 131 + p.n * 17 + p.k));
    const std::int64_t lda = p.k + 3;
    const std::int64_t ldc = p.n + 5;
    const std::vector<float> a = random.vector(p.m * lda);
    const std::vector<float> w = random.vector(p.k * p.n);
    const std::vector<float> bias = random.vector(p.n);
    const std::vector<float> multiplier = random.vector(p.m * ldc);
    const std::vector<float> residual = random.vector(p.m * ldc);
    const std::vector<BFloat16> a_bf16 = as_bf16(a);

    const MatrixView view = p.transposed ? MatrixView{w.data(), Element::f32, p.k, p.n, 1, p.k}
                                         : MatrixView{w.data(), Element::f32, p.k, p.n, p.n, 1};
    const ThreadScope scope(threads);
    const PackedWeights packed = PackedWeights::pack(view, p.storage);
    std::vector<float> c(static_cast<std::size_t>(p.m * ldc), 77.0f);
    std::vector<BFloat16> c_bf16(c.size(), to_bfloat16(77.0f));
    MatmulArgs args;
    args.rows = p.m;
    args.a = p.a_type == Element::f32 ? static_cast<const void*>(a.data()) : a_bf16.data();
    args.a_type = p.a_type;
    args.lda = lda;
    args.c = p.c_type == Element::f32 ? static_cast<void*>(c.data()) : c_bf16.data();
    args.c_type = p.c_type;
    args.ldc = ldc;
    args.epilogue.scale = p.scale;
    args.epilogue.activation = p.activation;
    if (p.bias) args.epilogue.bias = bias.data();
    if (p.multiplier) {
      args.epilogue.multiplier = multiplier.data();
      args.epilogue.multiplier_stride = ldc;
    }
    if (p.residual) {
      args.epilogue.residual = residual.data();
      args.epilogue.residual_stride = ldc;
    }
    matmul(packed, args);

    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        double squares = 0;
        for (std::int64_t x = 0; x < p.k; ++x) {
          float left = round_to(p.a_type, a[static_cast<std::size_t>(i * lda + x)]);
          if (p.storage == Element::bf16) left = round_to(Element::bf16, left);
          const auto at = static_cast<std::size_t>(p.transposed ? j * p.k + x : x * p.n + j);
          const double term = double(left) * double(round_to(p.storage, w[at]));
          sum += term;
          squares += term * term;
        }
        const auto at = static_cast<std::size_t>(i * ldc + j);
        double y = sum * double(p.scale);
        if (p.bias) y += double(bias[static_cast<std::size_t>(j)]);
        const double before = y;
        y = activate(p.activation, y);
        if (p.multiplier) y *= double(multiplier[at]);
        if (p.residual) y += double(residual[at]);
        // Six times the spread of the sum's rounding error (design.md section 5, rule 1), through a
        // function whose slope is at most 1.13, and a few ulp of the values on the way.
        const double length = static_cast<double>(p.k);
        const double spread =
            kUnit * std::sqrt((squares * (1 + length / 2) + sum * sum * length / 3) / 3);
        double bound = 6 * 1.13 * spread * std::abs(double(p.scale)) +
                       8 * kUnit * (std::abs(y) + std::abs(before) + std::abs(sum)) + 1e-30;
        const double got = p.c_type == Element::f32 ? double(c[at]) : double(to_float(c_bf16[at]));
        if (p.c_type == Element::bf16) bound += std::abs(y) / 256;
        ASSERT_TRUE(std::abs(got - y) <= bound) << "row " << i << " column " << j << ": " << got
                                                << " instead of " << y << ", bound " << bound;
      }
      for (std::int64_t j = p.n; j < ldc; ++j) {
        const auto at = static_cast<std::size_t>(i * ldc + j);
        ASSERT_EQ(p.c_type == Element::f32 ? c[at] : to_float(c_bf16[at]), 77.0f)
            << "wrote beyond the row";
      }
    }
  }
};

TEST_P(Matmul, OddSizes) {
  for (const std::int64_t m : {1, 2, 3, 5, 6, 7, 11, 13, 29}) {
    for (const std::int64_t n : {1, 7, 16, 31, 64, 65, 129, 200}) {
      for (const std::int64_t k : {1, 2, 3, 4, 5, 17, 64, 100}) check({m, n, k});
    }
  }
}

TEST_P(Matmul, LongSumsAreCutIntoParts) {
  for (const std::int64_t k : {767, 768, 769, 1537, 2051}) {
    check({.m = 8, .n = 70, .k = k});
    check({.m = 1, .n = 130, .k = k, .residual = true});
    check({.m = 7, .n = 64, .k = k, .storage = Element::bf16});
    check({.m = 9, .n = 33, .k = k, .activation = Activation::relu, .bias = true});
  }
}

TEST_P(Matmul, LargeWeightsAreWrittenPastTheCaches) {
  check({.m = 3, .n = 700, .k = 401}, 2);
  check({.m = 3, .n = 704, .k = 401, .transposed = true}, 2);
}

TEST_P(Matmul, ManyRowsAreCutIntoChunks) {
  check({.m = 400, .n = 65, .k = 800});
  check({.m = 401, .n = 20, .k = 770, .storage = Element::bf16, .residual = true});
}

TEST_P(Matmul, TransposedWeights) {
  for (const std::int64_t n : {1, 15, 64, 67, 130}) {
    for (const std::int64_t k : {1, 3, 33, 65, 130}) {
      for (const Element storage : {Element::f32, Element::bf16, Element::f16}) {
        check({.m = 5, .n = n, .k = k, .transposed = true, .storage = storage});
      }
    }
  }
}

TEST_P(Matmul, EveryType) {
  for (const Element storage : {Element::f32, Element::f16, Element::bf16}) {
    for (const Element a_type : {Element::f32, Element::bf16}) {
      for (const Element c_type : {Element::f32, Element::bf16}) {
        for (const std::int64_t k : {1, 31, 64}) {
          check({.m = 7,
                 .n = 67,
                 .k = k,
                 .storage = storage,
                 .a_type = a_type,
                 .c_type = c_type,
                 .bias = true});
        }
      }
    }
  }
}

TEST_P(Matmul, EveryEpilogue) {
  for (int activation = 0; activation <= static_cast<int>(Activation::sigmoid); ++activation) {
    for (int flags = 0; flags < 8; ++flags) {
      check({.m = 4,
             .n = 69,
             .k = 20,
             .activation = static_cast<Activation>(activation),
             .bias = (flags & 1) != 0,
             .multiplier = (flags & 2) != 0,
             .residual = (flags & 4) != 0,
             .scale = flags == 5 ? 0.125f : 1.0f});
    }
  }
}

TEST_P(Matmul, ResidualMayBeTheOutput) {
  Random random(5);
  const std::vector<float> a = random.vector(10 * 900);
  const std::vector<float> w = random.vector(900 * 100);
  const std::vector<float> start = random.vector(10 * 100);
  const PackedWeights packed =
      PackedWeights::pack({w.data(), Element::f32, 900, 100, 100, 1}, Element::f32);
  MatmulArgs args;
  args.rows = 10;
  args.a = a.data();
  args.lda = 900;
  args.ldc = 100;
  args.epilogue.residual_stride = 100;
  std::vector<float> apart(1000);
  args.c = apart.data();
  args.epilogue.residual = start.data();
  matmul(packed, args);
  std::vector<float> in_place = start;
  args.c = in_place.data();
  args.epilogue.residual = in_place.data();
  matmul(packed, args);
  EXPECT_EQ(apart, in_place);
}

TEST_P(Matmul, SideBySide) {
  Random random(9);
  const std::int64_t k = 70;
  const std::vector<std::int64_t> columns = {40, 3, 100, 64, 1};
  std::vector<std::vector<float>> data;
  std::vector<MatrixView> views;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    data.push_back(random.vector(k * columns[i]));
    const std::int64_t n = columns[i];
    views.push_back(i % 2 == 0 ? MatrixView{data[i].data(), Element::f32, k, n, n, 1}
                               : MatrixView{data[i].data(), Element::f32, k, n, 1, k});
  }
  for (const Element storage : {Element::f32, Element::bf16, Element::f16}) {
    const PackedWeights together = PackedWeights::pack(views, storage);
    const std::vector<float> a = random.vector(k);
    std::vector<float> c(static_cast<std::size_t>(together.n()));
    MatmulArgs args{.rows = 1, .a = a.data(), .lda = k, .c = c.data(), .ldc = together.n()};
    matmul(together, args);
    std::size_t at = 0;
    for (const MatrixView& view : views) {
      const PackedWeights alone = PackedWeights::pack(view, storage);
      std::vector<float> part(static_cast<std::size_t>(alone.n()));
      args.c = part.data();
      matmul(alone, args);
      for (const float value : part) ASSERT_EQ(value, c[at++]);
    }
  }
}

TEST_P(Matmul, SameBitsForEveryThreadCountAndBatch) {
  Random random(3);
  const std::int64_t k = 1000;
  const std::int64_t n = 300;
  const std::int64_t m = 50;
  const std::vector<float> a = random.vector(m * k);
  const std::vector<float> w = random.vector(k * n);
  for (const Element storage : {Element::f32, Element::bf16}) {
    const PackedWeights packed = PackedWeights::pack({w.data(), Element::f32, k, n, n, 1}, storage);
    std::vector<float> expected(static_cast<std::size_t>(m * n));
    matmul(packed, {.rows = m, .a = a.data(), .lda = k, .c = expected.data(), .ldc = n});
    for (const int threads : {2, 3}) {
      const ThreadScope scope(threads);
      std::vector<float> c(expected.size());
      matmul(packed, {.rows = m, .a = a.data(), .lda = k, .c = c.data(), .ldc = n});
      EXPECT_EQ(c, expected);
    }
    for (std::int64_t i = 0; i < m; i += 7) {
      std::vector<float> row(static_cast<std::size_t>(n));
      matmul(packed, {.rows = 1, .a = a.data() + i * k, .lda = k, .c = row.data(), .ldc = n});
      for (std::int64_t j = 0; j < n; ++j) {
        ASSERT_EQ(row[static_cast<std::size_t>(j)], expected[static_cast<std::size_t>(i * n + j)]);
      }
    }
  }
}

TEST_P(Matmul, GatherColumns) {
  Random random(4);
  const std::int64_t k = 37;
  const std::int64_t n = 150;
  const std::vector<float> w = random.vector(k * n);
  for (const Element storage : {Element::f32, Element::bf16, Element::f16}) {
    const PackedWeights packed = PackedWeights::pack({w.data(), Element::f32, k, n, 1, k}, storage);
    const std::vector<std::int64_t> indices = {0, 149, 3, 3, 64, 65, 128};
    std::vector<float> out(indices.size() * static_cast<std::size_t>(k));
    packed.gather_columns(indices, out.data());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      for (std::int64_t x = 0; x < k; ++x) {
        ASSERT_EQ(out[i * static_cast<std::size_t>(k) + static_cast<std::size_t>(x)],
                  round_to(storage, w[static_cast<std::size_t>(indices[i] * k + x)]));
      }
    }
  }
}

TEST_P(Matmul, NothingToSum) {
  std::vector<float> c(10, 5.0f);
  const std::vector<float> bias(10, 2.0f);
  const PackedWeights packed =
      PackedWeights::pack({nullptr, Element::f32, 0, 10, 10, 1}, Element::f32);
  MatmulArgs args{.rows = 1, .a = nullptr, .lda = 0, .c = c.data(), .ldc = 10};
  args.epilogue.bias = bias.data();
  matmul(packed, args);
  EXPECT_EQ(c, bias);
}

CONCORD_FOR_EACH_ISA(Matmul);

}  // namespace
}  // namespace concord::cpu
