#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/matmul.h"
#include "tests/gpu/kernel_fixture.h"
#include "tests/gpu/numbers.h"

namespace concord::gpu {
namespace {

using kernels::MatmulParams;

// A kernel and what a workgroup of it computes.
struct Variant {
  std::string name;
  int rows, columns;
  bool pairs = false;         // loads 64 bits, so that k, n and strides are even
  int transposed = -1;        // whether b must be (1) or must not be (0) transposed
  int smallest_subgroup = 1;  // 8: needs shuffles within 8 lanes
  std::string epilogue = {};  // the only one it has
  int k_multiple = 1;
};

std::vector<Variant> variants() {
  std::vector<Variant> all = {
      {"matmul_direct", 8, 64},
      {"matmul_tile32", 32, 32},
      {"matmul_tile64", 64, 64},
      {"matmul_tile128", 128, 128},
      {"matmul_gemv", 1, 32},
      {"matmul_gemv_transposed", 1, 8},
      {"matmul_wave16", 16, 32, false, -1, 8},
      {"matmul_wave16", 16, 32, false, -1, 8, "plain"},
      {"matmul_wave2", 2, 32, false, -1, 8},
      {"matmul_wave2", 2, 32, false, -1, 8, "plain"},
  };
  for (const char* epilogue : {"", "plain"}) {
    for (const int transposed : {0, 1}) {
      const std::string tail = transposed == 1 ? "_pairs_transposed" : "_pairs";
      all.push_back({"matmul_wave16x64" + tail, 16, 64, true, transposed, 8, epilogue});
      all.push_back({"matmul_wave16x32" + tail, 16, 32, true, transposed, 8, epilogue});
      all.push_back({"matmul_wave2x64" + tail, 2, 64, true, transposed, 8, epilogue});
    }
    all.push_back({"matmul_wave2x64_quads", 2, 64, true, 1, 8, epilogue, 4});
  }
  for (const char* epilogue : {"", "plain", "residual", "relu", "gelu_erf", "gelu_tanh", "silu"}) {
    all.push_back({"matmul_wave32x32_quads", 32, 32, true, 1, 8, epilogue, 4});
    all.push_back({"matmul_wave16x64_quads", 16, 64, true, 1, 8, epilogue, 4});
  }
  for (Variant& v : all) v.name += (v.epilogue.empty() ? "" : "_" + v.epilogue) + "_f32";
  // Of operands that are bf16 already, so that only sums are rounded.
  all.push_back({"matmul_coop64_bf16", 64, 64});
  all.push_back({"matmul_coop128_bf16", 128, 128});
  return all;
}

struct Problem {
  int m, n, k;
  bool transpose_a = false, transpose_b = false;
  int batch0 = 1, batch1 = 1, batch2 = 1;
  bool share_b = false;  // b has no third batch axis, as keys of grouped heads
  bool bias = false, bias_per_row = false, residual = false;
  int activation = 0;
  float alpha = 1.0f;
};

double activate(double x, int activation) {
  switch (activation) {
    case 1:
      return std::max(x, 0.0);
    case 2:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case 3:
      return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    case 4:
      return x / (1 + std::exp(-x));
    case 5:
      return std::tanh(x);
    case 6:
      return 1 / (1 + std::exp(-x));
    case 7:
      return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
    default:
      return x;
  }
}

class MatmulKernel : public testing::TestWithParam<Variant> {
 protected:
  void SetUp() override {
    if (!runs_here(GetParam().name)) GTEST_SKIP() << "not on this device";
  }
};

void round_to_bf16(std::vector<float>& values) {
  for (float& value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    value = std::bit_cast<float>((bits + 0x7fffU + (bits >> 16 & 1U)) & 0xffff0000U);
  }
}

void check(const Variant& variant, const Problem& p) {
  SCOPED_TRACE(testing::Message() << p.m << "x" << p.n << "x" << p.k << " transposed "
                                  << p.transpose_a << p.transpose_b << " batch " << p.batch0 << ","
                                  << p.batch1 << "," << p.batch2 << " activation " << p.activation);
  const int batches = p.batch0 * p.batch1 * p.batch2;
  const int b_batches = p.share_b ? p.batch0 * p.batch1 : batches;
  // Kernels that load pairs want even rows; what fills them up must not count.
  const int k_pitch = variant.pairs ? p.k + p.k % 2 : p.k;
  const int mk = p.transpose_a ? p.m * p.k : p.m * k_pitch;
  const int kn = p.transpose_b ? p.n * k_pitch : p.k * p.n;
  const int mn = p.m * p.n;
  std::vector<float> a = normal(static_cast<std::size_t>(batches) * mk, 1);
  std::vector<float> b = normal(static_cast<std::size_t>(b_batches) * kn, 2);
  if (variant.name.ends_with("_bf16")) {
    round_to_bf16(a);
    round_to_bf16(b);
  }
  if (k_pitch > p.k) {
    for (std::size_t i = p.k; i < a.size(); i += k_pitch) a[i] = NAN;
    for (std::size_t i = p.k; p.transpose_b && i < b.size(); i += k_pitch) b[i] = NAN;
  }
  const std::vector<float> bias = normal(p.bias_per_row ? p.m : p.n, 3);
  const std::vector<float> residual = normal(static_cast<std::size_t>(batches) * mn, 4);
  const auto a_buffer = upload(a);
  const auto b_buffer = upload(b);
  const auto bias_buffer = upload(bias);
  const auto residual_buffer = upload(residual);
  const auto c_buffer = upload(std::vector<float>(residual.size() + 1, 7.0f));
  MatmulParams params;
  params.a = a_buffer.ptr;
  params.b = b_buffer.ptr;
  params.c = c_buffer.ptr;
  if (p.bias) params.bias = bias_buffer.ptr;
  if (p.residual) params.residual = residual_buffer.ptr;
  params.m = p.m;
  params.n = p.n;
  params.k = p.k;
  params.a_row = p.transpose_a ? 1 : k_pitch;
  params.a_column = p.transpose_a ? p.m : 1;
  params.b_row = p.transpose_b ? 1 : p.n;
  params.b_column = p.transpose_b ? k_pitch : 1;
  params.c_row = p.n;
  params.batch1 = p.batch1;
  params.batch2 = p.batch2;
  params.a_batch0 = p.batch1 * p.batch2 * mk;
  params.a_batch1 = p.batch2 * mk;
  params.a_batch2 = mk;
  params.b_batch0 = p.share_b ? p.batch1 * kn : p.batch1 * p.batch2 * kn;
  params.b_batch1 = p.share_b ? kn : p.batch2 * kn;
  params.b_batch2 = p.share_b ? 0 : kn;
  params.c_batch0 = p.batch1 * p.batch2 * mn;
  params.c_batch1 = p.batch2 * mn;
  params.c_batch2 = mn;
  params.bias_per_row = p.bias_per_row ? 1 : 0;
  params.activation = p.activation;
  params.alpha = p.alpha;
  const auto tiles = [](int extent, int tile) {
    return static_cast<std::uint32_t>((extent + tile - 1) / tile);
  };
  launch(
      variant.name,
      {tiles(p.n, variant.columns), tiles(p.m, variant.rows), static_cast<std::uint32_t>(batches)},
      params);
  const std::vector<float> c = download<float>(c_buffer, residual.size() + 1);
  double worst = 0;  // error as a share of what is allowed
  for (int z = 0; z < batches; ++z) {
    const float* az = a.data() + static_cast<std::ptrdiff_t>(z) * mk;
    const float* bz = b.data() + static_cast<std::ptrdiff_t>(p.share_b ? z / p.batch2 : z) * kn;
    for (int i = 0; i < p.m; ++i) {
      for (int j = 0; j < p.n; ++j) {
        double sum = 0;
        double squares = 0;
        for (int q = 0; q < p.k; ++q) {
          const double product = double{az[p.transpose_a ? q * p.m + i : i * k_pitch + q]} *
                                 double{bz[p.transpose_b ? j * k_pitch + q : q * p.n + j]} *
                                 p.alpha;
          sum += product;
          squares += product * product;
        }
        if (p.bias) {
          const double value = bias[p.bias_per_row ? i : j];
          sum += value;
          squares += value * value;
        }
        const std::size_t at = static_cast<std::size_t>(z) * mn + i * p.n + j;
        double exact = activate(sum, p.activation);
        // Activations have slopes up to 1.13 and an error of 4 ulp, which 6 sigma turn into 48 u.
        double allowed = 1.2 * dot_budget(sum, squares, p.k + 2);
        if (p.activation > 1) allowed += std::ldexp(48 * std::abs(exact) + std::abs(sum), -24);
        if (p.residual) {
          exact += residual[at];
          allowed += std::ldexp(std::abs(exact), -24);
        }
        worst = std::max(worst, std::abs(c[at] - exact) / allowed);
      }
    }
  }
  EXPECT_LE(worst, 1.0);
  EXPECT_EQ(c.back(), 7.0f) << "wrote past the end";
}

TEST_P(MatmulKernel, MatchesPlainLoops) {
  const Variant& v = GetParam();
  if (test_device().properties().subgroup_size < static_cast<std::uint32_t>(v.smallest_subgroup)) {
    GTEST_SKIP() << "needs a subgroup of " << v.smallest_subgroup;
  }
  std::vector<Problem> problems = {
      {.m = 1, .n = 1, .k = 1},
      {.m = 1, .n = 77, .k = 130},
      {.m = 3, .n = 5, .k = 7, .transpose_a = true},
      {.m = 33, .n = 65, .k = 19, .transpose_b = true},
      {.m = 17, .n = 40, .k = 64, .bias = true, .residual = true, .activation = 1, .alpha = 0.5f},
      {.m = 20, .n = 66, .k = 12, .bias = true, .activation = 2},
      {.m = 9, .n = 24, .k = 10, .transpose_b = true, .bias = true, .activation = 3},
      {.m = 9, .n = 24, .k = 10, .residual = true, .activation = 4},
      {.m = 9, .n = 24, .k = 10, .activation = 5, .alpha = 0.25f},
      {.m = 9, .n = 24, .k = 10, .bias = true, .activation = 6},
      {.m = 9, .n = 24, .k = 10, .bias = true, .activation = 7, .alpha = 0.5f},
      {.m = 12,
       .n = 18,
       .k = 32,
       .transpose_b = true,
       .batch0 = 2,
       .batch1 = 3,
       .batch2 = 2,
       .share_b = true,
       .alpha = 0.125f},
      {.m = 5, .n = 14, .k = 8, .batch1 = 3, .residual = true},
      {.m = 14, .n = 6, .k = 9, .batch0 = 2, .bias = true, .bias_per_row = true, .activation = 1},
      {.m = 130, .n = 130, .k = 34},
      {.m = 2, .n = 8, .k = 0, .bias = true},
  };
  for (Problem& p : problems) {
    if (v.pairs) {
      if (p.transpose_a || p.k == 0) continue;
      p.transpose_b = v.transposed == 1;
      p.k = (p.k + v.k_multiple - 1) / v.k_multiple * v.k_multiple;
      if (!p.transpose_b) p.n += p.n % 2;
    }
    if (!v.epilogue.empty()) {
      const std::vector<std::string> names = {"plain", "relu", "gelu_erf", "gelu_tanh", "silu"};
      const auto at = std::find(names.begin(), names.end(), v.epilogue);
      p.activation = at == names.end() ? 0 : static_cast<int>(at - names.begin());
      p.residual = v.epilogue == "residual";
      p.bias_per_row = false;
    }
    check(v, p);
    if (HasFailure()) return;
  }
}

// What is outside of the matrices must not reach the result through 0 * infinity.
TEST_P(MatmulKernel, KeepsInfinityInItsColumn) {
  const Variant& v = GetParam();
  const int m = 3;
  const int n = 10;
  const int k = v.k_multiple == 4 ? 8 : 6;
  std::vector<float> b(static_cast<std::size_t>(k) * n, 1.0f);
  const int at = v.transposed == 1 ? n * k - 1 : k * n - 1;  // the last of both axes
  b[at] = INFINITY;
  const auto a_buffer = upload(std::vector<float>(static_cast<std::size_t>(m) * k, 1.0f));
  const auto b_buffer = upload(b);
  const auto c_buffer = upload(std::vector<float>(static_cast<std::size_t>(m) * n, 7.0f));
  const auto zeros = upload(std::vector<float>(static_cast<std::size_t>(m) * n, 0.0f));
  MatmulParams params;
  params.a = a_buffer.ptr;
  params.b = b_buffer.ptr;
  params.c = c_buffer.ptr;
  params.m = m;
  params.n = n;
  params.k = k;
  params.a_row = k;
  params.a_column = 1;
  params.b_row = v.transposed == 1 ? 1 : n;
  params.b_column = v.transposed == 1 ? k : 1;
  params.c_row = n;
  if (v.epilogue == "residual") params.residual = zeros.ptr;
  params.batch1 = 1;
  params.batch2 = 1;
  params.alpha = 1.0f;
  launch(v.name, {10, 3, 1}, params);
  const std::vector<float> c = download<float>(c_buffer, static_cast<std::size_t>(m) * n);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      const float sum = v.epilogue.empty() || v.epilogue == "plain" || v.epilogue == "residual" ||
                                v.epilogue == "relu"
                            ? static_cast<float>(k)
                            : c[0];
      EXPECT_EQ(c[i * n + j], j == 9 ? INFINITY : sum) << i << ", " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatmulKernel, testing::ValuesIn(variants()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace concord::gpu
