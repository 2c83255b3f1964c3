// Products of bytes against 64-bit integer loops: odd sizes, every signedness, zero points, values
// at the ends of their range, and the scaled form.

#include "backends/cpu/kernels/matmul_int8.h"

#include <cmath>

#include "backends/cpu/kernels/parallel.h"
#include "tests/cpu/isa_param.h"
#include "tests/cpu/random_data.h"

namespace concord::cpu {
namespace {

struct Problem {
  std::int64_t m, n, k;
  bool a_signed = false, w_signed = true;
  int a_zeros = 0, w_zeros = 0;  // none, one for all, or (2) one per row or column
  bool transposed = false;
  bool extremes = false;  // only the ends of the range: the sums that would saturate in 16 bits
};

class MatmulInt8 : public IsaTest {
 protected:
  static std::vector<std::byte> bytes(Random& random, std::int64_t count, bool extremes) {
    std::vector<std::byte> values;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t value =
          extremes ? (random.below(2) == 0 ? 0x7f : 0xff) : random.below(256);
      values.push_back(static_cast<std::byte>(value));
    }
    return values;
  }
  static std::int32_t number(bool is_signed, std::byte value) {
    const auto byte = static_cast<std::uint8_t>(value);
    return is_signed ? static_cast<std::int8_t>(byte) : byte;
  }

  static void check(const Problem& p, int threads = 1) {
    SCOPED_TRACE(::testing::Message()
                 << p.m << "x" << p.n << "x" << p.k << " signed " << p.a_signed << p.w_signed
                 << " zeros " << p.a_zeros << p.w_zeros << " transposed " << p.transposed);
    Random random(static_cast<std::uint32_t>(p.m * 131 + p.n * 17 + p.k));
    const std::int64_t lda = p.k + 3;
    const std::int64_t ldc = p.n + 5;
    const auto a = bytes(random, p.m * lda, p.extremes);
    const auto w = bytes(random, p.k * p.n, p.extremes);
    const auto a_zeros = bytes(random, p.m, false);
    const auto w_zero_bytes = bytes(random, p.n, false);
    const auto w_at = [&](std::int64_t l, std::int64_t j) {
      return w[static_cast<std::size_t>(p.transposed ? j * p.k + l : l * p.n + j)];
    };

    ByteMatrix matrix{w.data(), p.w_signed, p.k, p.n, p.n, 1};
    if (p.transposed) matrix = {w.data(), p.w_signed, p.k, p.n, 1, p.k};
    std::vector<std::int32_t> w_zeros;
    for (std::int64_t j = 0; j < (p.w_zeros == 2 ? p.n : p.w_zeros); ++j) {
      w_zeros.push_back(number(p.w_signed, w_zero_bytes[static_cast<std::size_t>(j)]));
    }
    const ThreadScope scope(threads);
    const PackedBytes packed = PackedBytes::pack(matrix, w_zeros);

    std::vector<std::int64_t> sums;
    for (std::int64_t i = 0; i < p.m; ++i) {
      const std::size_t a_at = p.a_zeros == 2 ? static_cast<std::size_t>(i) : 0;
      const std::int64_t a_zero = p.a_zeros == 0 ? 0 : number(p.a_signed, a_zeros[a_at]);
      for (std::int64_t j = 0; j < p.n; ++j) {
        const std::int64_t w_zero =
            w_zeros.empty() ? 0 : w_zeros[p.w_zeros == 2 ? static_cast<std::size_t>(j) : 0];
        std::int64_t sum = 0;
        for (std::int64_t l = 0; l < p.k; ++l) {
          sum += (number(p.a_signed, a[static_cast<std::size_t>(i * lda + l)]) - a_zero) *
                 (number(p.w_signed, w_at(l, j)) - w_zero);
        }
        sums.push_back(sum);
      }
    }

    MatmulInt8Args args;
    args.rows = p.m;
    args.a = a.data();
    args.a_signed = p.a_signed;
    args.lda = lda;
    if (p.a_zeros != 0) args.a_zeros = a_zeros.data();
    args.a_zero_stride = p.a_zeros == 2 ? 1 : 0;
    std::vector<std::int32_t> c(static_cast<std::size_t>(p.m * ldc), 77);
    args.c = c.data();
    args.ldc = ldc;
    matmul_int8(packed, args);
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < ldc; ++j) {
        const auto at = static_cast<std::size_t>(i * ldc + j);
        const std::int64_t wanted = j < p.n ? sums[static_cast<std::size_t>(i * p.n + j)] : 77;
        ASSERT_EQ(c[at], wanted) << "row " << i << " column " << j;
      }
    }

    // Scaled, with everything that may follow.
    const std::vector<float> scales = random.vector(p.n, 0.001f, 0.01f);
    const std::vector<float> bias = random.vector(p.n);
    const std::vector<float> residual = random.vector(p.m * ldc);
    std::vector<float> y(static_cast<std::size_t>(p.m * ldc), 77.0f);
    args.scales = scales.data();
    args.scale_stride = p.w_zeros == 1 ? 0 : 1;
    args.c = y.data();
    args.epilogue.bias = bias.data();
    args.epilogue.activation = Activation::relu;
    args.epilogue.residual = residual.data();
    args.epilogue.residual_stride = ldc;
    matmul_int8(packed, args);
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < ldc; ++j) {
        const auto at = static_cast<std::size_t>(i * ldc + j);
        if (j >= p.n) {
          ASSERT_EQ(y[at], 77.0f) << "wrote beyond the row";
          continue;
        }
        const auto column = static_cast<std::size_t>(j);
        const double scale = double(scales[args.scale_stride == 0 ? 0 : column]);
        const double product = double(sums[static_cast<std::size_t>(i * p.n + j)]) * scale;
        const double wanted = std::max(product + double(bias[column]), 0.0) + double(residual[at]);
        // The sum as f32, the product, and two additions are rounded once each.
        const double bound = 0x1p-23 * (2 * std::abs(product) + 2 * std::abs(wanted) + 4);
        ASSERT_NEAR(double(y[at]), wanted, bound) << "row " << i << " column " << j;
      }
    }
  }
};

TEST_P(MatmulInt8, OddSizes) {
  for (const std::int64_t m : {1, 2, 5, 6, 7, 13}) {
    for (const std::int64_t n : {1, 7, 16, 33, 64, 65, 130}) {
      for (const std::int64_t k : {1, 2, 3, 4, 5, 31, 64}) check({m, n, k});
    }
  }
}

TEST_P(MatmulInt8, SignsAndZeroPoints) {
  for (const bool a_signed : {false, true}) {
    for (const bool w_signed : {false, true}) {
      for (int a_zeros = 0; a_zeros < 3; ++a_zeros) {
        for (int w_zeros = 0; w_zeros < 3; ++w_zeros) {
          for (const bool transposed : {false, true}) {
            for (const std::int64_t k : {6, 32}) {
              check({5, 67, k, a_signed, w_signed, a_zeros, w_zeros, transposed});
            }
          }
        }
      }
    }
  }
}

TEST_P(MatmulInt8, EndsOfTheRange) {
  for (const bool a_signed : {false, true}) {
    for (const bool w_signed : {false, true}) {
      check({.m = 4,
             .n = 64,
             .k = 256,
             .a_signed = a_signed,
             .w_signed = w_signed,
             .extremes = true});
    }
  }
}

TEST_P(MatmulInt8, LargeAndThreaded) {
  check({.m = 65, .n = 200, .k = 1030, .a_zeros = 1}, 2);
  check({.m = 300, .n = 70, .k = 1500, .a_signed = true, .w_zeros = 2}, 2);
}

// Batches whose second operand is not packed before: a [2, 1, m, k] times b [3, k, n].
struct BatchedProblem {
  std::int64_t m, n, k;
  bool a_signed, b_signed, transposed;
};

void check_batched(const BatchedProblem& p, int threads = 1) {
  SCOPED_TRACE(::testing::Message() << p.m << "x" << p.n << "x" << p.k << " signed " << p.a_signed
                                    << p.b_signed << " transposed " << p.transposed);
  Random random(static_cast<std::uint32_t>(p.m * 131 + p.n * 17 + p.k));
  const auto bytes = [&](std::int64_t count) {
    std::vector<std::byte> values;
    for (std::int64_t i = 0; i < count; ++i) {
      values.push_back(static_cast<std::byte>(random.below(256)));
    }
    return values;
  };
  const auto number = [](bool is_signed, std::byte value) {
    const auto byte = static_cast<std::uint8_t>(value);
    return is_signed ? std::int64_t{static_cast<std::int8_t>(byte)} : std::int64_t{byte};
  };
  const std::int64_t lda = p.k + 1;
  const auto a = bytes(2 * p.m * lda);
  const auto b = bytes(3 * p.k * p.n);
  const auto zeros = bytes(2);
  const float scale = 0.25f;
  const ThreadScope scope(threads);
  for (const bool scaled : {false, true}) {
    std::vector<std::int32_t> sums(static_cast<std::size_t>(6 * p.m * p.n), 77);
    std::vector<float> floats(sums.size(), 77);
    BatchedMatmulInt8Args args;
    args.product.rows = p.m;
    args.product.a = a.data();
    args.product.a_signed = p.a_signed;
    args.product.lda = lda;
    args.product.a_zeros = zeros.data();
    args.product.scales = scaled ? &scale : nullptr;
    args.product.c = scaled ? static_cast<void*>(floats.data()) : sums.data();
    args.product.ldc = p.n;
    args.b = {b.data(), p.b_signed, p.k, p.n, p.transposed ? 1 : p.n, p.transposed ? p.k : 1};
    args.b_zero = zeros.data() + 1;
    args.batch_rank = 2;
    args.batch[0] = 2;
    args.batch[1] = 3;
    args.a_batch_stride[0] = p.m * lda;
    args.b_batch_stride[1] = p.k * p.n;
    args.c_batch_stride[0] = 3 * p.m * p.n;
    args.c_batch_stride[1] = p.m * p.n;
    matmul_int8_batched(args);
    const std::int64_t a_zero = number(p.a_signed, zeros[0]);
    const std::int64_t b_zero = number(p.b_signed, zeros[1]);
    for (std::int64_t at = 0; at < 6 * p.m * p.n; ++at) {
      const std::int64_t batch = at / (p.m * p.n);
      const std::int64_t i = at / p.n % p.m;
      const std::int64_t j = at % p.n;
      std::int64_t sum = 0;
      for (std::int64_t l = 0; l < p.k; ++l) {
        const std::int64_t a_at = (batch / 3 * p.m + i) * lda + l;
        const std::int64_t b_at =
            batch % 3 * p.k * p.n + (p.transposed ? j * p.k + l : l * p.n + j);
        sum += (number(p.a_signed, a[static_cast<std::size_t>(a_at)]) - a_zero) *
               (number(p.b_signed, b[static_cast<std::size_t>(b_at)]) - b_zero);
      }
      const auto place = static_cast<std::size_t>(at);
      if (scaled) {
        const double wanted = static_cast<double>(sum) * 0.25;
        ASSERT_NEAR(double(floats[place]), wanted, std::abs(wanted) * 0x1p-22) << at;
      } else {
        ASSERT_EQ(sums[place], sum) << at;
      }
    }
  }
}

TEST_P(MatmulInt8, Batches) {
  for (const std::int64_t n : {1, 16, 64, 67, 130}) {
    for (const std::int64_t k : {1, 4, 7, 32}) {
      for (int kind = 0; kind < 8; ++kind) {
        check_batched({5, n, k, (kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0});
      }
    }
  }
  check_batched({130, 70, 64, false, true, false}, 2);
}

// 40,000 products of 255·255 are more than 32 bits hold: scaled sums are right all the same.
TEST_P(MatmulInt8, LongScaledSumsDoNotWrap) {
  const std::int64_t k = 40000;
  const std::vector<std::byte> ones(static_cast<std::size_t>(k), std::byte{0xff});
  const float scale = 0x1p-10f;
  float c = 0;
  BatchedMatmulInt8Args args;
  args.product.rows = 1;
  args.product.a = ones.data();
  args.product.lda = k;
  args.product.scales = &scale;
  args.product.c = &c;
  args.product.ldc = 1;
  args.b = {ones.data(), false, k, 1, 1, 1};
  matmul_int8_batched(args);
  EXPECT_NEAR(double(c), 255.0 * 255.0 * 40000.0 / 1024.0, 0.5);
}

CONCORD_FOR_EACH_ISA(MatmulInt8);

}  // namespace
}  // namespace concord::cpu
