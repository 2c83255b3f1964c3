// Kernels for f16 compute what those for f32 do, and round it: every test runs both on values that
// f16 can hold. What is stored on the way is rounded in f16 only, which attention's test allows
// for.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/attention.h"
#include "backends/gpu/kernels/binary.h"
#include "backends/gpu/kernels/compare.h"
#include "backends/gpu/kernels/matmul.h"
#include "backends/gpu/kernels/norm.h"
#include "backends/gpu/kernels/reduce.h"
#include "backends/gpu/kernels/resample.h"
#include "backends/gpu/kernels/rotary.h"
#include "backends/gpu/kernels/scan.h"
#include "backends/gpu/kernels/softmax.h"
#include "backends/gpu/kernels/unary.h"
#include "backends/gpu/kernels/window.h"
#include "tests/gpu/half.h"
#include "tests/gpu/kernel_fixture.h"
#include "tests/gpu/numbers.h"

namespace concord::gpu {
namespace {

// The same tensor in both types.
struct Both {
  Buffer f32, f16;
  DevicePtr of(bool half) const { return half ? f16.ptr : f32.ptr; }
};

Both both(const std::vector<float>& values) {
  return {upload(rounded_to_half(values)), upload(to_half(values))};
}
Both empty_both(std::size_t count) {
  return both(std::vector<float>(count, 7.0f));
}

// Runs `launch_as` for both types and compares y: bits equal after rounding, or `ulp` f16 apart
// (those of `smallest` for values below it).
void compare_types(const Both& y, std::size_t count, const std::function<void(bool)>& launch_as,
                   double ulp = 0, float smallest = 0.01f) {
  launch_as(false);
  launch_as(true);
  const std::vector<float> exact = download<float>(y.f32, count);
  const std::vector<std::uint16_t> half = download<std::uint16_t>(y.f16, count);
  for (std::size_t i = 0; i < count; ++i) {
    const float expected = half_value(to_half(exact[i]));
    const float got = half_value(half[i]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << i;
    } else if (ulp == 0 || std::isinf(expected)) {
      ASSERT_EQ(got, expected) << i;
    } else {
      ASSERT_NEAR(got, expected, ulp * std::ldexp(std::max(std::abs(expected), smallest), -10))
          << i;
    }
  }
}

std::string typed(const std::string& name, bool half) {
  return name + (half ? "_f16" : "_f32");
}

class F16 : public testing::Test {
 protected:
  void SetUp() override {
    if (!runs_here("unary_exp_f16")) GTEST_SKIP() << "the device has no 16-bit floats";
  }
};

// Names without their type of the kernels that take Params and have both forms.
template <class Params>
std::vector<std::string> families_of(const std::string& prefix) {
  std::vector<std::string> names;
  for (const Kernel* kernel : all_kernels()) {
    const std::string name(kernel->name);
    if (kernel->params_struct != Params::struct_name || !name.ends_with("_f16")) continue;
    const std::string family = name.substr(0, name.size() - 4);
    if (find_kernel(typed(family, false)) == nullptr) continue;  // matrix units take 16 bits only
    if (!runs_here(name)) continue;                              // CUDA has none for CPU drivers
    if (name.starts_with(prefix)) names.push_back(family);
  }
  EXPECT_FALSE(names.empty());
  return names;
}

TEST_F(F16, Unary) {
  std::vector<float> x = normal(2000, 1, 3.0f);
  for (float value : special_values()) x.push_back(value);
  const auto n = static_cast<std::int32_t>(x.size());
  const Both in = both(x);
  const Both out = empty_both(x.size());
  for (const std::string& name : families_of<kernels::UnaryParams>("unary_")) {
    SCOPED_TRACE(name);
    compare_types(out, x.size(), [&](bool half) {
      launch<kernels::UnaryParams>(typed(name, half), flat_groups(n),
                                   {in.of(half), out.of(half), n, 0.5f, 0.25f});
    });
  }
}

TEST_F(F16, BinaryAndComparisons) {
  const int n = 3000;
  const Both a = both(normal(n, 1, 3.0f));
  const Both b = both(normal(n, 2, 3.0f));
  const Both out = empty_both(n);
  for (const std::string& name : families_of<kernels::BinaryParams>("binary_")) {
    SCOPED_TRACE(name);
    compare_types(out, n, [&](bool half) {
      launch<kernels::BinaryParams>(typed(name, half), flat_groups(n),
                                    {a.of(half), b.of(half), out.of(half), n, n, 60});
    });
  }
  for (const std::string& name : families_of<kernels::BinaryAddStridedParams>("binary_")) {
    SCOPED_TRACE(name);
    compare_types(out, 60, [&](bool half) {
      launch<kernels::BinaryAddStridedParams>(
          typed(name, half), {1, 1, 1},
          {a.of(half), b.of(half), out.of(half), 60, 3, 1, 1, 3, 4, 5, 0,
           0,          0,          20,           5,  1, 0, 0, 0, 1, 3, 12});
    });
  }
  for (const std::string& name : families_of<kernels::CompareParams>("compare_")) {
    std::vector<std::int32_t> results[2];
    for (bool half : {false, true}) {
      const Buffer y = upload(std::vector<std::int32_t>(n, 9));
      launch<kernels::CompareParams>(typed(name, half), flat_groups(n),
                                     {a.of(half), b.of(half), y.ptr, n, n, 30});
      results[half ? 1 : 0] = download<std::int32_t>(y, n);
    }
    EXPECT_EQ(results[0], results[1]) << name;
  }
}

TEST_F(F16, Rows) {
  const int rows = 12;
  const int columns = 70;
  const std::size_t count = rows * columns;
  const Both x = both(normal(count, 1, 2.0f));
  const Both residual = both(normal(count, 2));
  const Both gamma = both(normal(columns, 3));
  const Both beta = both(normal(columns, 4));
  const Both y = empty_both(count);
  for (const std::string& name : families_of<kernels::SoftmaxParams>("softmax_")) {
    SCOPED_TRACE(name);
    for (int log : {0, 1}) {
      compare_types(y, count, [&](bool half) {
        launch<kernels::SoftmaxParams>(typed(name, half), {rows, 1, 1},
                                       {x.of(half), y.of(half), rows, columns, 1, 1.0f, log, 0});
      });
    }
  }
  for (const std::string& name : families_of<kernels::NormParams>("norm_")) {
    SCOPED_TRACE(name);
    compare_types(y, count, [&](bool half) {
      launch<kernels::NormParams>(typed(name, half), {rows, 1, 1},
                                  {x.of(half),
                                   residual.of(half),
                                   gamma.of(half),
                                   beta.of(half),
                                   y.of(half),
                                   {},
                                   rows,
                                   columns,
                                   1e-5f});
    });
  }
  for (const std::string& name : families_of<kernels::ReduceParams>("reduce_")) {
    SCOPED_TRACE(name);
    compare_types(y, rows, [&](bool half) {
      launch<kernels::ReduceParams>(typed(name, half), {rows, 1, 1},
                                    {x.of(half), y.of(half), rows, columns, 1});
    });
  }
  compare_types(y, count, [&](bool half) {
    launch<kernels::ScanParams>(typed("scan_sum", half), {1, 1, 1},
                                {x.of(half), y.of(half), rows, columns, 1, 0, 0});
  });
}

TEST_F(F16, AttentionAndRotary) {
  const int rows = 12;
  const int keys = 33;
  const std::vector<float> scores = normal(rows * keys, 1, 2.0f);
  const Both mask = both(normal(keys, 2));
  for (const std::string& name : families_of<kernels::AttentionParams>("attention_")) {
    SCOPED_TRACE(name);
    const Both y = both(scores);
    compare_types(
        y, scores.size(),
        [&](bool half) {
          kernels::AttentionParams params;
          params.scores = y.of(half);
          params.mask = mask.of(half);
          params.rows = rows;
          params.heads = 3;
          params.queries = 4;
          params.keys = keys;
          params.pitch = keys;
          params.mask_key = 1;
          params.mask_kind = 1;
          params.causal = 1;
          params.causal_offset = 10;
          params.window = -1;
          params.scale = 0.5f;
          params.cap = 4.0f;
          launch(typed(name, half), {rows, 1, 1}, params);
        },
        4);
  }
  const Both x = both(normal(2 * 3 * 5 * 16, 3));
  const Both cosines = both(uniform(3 * 8, -1, 1, 4));
  const Both sines = both(uniform(3 * 8, -1, 1, 5));
  const Both y = empty_both(480);
  compare_types(y, 480, [&](bool half) {
    kernels::RotaryParams params;
    params.x = x.of(half);
    params.cos = cosines.of(half);
    params.sin = sines.of(half);
    params.y = y.of(half);
    params.n = 30 * 8;
    params.p = 3;
    params.q = 5;
    params.depth = 16;
    params.rotary = 16;
    params.sequence_first = 1;
    params.width = 8;
    launch(typed("rotary", half), flat_groups(params.n), params);
  });
}

// A product with bias and residual, and its operands.
struct HalfProduct {
  int m = 19, n = 70, k = 28;
  Both a = both(normal(m * k, 1));
  Both b = both(normal(k * n, 2));
  Both bias = both(normal(n, 3));
  Both residual = both(normal(m * n, 4));
  Both c = empty_both(m * n);

  void run(const std::string& name, bool half) const {
    const bool transposed = name.find("transposed") != std::string::npos;
    kernels::MatmulParams params;
    params.a = a.of(half);
    params.b = b.of(half);
    params.c = c.of(half);
    params.bias = bias.of(half);
    params.residual = residual.of(half);
    params.m = m;
    params.n = n;
    params.k = k;
    params.a_row = k;
    params.a_column = 1;
    params.b_row = transposed ? 1 : n;
    params.b_column = transposed ? k : 1;
    params.c_row = n;
    params.batch1 = 1;
    params.batch2 = 1;
    params.alpha = 0.5f;
    // As many workgroups as the smallest tiles need; others stop where there is nothing left.
    const bool tiles =
        name.find("tile") != std::string::npos || name.find("coop") != std::string::npos;
    const auto groups = [&](int extent, int least) {
      return static_cast<std::uint32_t>((extent + least - 1) / least);
    };
    launch(typed(name, half), {groups(n, tiles ? 32 : 8), groups(m, tiles ? 32 : 1), 1}, params);
  }
};

TEST_F(F16, MatrixProducts) {
  const HalfProduct product;
  for (const std::string& name : families_of<kernels::MatmulParams>("matmul_")) {
    SCOPED_TRACE(name);
    if (name.find("wave") != std::string::npos && test_device().properties().subgroup_size < 8) {
      continue;
    }
    compare_types(product.c, product.m * product.n, [&](bool half) { product.run(name, half); });
  }
}

TEST_F(F16, MatrixProductsOnMatrixUnits) {
  if (!runs_here("matmul_coop64_f16")) GTEST_SKIP() << "the device has no matrix units";
  const HalfProduct product;
  for (const char* name : {"matmul_coop64", "matmul_coop128"}) {
    SCOPED_TRACE(name);
    // They may add up in another order.
    compare_types(
        product.c, product.m * product.n,
        [&](bool half) { product.run(half ? name : "matmul_tile64", half); }, 1);
  }
}

// One step and many, tiles that are full and such that are not.
TEST_F(F16, MatrixProductsThatCopyTheirTilesAhead) {
  if (!runs_here("matmul_coop64_copied_f16")) GTEST_SKIP() << "the device has no matrix units";
  for (const auto& [m, n, k] :
       {std::array{19, 72, 24}, std::array{5, 8, 8}, std::array{130, 136, 72}}) {
    const HalfProduct product{.m = m, .n = n, .k = k};
    for (const std::string tile : {"64", "128"}) {
      for (const std::string layout : {"", "_transposed"}) {
        const std::string name = "matmul_coop" + tile + "_copied" + layout;
        SCOPED_TRACE(testing::Message() << name << " " << m << "x" << n << "x" << k);
        // The f32 kernel takes b by its strides, and run() by the name.
        const std::string exact = layout.empty() ? "matmul_tile64" : "matmul_gemv_transposed";
        compare_types(
            product.c, static_cast<std::size_t>(m) * n,
            [&](bool half) { product.run(half ? name : exact, half); }, 1);
      }
    }
  }
}

TEST_F(F16, WindowsAndResampling) {
  const Both x = both(normal(2 * 6 * 9 * 8, 1));
  const Both w = both(normal(6 * 3 * 3 * 2, 2));
  const Both bias = both(normal(6, 3));
  const Both y = empty_both(2 * 6 * 9 * 8);
  for (const std::string& name : families_of<kernels::WindowParams>("conv_")) {
    SCOPED_TRACE(name);
    const int n = 2 * 6 * 4 * 4;
    compare_types(y, n, [&](bool half) {
      launch<kernels::WindowParams>(typed(name, half), flat_groups(n),
                                    {x.of(half), w.of(half), bias.of(half),
                                     y.of(half), n,          3,
                                     3,          2,          1,
                                     9,          8,          1,
                                     4,          4,          1,
                                     3,          2,          1,
                                     2,          2,          1,
                                     1,          1,          0,
                                     1,          0});
    });
  }
  for (const std::string& name : families_of<kernels::PoolMaxParams>("pool_")) {
    SCOPED_TRACE(name);
    const int n = 12 * 4 * 4;
    compare_types(y, n, [&](bool half) {
      launch<kernels::PoolMaxParams>(
          typed(name, half), flat_groups(n),
          {x.of(half), y.of(half), {}, n, 1, 9, 8, 1, 4, 4, 1, 3, 2, 1,
           2,          2,          1,  1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 2.0f});
    });
  }
  const Buffer indices = upload(integers(5 * 2, 0, 8, 4));
  const Buffer weights = upload(normal(5 * 2, 5));
  compare_types(y, 12 * 5 * 8, [&](bool half) {
    launch<kernels::ResampleParams>(
        typed("resample", half), flat_groups(12 * 5 * 8),
        {x.of(half), indices.ptr, weights.ptr, y.of(half), 12 * 5 * 8, 9, 5, 8, 2, 0.0f});
  });
  compare_types(y, 12 * 72, [&](bool half) {
    launch<kernels::ResampleLrnParams>(
        typed("resample_lrn", half), flat_groups(12 * 72),
        {x.of(half), y.of(half), 12 * 72, 6, 72, 3, 0.1f, 1.0f, 0.75f});
  });
}

}  // namespace
}  // namespace concord::gpu
