// Softmax, norms and reductions: kernels that give a row to a workgroup or to an invocation.

#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/norm.h"
#include "backends/gpu/kernels/reduce.h"
#include "backends/gpu/kernels/softmax.h"
#include "tests/gpu/kernel_fixture.h"
#include "tests/gpu/numbers.h"

namespace concord::gpu {
namespace {

const double kUnit = std::ldexp(1.0, -24);

// Rows of x [outer, length, inner] as double.
std::vector<double> row_of(const std::vector<float>& x, int row, int length, int inner) {
  std::vector<double> values;
  for (int j = 0; j < length; ++j) {
    values.push_back(x[((row / inner) * length + j) * inner + row % inner]);
  }
  return values;
}

class Threads : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (GetParam() == 8 && test_device().properties().subgroup_size < 8) {
      GTEST_SKIP() << "needs a subgroup of 8";
    }
  }
  std::string with_threads(const std::string& name) const {
    return name + "_wave" + std::to_string(GetParam()) + "_f32";
  }
};

void check_softmax(const std::string& kernel, int rows, int columns, int inner, float scale,
                   bool log, float shift = 0.0f) {
  SCOPED_TRACE(testing::Message() << rows << " rows of " << columns << ", inner " << inner
                                  << " scale " << scale << " log " << log);
  std::vector<float> x = normal(static_cast<std::size_t>(rows) * columns, 1, 4.0f);
  for (float& value : x) value += shift;
  const Buffer in = upload(x);
  const Buffer out = upload(std::vector<float>(x.size() + 1, 7.0f));
  launch<kernels::SoftmaxParams>(kernel, rows_of_groups(rows),
                                 {in.ptr, out.ptr, rows, columns, inner, scale, log ? 1 : 0, 0});
  const std::vector<float> y = download<float>(out, x.size() + 1);
  for (int r = 0; r < rows; ++r) {
    const std::vector<double> row = row_of(x, r, columns, inner);
    const std::vector<double> got = row_of(y, r, columns, inner);
    double largest = -INFINITY;
    for (double v : row) largest = std::max(largest, v * scale);
    double sum = 0;
    for (double v : row) sum += std::exp(v * scale - largest);
    for (int j = 0; j < columns; ++j) {
      const double shifted = row[j] * scale - largest;
      // scale x and the distance from the maximum are rounded, then exp and the sum.
      const double rounding = 2 * std::abs(row[j] * scale) + std::abs(largest) + 8 +
                              std::sqrt(static_cast<double>(columns));
      const double exact = log ? shifted - std::log(sum) : std::exp(shifted) / sum;
      const double allowed = kUnit * rounding * (log ? 1 + std::abs(exact) * 0.1 : exact) + 1.2e-38;
      ASSERT_LE(std::abs(got[j] - exact), allowed) << "row " << r << " column " << j;
    }
  }
  EXPECT_EQ(y.back(), 7.0f);
}

TEST_P(Threads, SoftmaxMatchesPlainLoops) {
  const std::string kernel = with_threads("softmax");
  for (bool log : {false, true}) {
    check_softmax(kernel, 5, 1, 1, 1.0f, log);
    check_softmax(kernel, 3, 7, 1, 1.0f, log);
    check_softmax(kernel, 20, 128, 1, 0.125f, log);
    check_softmax(kernel, 6, 333, 1, 2.0f, log, 50.0f);
    check_softmax(kernel, 12, 19, 4, 1.0f, log);
  }
}

TEST_P(Threads, SoftmaxOfMaskedRows) {
  const float inf = INFINITY;
  const std::vector<float> x = {-inf, 0, -inf, -inf, -inf, -inf, NAN, 1, 2};
  const Buffer in = upload(x);
  for (int to_zero : {0, 1}) {
    const Buffer out = upload(std::vector<float>(9));
    launch<kernels::SoftmaxParams>(with_threads("softmax"), {3, 1, 1},
                                   {in.ptr, out.ptr, 3, 3, 1, 1.0f, 0, to_zero});
    const std::vector<float> y = download<float>(out, 9);
    EXPECT_EQ(y[0], 0.0f);
    EXPECT_EQ(y[1], 1.0f);
    EXPECT_EQ(y[2], 0.0f);
    for (int j = 3; j < 6; ++j) {
      if (to_zero == 1) {
        EXPECT_EQ(y[j], 0.0f);
      } else {
        EXPECT_TRUE(std::isnan(y[j]));
      }
    }
    // What the exporters' Where(IsNaN(y), 0, y) makes of a row with NaN.
    for (int j = 6; j < 9; ++j) {
      EXPECT_TRUE(to_zero == 1 ? y[j] == 0.0f : std::isnan(y[j])) << j;
    }
  }
}

struct NormCase {
  int rows, columns;
  bool residual = false, gamma = true, beta = true, keep_sum = false;
  float mean = 0.0f;
};

void check_norm(const std::string& kernel, bool centred, const NormCase& c) {
  SCOPED_TRACE(testing::Message() << kernel << " " << c.rows << "x" << c.columns);
  const std::size_t count = static_cast<std::size_t>(c.rows) * c.columns;
  std::vector<float> x = normal(count, 1);
  for (float& value : x) value += c.mean;
  const std::vector<float> residual = normal(count, 2);
  const std::vector<float> gamma = normal(c.columns, 3);
  const std::vector<float> beta = normal(c.columns, 4);
  const float epsilon = 1e-5f;
  const Buffer x_buffer = upload(x);
  const Buffer residual_buffer = upload(residual);
  const Buffer gamma_buffer = upload(gamma);
  const Buffer beta_buffer = upload(beta);
  const Buffer y_buffer = upload(std::vector<float>(count + 1, 7.0f));
  const Buffer sum_buffer = upload(std::vector<float>(count + 1, 7.0f));
  const DevicePtr none;
  launch<kernels::NormParams>(
      kernel, rows_of_groups(c.rows),
      {x_buffer.ptr, c.residual ? residual_buffer.ptr : none, c.gamma ? gamma_buffer.ptr : none,
       c.beta ? beta_buffer.ptr : none, y_buffer.ptr, c.keep_sum ? sum_buffer.ptr : none, c.rows,
       c.columns, epsilon});
  const std::vector<float> y = download<float>(y_buffer, count + 1);
  const std::vector<float> sum = download<float>(sum_buffer, count + 1);
  for (int r = 0; r < c.rows; ++r) {
    std::vector<double> s;
    double mean = 0;
    for (int j = 0; j < c.columns; ++j) {
      const std::size_t at = static_cast<std::size_t>(r) * c.columns + j;
      s.push_back(c.residual ? x[at] + residual[at] : x[at]);  // rounded to f32 by the addition
      if (c.keep_sum) {
        ASSERT_EQ(sum[at], static_cast<float>(s.back()));
      }
      mean += s.back() / c.columns;
    }
    if (!centred) mean = 0;
    double variance = 0;
    double magnitude = 0;
    for (double v : s) {
      variance += (v - mean) * (v - mean) / c.columns;
      magnitude = std::max(magnitude, std::abs(v));
    }
    const double inverse = 1 / std::sqrt(variance + epsilon);
    for (int j = 0; j < c.columns; ++j) {
      const std::size_t at = static_cast<std::size_t>(r) * c.columns + j;
      const double g = c.gamma ? gamma[j] : 1.0;
      const double b = c.beta && centred ? beta[j] : 0.0;
      const double scaled = (s[j] - mean) * inverse * g;
      // The mean's error, of the size of a sum's, is shared by all; the rest is relative.
      const double allowed =
          kUnit * ((8 + std::sqrt(static_cast<double>(c.columns))) * std::abs(scaled) +
                   std::sqrt(static_cast<double>(c.columns)) * magnitude * inverse * std::abs(g) *
                       (centred ? 1.0 : 0.0) +
                   2 * std::abs(scaled + b)) +
          1.2e-38;
      ASSERT_LE(std::abs(y[at] - (scaled + b)), allowed) << "row " << r << " column " << j;
    }
  }
  EXPECT_EQ(y.back(), 7.0f);
  EXPECT_EQ(sum.back(), 7.0f);
}

TEST_P(Threads, NormsMatchPlainLoops) {
  for (bool centred : {true, false}) {
    const std::string name = centred ? "norm_layer" : "norm_rms";
    const std::string plain = with_threads(name);
    const std::string kernel = with_threads(name + "_residual");
    check_norm(plain, centred, {.rows = 5, .columns = 1});
    check_norm(plain, centred, {.rows = 7, .columns = 33});
    check_norm(kernel, centred, {.rows = 13, .columns = 384, .residual = true, .keep_sum = true});
    check_norm(kernel, centred, {.rows = 2, .columns = 770, .residual = true});
    check_norm(plain, centred, {.rows = 3, .columns = 64, .gamma = false, .beta = false});
    check_norm(plain, centred, {.rows = 3, .columns = 100, .beta = false, .mean = 100.0f});
  }
}

TEST_P(Threads, GroupNormMatchesPlainLoops) {
  const int batch = 2;
  const int groups = 3;
  const int channels = 2;  // per group
  const int span = 35;
  const int columns = channels * span;
  const int rows = batch * groups;
  const std::vector<float> x = normal(static_cast<std::size_t>(rows) * columns, 1);
  const std::vector<float> gamma = normal(groups * channels, 2);
  const std::vector<float> beta = normal(groups * channels, 3);
  const Buffer in = upload(x);
  const Buffer gamma_buffer = upload(gamma);
  const Buffer beta_buffer = upload(beta);
  const Buffer out = upload(std::vector<float>(x.size()));
  launch<kernels::NormGroupParams>(
      with_threads("norm_group"), rows_of_groups(rows),
      {in.ptr, gamma_buffer.ptr, beta_buffer.ptr, out.ptr, rows, columns, groups, channels, 1e-5f});
  const std::vector<float> y = download<float>(out, x.size());
  for (int r = 0; r < rows; ++r) {
    double mean = 0;
    double variance = 0;
    for (int j = 0; j < columns; ++j) mean += double{x[r * columns + j]} / columns;
    for (int j = 0; j < columns; ++j) {
      variance += std::pow(x[r * columns + j] - mean, 2) / columns;
    }
    for (int j = 0; j < columns; ++j) {
      const int channel = (r % groups) * channels + j / span;
      const double exact =
          (x[r * columns + j] - mean) / std::sqrt(variance + 1e-5f) * gamma[channel] +
          beta[channel];
      ASSERT_NEAR(y[r * columns + j], exact, 4e-6) << r << ", " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Threads, testing::Values(8, 32, 256));

struct ReduceCase {
  std::string name;
  std::function<double(const std::vector<double>&)> exact;
  double ulp;  // beyond the error of a sum
};

double sum_of(const std::vector<double>& v, const std::function<double(double)>& f) {
  double total = 0;
  for (double x : v) total += f(x);
  return total;
}

std::vector<ReduceCase> reduce_cases() {
  const auto identity = [](double x) { return x; };
  const auto square = [](double x) { return x * x; };
  const auto magnitude = [](double x) { return std::abs(x); };
  return {
      {"sum", [=](const auto& v) { return sum_of(v, identity); }, 0},
      {"mean", [=](const auto& v) { return sum_of(v, identity) / static_cast<double>(v.size()); },
       1},
      {"prod",
       [](const auto& v) {
         double p = 1;
         for (double x : v) p *= x;
         return p;
       },
       0},
      {"max", [](const auto& v) { return *std::max_element(v.begin(), v.end()); }, 0},
      {"min", [](const auto& v) { return *std::min_element(v.begin(), v.end()); }, 0},
      {"l1", [=](const auto& v) { return sum_of(v, magnitude); }, 0},
      {"l2", [=](const auto& v) { return std::sqrt(sum_of(v, square)); }, 4},
      {"sum_square", [=](const auto& v) { return sum_of(v, square); }, 1},
      {"log_sum", [=](const auto& v) { return std::log(sum_of(v, identity)); }, 4},
      {"log_sum_exp",
       [](const auto& v) { return std::log(sum_of(v, [](double x) { return std::exp(x); })); }, 8},
  };
}

class Reduce : public testing::TestWithParam<ReduceCase> {};

TEST_P(Reduce, MatchesPlainLoops) {
  const ReduceCase& c = GetParam();
  struct Extents {
    int outer, length, inner;
  };
  for (const Extents& e : {Extents{3, 5, 1}, {70, 9, 3}, {2, 1000, 2}, {5, 1, 7}}) {
    // Positive, so that logarithms exist; near 1, so that products stay in range.
    const std::vector<float> x =
        uniform(static_cast<std::size_t>(e.outer) * e.length * e.inner, 0.5f, 1.5f);
    const int n = e.outer * e.inner;
    const Buffer in = upload(x);
    for (int threads : {1, 8, 32, 256}) {
      if (threads == 8 && test_device().properties().subgroup_size < 8) continue;
      SCOPED_TRACE(testing::Message()
                   << e.outer << "," << e.length << "," << e.inner << " by " << threads);
      const Buffer out = upload(std::vector<float>(n + 1, 7.0f));
      const std::string kernel =
          "reduce_" + c.name + (threads == 1 ? "" : "_wave" + std::to_string(threads)) + "_f32";
      launch<kernels::ReduceParams>(kernel, rows_of_groups(threads == 1 ? (n + 63) / 64 : n),
                                    {in.ptr, out.ptr, n, e.length, e.inner});
      const std::vector<float> y = download<float>(out, n + 1);
      for (int r = 0; r < n; ++r) {
        const double exact = c.exact(row_of(x, r, e.length, e.inner));
        const bool selects = c.name == "max" || c.name == "min";
        const double relative = selects ? 0 : 6 * std::sqrt(e.length / 6.0 + 1) + 2 * c.ulp;
        ASSERT_LE(std::abs(y[r] - exact), kUnit * relative * std::max(std::abs(exact), 0.1)) << r;
      }
      ASSERT_EQ(y[n], 7.0f);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Reduce, testing::ValuesIn(reduce_cases()),
                         [](const auto& test) { return test.param.name; });

TEST(ReduceF32, KeepsNanAndInfinity) {
  const float inf = INFINITY;
  const std::vector<float> x = {1, NAN, 3, -inf, -inf, -inf, inf, 2, -inf};
  const Buffer in = upload(x);
  for (const char* threads : {"", "_wave8", "_wave32", "_wave256"}) {
    const bool alone = std::string(threads).empty();
    if (std::string(threads) == "_wave8" && test_device().properties().subgroup_size < 8) continue;
    const auto run = [&](const std::string& name) {
      const Buffer out = upload(std::vector<float>(3));
      launch<kernels::ReduceParams>("reduce_" + name + threads + "_f32", {alone ? 1u : 3u, 1, 1},
                                    {in.ptr, out.ptr, 3, 3, 1});
      return download<float>(out, 3);
    };
    const std::vector<float> largest = run("max");
    EXPECT_TRUE(std::isnan(largest[0])) << threads;
    EXPECT_EQ(largest[1], -inf);
    EXPECT_EQ(largest[2], inf);
    const std::vector<float> smallest = run("min");
    EXPECT_TRUE(std::isnan(smallest[0])) << threads;
    EXPECT_EQ(smallest[2], -inf);
    const std::vector<float> log_sum_exp = run("log_sum_exp");
    EXPECT_TRUE(std::isnan(log_sum_exp[0]));
    EXPECT_EQ(log_sum_exp[1], -inf);
    EXPECT_EQ(log_sum_exp[2], inf);
  }
}

TEST(ReduceI32, MatchesPlainLoops) {
  const std::vector<std::int32_t> x = integers(3 * 7 * 2, -9, 9);
  const Buffer in = upload(x);
  const auto run = [&](const std::string& name) {
    const Buffer out = upload(std::vector<std::int32_t>(6));
    launch<kernels::ReduceParams>("reduce_" + name + "_i32", {1, 1, 1}, {in.ptr, out.ptr, 6, 7, 2});
    return download<std::int32_t>(out, 6);
  };
  const auto sum = run("sum");
  const auto largest = run("max");
  const auto smallest = run("min");
  const auto product = run("prod");
  const auto magnitudes = run("l1");
  const auto squares = run("sum_square");
  const auto mean = run("mean");
  for (int r = 0; r < 6; ++r) {
    std::int32_t s = 0, p = 1, big = -99, small = 99, l1 = 0, sq = 0;
    for (int j = 0; j < 7; ++j) {
      const std::int32_t v = x[((r / 2) * 7 + j) * 2 + r % 2];
      s += v;
      p *= v;
      big = std::max(big, v);
      small = std::min(small, v);
      l1 += std::abs(v);
      sq += v * v;
    }
    EXPECT_EQ(sum[r], s);
    EXPECT_EQ(product[r], p);
    EXPECT_EQ(largest[r], big);
    EXPECT_EQ(smallest[r], small);
    EXPECT_EQ(magnitudes[r], l1);
    EXPECT_EQ(squares[r], sq);
    EXPECT_EQ(mean[r], s / 7);
  }
}

}  // namespace
}  // namespace concord::gpu
