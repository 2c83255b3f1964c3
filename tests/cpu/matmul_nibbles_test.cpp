// Products with 4-bit weights against double loops: odd sizes, zero points, both kinds of left
// operand.

#include "backends/cpu/kernels/matmul_nibbles.h"

#include <cmath>

#include "backends/cpu/kernels/parallel.h"
#include "tests/cpu/isa_param.h"
#include "tests/cpu/random_data.h"

namespace concord::cpu {
namespace {

struct Source {
  std::int64_t k, n, block;
  std::vector<std::uint8_t> values, zeros;  // [n][k], [n][blocks]
  std::vector<float> scales;                // [n][blocks]

  std::int64_t blocks() const { return (k + block - 1) / block; }
  double weight(std::int64_t j, std::int64_t l) const {
    const auto at = static_cast<std::size_t>(j * blocks() + l / block);
    return (values[static_cast<std::size_t>(j * k + l)] - int{zeros[at]}) * double(scales[at]);
  }

  static std::uint32_t octet(const void* source, std::int64_t j, std::int64_t l) {
    const auto& s = *static_cast<const Source*>(source);
    std::uint32_t word = 0;
    for (std::int64_t i = 0; i < 8 && l + i < s.k; ++i) {
      word |= std::uint32_t{s.values[static_cast<std::size_t>(j * s.k + l + i)]} << (4 * i);
    }
    return word;
  }
  static float scale(const void* source, std::int64_t j, std::int64_t b) {
    const auto& s = *static_cast<const Source*>(source);
    return s.scales[static_cast<std::size_t>(j * s.blocks() + b)];
  }
  static std::uint8_t zero(const void* source, std::int64_t j, std::int64_t b) {
    const auto& s = *static_cast<const Source*>(source);
    return s.zeros[static_cast<std::size_t>(j * s.blocks() + b)];
  }
};

class MatmulNibbles : public IsaTest {
 protected:
  static Source source(std::int64_t n, std::int64_t k, std::int64_t block, bool zeros) {
    Random random(static_cast<std::uint32_t>(n * 31 + k));
    Source s{k, n, block, {}, {}, {}};
    for (std::int64_t i = 0; i < n * k; ++i) {
      s.values.push_back(static_cast<std::uint8_t>(random.below(16)));
    }
    for (std::int64_t i = 0; i < n * s.blocks(); ++i) {
      s.zeros.push_back(zeros ? static_cast<std::uint8_t>(random.below(16)) : std::uint8_t{8});
      s.scales.push_back(random.uniform(0.01f, 0.2f));
    }
    return s;
  }

  static void check(std::int64_t m, const Source& s, bool quantise, int threads = 1) {
    SCOPED_TRACE(::testing::Message() << m << "x" << s.n << "x" << s.k << " block " << s.block
                                      << " quantised " << quantise);
    Random random(static_cast<std::uint32_t>(m));
    const std::int64_t lda = s.k + 3;
    const std::int64_t ldc = s.n + 5;
    const std::vector<float> a = random.vector(m * lda);
    const std::vector<float> bias = random.vector(s.n);
    const ThreadScope scope(threads);
    const PackedNibbles packed =
        PackedNibbles::pack({s.k, s.n, s.block, Source::octet, Source::scale, Source::zero, &s});
    std::vector<float> c(static_cast<std::size_t>(m * ldc), 77.0f);
    AlignedBuffer rows(static_cast<std::size_t>(QuantisedRows::bytes(m, s.k, s.block)));
    MatmulArgs args;
    args.rows = m;
    args.a = a.data();
    args.lda = lda;
    args.c = c.data();
    args.ldc = ldc;
    args.epilogue.bias = bias.data();
    matmul_nibbles(packed, args, quantise ? rows.data() : nullptr);

    const bool rounded = quantise && can_quantise_rows(packed);
    for (std::int64_t i = 0; i < m; ++i) {
      // The left operand as it is used: in 8 bits where that was asked for.
      std::vector<double> left;
      for (std::int64_t l = 0; l < s.k; ++l) {
        double x = double(a[static_cast<std::size_t>(i * lda + l)]);
        if (rounded) {
          float largest = 0;
          const std::int64_t first = l / s.block * s.block;
          for (std::int64_t b = first; b < std::min(s.k, first + s.block); ++b) {
            largest = std::max(largest, std::abs(a[static_cast<std::size_t>(i * lda + b)]));
          }
          x = double(std::nearbyint(float(x) * (127.0f / largest)) * (largest / 127.0f));
        }
        left.push_back(x);
      }
      for (std::int64_t j = 0; j < ldc; ++j) {
        const auto at = static_cast<std::size_t>(i * ldc + j);
        if (j >= s.n) {
          ASSERT_EQ(c[at], 77.0f) << "wrote beyond the row";
          continue;
        }
        double y = double(bias[static_cast<std::size_t>(j)]);
        double magnitude = std::abs(y);
        for (std::int64_t l = 0; l < s.k; ++l) {
          const double term = left[static_cast<std::size_t>(l)] * s.weight(j, l);
          y += term;
          magnitude += std::abs(term);
        }
        ASSERT_NEAR(double(c[at]), y, 4e-7 * magnitude + 1e-6) << "row " << i << " column " << j;
      }
    }
  }
};

TEST_P(MatmulNibbles, OddSizes) {
  for (const bool zeros : {false, true}) {
    for (const std::int64_t n : {1, 16, 33, 64, 130}) {
      for (const std::int64_t k : {8, 16, 20, 32, 45, 96}) {
        const Source s = source(n, k, 16, zeros);
        for (const std::int64_t m : {1, 2, 3, 4, 5, 6, 7, 13, 17}) {
          check(m, s, false);
          check(m, s, true);
        }
      }
    }
  }
}

TEST_P(MatmulNibbles, EveryBlock) {
  for (const std::int64_t block : {8, 16, 32, 64, 128, 256}) {
    const Source s = source(70, 300, block, true);
    for (const std::int64_t m : {1, 9}) {
      check(m, s, false);
      check(m, s, true);
    }
  }
}

TEST_P(MatmulNibbles, LongAndThreaded) {
  const Source s = source(200, 2050, 32, false);
  for (const std::int64_t m : {1, 64, 150}) {
    check(m, s, false, 2);
    check(m, s, true, 2);
  }
}

// Which kernel multiplies follows from the product, not from a thread's share of it.
TEST_P(MatmulNibbles, SameBitsForAnyNumberOfThreads) {
  for (const std::int64_t n : {64, 200}) {
    const Source s = source(n, 512, 32, false);
    const PackedNibbles packed =
        PackedNibbles::pack({s.k, s.n, s.block, Source::octet, Source::scale, Source::zero, &s});
    Random random(5);
    for (const std::int64_t m : {1, 2, 5, 8, 9, 12, 16, 17, 40}) {
      const std::vector<float> a = random.vector(m * s.k);
      std::vector<float> first;
      for (const int threads : {1, 2, 4}) {
        const ThreadScope scope(threads);
        std::vector<float> c(static_cast<std::size_t>(m * n));
        matmul_nibbles(packed, {.rows = m, .a = a.data(), .lda = s.k, .c = c.data(), .ldc = n});
        if (first.empty()) first = c;
        ASSERT_EQ(c, first) << m << " rows, " << threads << " threads";
      }
    }
  }
}

CONCORD_FOR_EACH_ISA(MatmulNibbles);

}  // namespace
}  // namespace concord::cpu
