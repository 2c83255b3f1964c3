// Products of batches of activations against double loops.

#include <cmath>

#include "backends/cpu/kernels/matmul.h"
#include "backends/cpu/kernels/parallel.h"
#include "tests/cpu/isa_param.h"
#include "tests/cpu/random_data.h"

namespace concord::cpu {
namespace {

struct Case {
  std::int64_t m, n, k;
  bool a_transposed = false, b_transposed = false;
  Element type = Element::f32;
  Element c_type = Element::f32;
  bool bias = false, round = false, broadcast = false;
  float scale = 1.0f;
};

float read(const std::vector<float>& x, Element type, bool round, std::int64_t at) {
  const float value = x[static_cast<std::size_t>(at)];
  if (type == Element::f16) {
    const float half = to_float(to_half(value));
    return round ? to_float(to_bfloat16(half)) : half;
  }
  return type == Element::bf16 || round ? to_float(to_bfloat16(value)) : value;
}

class MatmulBatched : public IsaTest {
 protected:
  static void check(const Case& c) {
    SCOPED_TRACE(::testing::Message()
                 << c.m << "x" << c.n << "x" << c.k << " " << c.a_transposed << c.b_transposed
                 << " type " << static_cast<int>(c.type) << " round " << c.round);
    Random random(static_cast<std::uint32_t>(c.m + 31 * c.n + 57 * c.k));
    const std::int64_t batch[2] = {2, 3};
    const std::vector<float> a = random.vector(6 * c.m * c.k + 1);
    const std::vector<float> b = random.vector(6 * c.k * c.n + 1);
    const std::vector<float> bias = random.vector(c.n);
    const std::vector<Half> a16 = as_f16(a);
    const std::vector<Half> b16 = as_f16(b);
    const std::vector<BFloat16> abf = as_bf16(a);
    const std::vector<BFloat16> bbf = as_bf16(b);
    const auto data = [&](const auto& f32, const auto& f16, const auto& bf16) -> const void* {
      if (c.type == Element::f16) return f16.data();
      if (c.type == Element::bf16) return bf16.data();
      return f32.data();
    };
    BatchedMatmulArgs args;
    args.m = c.m;
    args.n = c.n;
    args.k = c.k;
    args.a = {data(a, a16, abf),       c.type, c.m, c.k, c.a_transposed ? 1 : c.k,
              c.a_transposed ? c.m : 1};
    args.b = {data(b, b16, bbf),       c.type, c.k, c.n, c.b_transposed ? 1 : c.n,
              c.b_transposed ? c.k : 1};
    const std::int64_t ldc = c.n + 2;
    std::vector<float> out(static_cast<std::size_t>(6 * c.m * ldc), 5.0f);
    std::vector<BFloat16> out_bf16(out.size());
    args.c = c.c_type == Element::f32 ? static_cast<void*>(out.data()) : out_bf16.data();
    args.c_type = c.c_type;
    args.ldc = ldc;
    args.batch_rank = 2;
    for (int i = 0; i < 2; ++i) {
      args.batch[i] = batch[i];
      const std::int64_t step = i == 0 ? 3 : 1;
      args.a_batch_stride[i] = c.broadcast && i == 1 ? 0 : step * c.m * c.k;
      args.b_batch_stride[i] = c.broadcast && i == 0 ? 0 : step * c.k * c.n;
      args.c_batch_stride[i] = step * c.m * ldc;
    }
    args.scale = c.scale;
    if (c.bias) args.bias = bias.data();
    args.round_to_bf16 = c.round;
    const ThreadScope scope(2);
    matmul_batched(args);
    for (std::int64_t x = 0; x < 6; ++x) {
      const std::int64_t a0 = x / 3 * args.a_batch_stride[0] + x % 3 * args.a_batch_stride[1];
      const std::int64_t b0 = x / 3 * args.b_batch_stride[0] + x % 3 * args.b_batch_stride[1];
      for (std::int64_t i = 0; i < c.m; ++i) {
        for (std::int64_t j = 0; j < c.n; ++j) {
          double sum = 0;
          double squares = 0;
          for (std::int64_t p = 0; p < c.k; ++p) {
            const double term = double(read(a, c.type, c.round,
                                            a0 + i * args.a.row_stride + p * args.a.col_stride)) *
                                double(read(b, c.type, c.round,
                                            b0 + p * args.b.row_stride + j * args.b.col_stride));
            sum += term;
            squares += term * term;
          }
          double y = sum * double(c.scale);
          if (c.bias) y += double(bias[static_cast<std::size_t>(j)]);
          const double length = static_cast<double>(c.k);
          double bound = 6 * 0x1p-24 *
                             std::sqrt((squares * (1 + length / 2) + sum * sum * length / 3) / 3) *
                             double(c.scale) +
                         4 * 0x1p-24 * (std::abs(y) + std::abs(sum)) + 1e-30;
          const auto at = static_cast<std::size_t>(x * c.m * ldc + i * ldc + j);
          double got = double(out[at]);
          if (c.c_type == Element::bf16) {
            got = double(to_float(out_bf16[at]));
            bound += std::abs(y) / 256;
          }
          ASSERT_NEAR(got, y, bound) << "batch " << x << " row " << i << " column " << j;
        }
        if (c.c_type == Element::f32) {
          ASSERT_EQ(out[static_cast<std::size_t>(x * c.m * ldc + i * ldc + c.n)], 5.0f);
        }
      }
    }
  }
};

TEST_P(MatmulBatched, OddSizesAndOrders) {
  for (const std::int64_t m : {1, 2, 3, 5, 13, 30}) {
    for (const std::int64_t n : {1, 8, 17, 64, 70}) {
      for (const std::int64_t k : {1, 2, 7, 33, 64}) {
        for (int order = 0; order < 4; ++order) {
          check({.m = m,
                 .n = n,
                 .k = k,
                 .a_transposed = (order & 1) != 0,
                 .b_transposed = (order & 2) != 0});
        }
      }
    }
  }
}

TEST_P(MatmulBatched, TypesScalesAndBias) {
  for (const Element type : {Element::f32, Element::f16, Element::bf16}) {
    for (const std::int64_t m : {1, 9, 20}) {
      for (int order = 0; order < 4; ++order) {
        for (const bool round : {false, true}) {
          check({.m = m,
                 .n = 37,
                 .k = 21,
                 .a_transposed = (order & 1) != 0,
                 .b_transposed = (order & 2) != 0,
                 .type = type,
                 .round = round,
                 .scale = 0.3f});
        }
      }
      check({.m = m,
             .n = 66,
             .k = 22,
             .type = type,
             .c_type = Element::bf16,
             .bias = true,
             .broadcast = true});
    }
  }
}

TEST_P(MatmulBatched, LongSums) {
  check({.m = 7, .n = 65, .k = 1600});
  check({.m = 1, .n = 65, .k = 1600, .b_transposed = true});
  check({.m = 200, .n = 20, .k = 801, .a_transposed = true, .round = true});
}

TEST_P(MatmulBatched, NothingToSum) {
  float c[4] = {9, 9, 9, 9};
  BatchedMatmulArgs args;
  args.m = 2;
  args.n = 2;
  args.a = {nullptr, Element::f32, 2, 0, 0, 1};
  args.b = {nullptr, Element::f32, 0, 2, 2, 1};
  args.c = c;
  args.ldc = 2;
  matmul_batched(args);
  for (const float v : c) EXPECT_EQ(v, 0.0f);
}

CONCORD_FOR_EACH_ISA(MatmulBatched);

}  // namespace
}  // namespace concord::cpu
