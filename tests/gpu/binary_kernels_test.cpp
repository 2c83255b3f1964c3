// Binary functions, comparisons and select: equal shapes, periods and strides.

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "backends/gpu/kernels/binary.h"
#include "backends/gpu/kernels/compare.h"
#include "backends/gpu/kernels/select.h"
#include "tests/gpu/kernel_fixture.h"
#include "tests/gpu/numbers.h"
#include "tests/gpu/strided.h"

namespace concord::gpu {
namespace {

// d1.. and the strides of a and b, for the strided parameter blocks.
template <class Params>
Params strided_params(const Buffer& a, const Buffer& b, const Buffer& y, const Extents& d,
                      const Extents& sa, const Extents& sb) {
  return {a.ptr, b.ptr, y.ptr, count_of(d), rank_of(d), d[1],  d[2],  d[3],  d[4],  d[5],  sa[0],
          sa[1], sa[2], sa[3], sa[4],       sa[5],      sb[0], sb[1], sb[2], sb[3], sb[4], sb[5]};
}

struct FloatCase {
  std::string name;
  std::function<double(double, double)> exact;
  double ulp;
  float low = -9, high = 9;
};

std::vector<FloatCase> float_cases() {
  const auto larger = [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
  };
  const auto smaller = [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
  };
  return {
      {"add", [](double a, double b) { return a + b; }, 0.5},
      {"sub", [](double a, double b) { return a - b; }, 0.5},
      {"mul", [](double a, double b) { return a * b; }, 0.5},
      {"div", [](double a, double b) { return a / b; }, 2.5},
      {"max", larger, 0},
      {"min", smaller, 0},
      {"pow", [](double a, double b) { return std::pow(a, b); }, 4.0, 0.01f, 20.0f},
      {"pow", [](double a, double b) { return std::pow(a, std::nearbyint(b)); }, 4.0, -9.0f, 9.0f},
      {"fmod", [](double a, double b) { return std::fmod(a, b); }, 0},
      {"fmod", [](double a, double b) { return std::fmod(a, b); }, 0, -1e6f, 1e6f},
      {"prelu", [](double a, double b) { return a < 0 ? a * b : a; }, 0.5},
  };
}

class BinaryF32 : public testing::TestWithParam<FloatCase> {};

// Every pair of special values and many random ones.
TEST_P(BinaryF32, IsWithinItsErrorBound) {
  const FloatCase& c = GetParam();
  std::vector<float> a = uniform(20'000, c.low, c.high, 1);
  std::vector<float> b = uniform(20'000, c.low, c.high, 2);
  if (c.name == "pow" && c.low < 0) {
    for (float& value : b) value = std::nearbyint(value);
  }
  for (float x : special_values()) {
    for (float y : special_values()) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const bool whole = c.name == "pow" && c.low < 0;
  const auto n = static_cast<std::int32_t>(a.size());
  const Buffer a_buffer = upload(a);
  const Buffer b_buffer = upload(b);
  const Buffer out = upload(std::vector<float>(a.size() + 1, 7.0f));
  launch<kernels::BinaryParams>("binary_" + c.name + "_f32", flat_groups(n),
                                {a_buffer.ptr, b_buffer.ptr, out.ptr, n, n, n});
  const std::vector<float> y = download<float>(out, a.size() + 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double exact =
        whole && i >= 20'000 ? std::pow(double{a[i]}, double{b[i]}) : c.exact(a[i], b[i]);
    if (std::abs(exact) > 3.39e38 && std::abs(exact) < 3.42e38) continue;
    ASSERT_LE(ulp_error(y[i], exact), c.ulp)
        << c.name << "(" << a[i] << ", " << b[i] << ") = " << y[i] << ", exactly " << exact;
  }
  EXPECT_EQ(y.back(), 7.0f);
}

INSTANTIATE_TEST_SUITE_P(All, BinaryF32, testing::ValuesIn(float_cases()), [](const auto& test) {
  return test.param.name + "_" + std::to_string(test.index);
});

// Gated units on ordinary values; the activations' own edges are the unary tests'.
TEST(Binary, GatesByActivations) {
  const int n = 4000;
  const std::vector<float> a = normal(n, 1, 3.0f);
  const std::vector<float> b = normal(n, 2);
  const Buffer a_buffer = upload(a);
  const Buffer b_buffer = upload(b);
  const auto check = [&](const std::string& name, const std::function<double(double)>& gate) {
    const Buffer out = upload(std::vector<float>(n));
    launch<kernels::BinaryParams>("binary_" + name + "_mul_f32", flat_groups(n),
                                  {a_buffer.ptr, b_buffer.ptr, out.ptr, n, n, n});
    const std::vector<float> y = download<float>(out, n);
    for (int i = 0; i < n; ++i) {
      const double exact = gate(a[i]) * b[i];
      const double slack = std::ldexp(8 * std::abs(exact) + 2 * std::abs(double{a[i]} * b[i]), -24);
      ASSERT_LE(std::abs(y[i] - exact), slack) << name << "(" << a[i] << ", " << b[i] << ")";
    }
  };
  check("sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); });
  check("silu", [](double x) { return x / (1 + std::exp(-x)); });
  check("gelu_erf", [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); });
  check("gelu_tanh", [](double x) {
    return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  });
}

TEST(Binary, BroadcastsByPeriods) {
  const int n = 5000;
  const std::vector<float> a = normal(n, 1);
  const std::vector<float> b = normal(n, 2);
  const Buffer a_buffer = upload(a);
  const Buffer b_buffer = upload(b);
  for (int a_period : {n, 1, 50}) {
    for (int b_period : {n, 1, 250}) {
      const Buffer out = upload(std::vector<float>(n));
      launch<kernels::BinaryParams>("binary_sub_f32", flat_groups(n),
                                    {a_buffer.ptr, b_buffer.ptr, out.ptr, n, a_period, b_period});
      const std::vector<float> y = download<float>(out, n);
      for (int i = 0; i < n; ++i) ASSERT_EQ(y[i], a[i % a_period] - b[i % b_period]) << i;
    }
  }
}

struct Shapes {
  Extents y, a, b;
};

const Shapes kShapes[] = {
    {{1, 1, 1, 1, 7, 5}, {1, 1, 1, 1, 7, 5}, {1, 1, 1, 1, 7, 1}},
    {{1, 1, 1, 4, 3, 5}, {1, 1, 1, 4, 1, 5}, {1, 1, 1, 1, 3, 1}},
    {{1, 1, 2, 4, 3, 5}, {1, 1, 2, 1, 3, 1}, {1, 1, 1, 4, 1, 5}},
    {{2, 3, 2, 4, 3, 5}, {2, 1, 2, 4, 1, 5}, {1, 3, 1, 4, 3, 1}},
    {{1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}},
};

TEST(Binary, BroadcastsByStrides) {
  for (const Shapes& s : kShapes) {
    const std::vector<float> a = normal(count_of(s.a), 1);
    const std::vector<float> b = normal(count_of(s.b), 2);
    const int n = count_of(s.y);
    const Buffer a_buffer = upload(a);
    const Buffer b_buffer = upload(b);
    const Buffer out = upload(std::vector<float>(n + 1, 7.0f));
    const Extents sa = broadcast(s.a);
    const Extents sb = broadcast(s.b);
    launch("binary_sub_strided_f32", flat_groups(n),
           strided_params<kernels::BinaryAddStridedParams>(a_buffer, b_buffer, out, s.y, sa, sb));
    const std::vector<float> y = download<float>(out, n + 1);
    for (int i = 0; i < n; ++i) {
      const Extents c = coordinates(i, s.y);
      ASSERT_EQ(y[i], a[dot(c, sa)] - b[dot(c, sb)]) << i;
    }
    EXPECT_EQ(y[n], 7.0f);
  }
}

struct IntCase {
  std::string name;
  std::function<std::int64_t(std::int64_t, std::int64_t)> exact;
};

std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  const std::int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

std::vector<IntCase> int_cases() {
  return {
      {"add", [](auto a, auto b) { return a + b; }},
      {"sub", [](auto a, auto b) { return a - b; }},
      {"mul", [](auto a, auto b) { return a * b; }},
      {"div", [](auto a, auto b) { return b == 0 ? 0 : a / b; }},
      {"mod", floor_mod},
      {"fmod", [](auto a, auto b) { return b == 0 ? 0 : a % b; }},
      {"max", [](auto a, auto b) { return std::max(a, b); }},
      {"min", [](auto a, auto b) { return std::min(a, b); }},
      {"and", [](auto a, auto b) { return a & b; }},
      {"or", [](auto a, auto b) { return a | b; }},
      {"xor", [](auto a, auto b) { return a ^ b; }},
      {"shl", [](auto a, auto b) { return b >= 0 && b < 32 ? a * (std::int64_t{1} << b) : 0; }},
      {"shr",
       [](auto a, auto b) {
         return b >= 0 && b < 32 ? static_cast<std::int64_t>(static_cast<std::uint32_t>(a) >> b)
                                 : 0;
       }},
  };
}

class BinaryI32 : public testing::TestWithParam<IntCase> {};

TEST_P(BinaryI32, MatchesWideIntegers) {
  const IntCase& c = GetParam();
  std::vector<std::int32_t> a = integers(2000, -1000, 1000, 1);
  std::vector<std::int32_t> b = integers(2000, -40, 40, 2);
  const std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
  for (std::int32_t x : {lowest, lowest + 1, -7, -1, 0, 1, 7, 31, 32, 33, 2147483647}) {
    for (std::int32_t y : {lowest, lowest + 1, -3, -1, 0, 1, 3, 31, 32, 33, 2147483647}) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const auto n = static_cast<std::int32_t>(a.size());
  const Buffer a_buffer = upload(a);
  const Buffer b_buffer = upload(b);
  const Buffer out = upload(std::vector<std::int32_t>(a.size()));
  launch<kernels::BinaryParams>("binary_" + c.name + "_i32", flat_groups(n),
                                {a_buffer.ptr, b_buffer.ptr, out.ptr, n, n, n});
  const std::vector<std::int32_t> y = download<std::int32_t>(out, a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(y[i], static_cast<std::int32_t>(c.exact(a[i], b[i])))
        << c.name << "(" << a[i] << ", " << b[i] << ")";
  }
}

INSTANTIATE_TEST_SUITE_P(All, BinaryI32, testing::ValuesIn(int_cases()),
                         [](const auto& test) { return test.param.name; });

TEST(BinaryI32, RaisesToPowers) {
  const std::vector<std::int32_t> a = {2, -3, 0, 5, 1, -1, -1, 7, 0, 10};
  const std::vector<std::int32_t> b = {10, 3, 0, 0, -4, -3, -4, -1, 5, 9};
  const std::vector<std::int32_t> expected = {1024, -27, 1, 1, 1, -1, 1, 0, 0, 1000000000};
  const Buffer a_buffer = upload(a);
  const Buffer b_buffer = upload(b);
  const Buffer out = upload(std::vector<std::int32_t>(10));
  launch<kernels::BinaryParams>("binary_pow_i32", {1, 1, 1},
                                {a_buffer.ptr, b_buffer.ptr, out.ptr, 10, 10, 10});
  EXPECT_EQ(download<std::int32_t>(out, 10), expected);
}

template <class T>
void check_comparison(const std::string& name, const std::vector<T>& a, const std::vector<T>& b,
                      const std::string& type, const std::function<bool(T, T)>& exact) {
  const auto n = static_cast<std::int32_t>(a.size());
  const Buffer a_buffer = upload(a);
  const Buffer b_buffer = upload(b);
  const Buffer out = upload(std::vector<std::int32_t>(a.size(), 9));
  launch<kernels::CompareParams>("compare_" + name + "_" + type, flat_groups(n),
                                 {a_buffer.ptr, b_buffer.ptr, out.ptr, n, n, n});
  const std::vector<std::int32_t> y = download<std::int32_t>(out, a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(y[i], exact(a[i], b[i]) ? 1 : 0) << name << " " << a[i] << ", " << b[i];
  }
  // The first value against all, by strides.
  const Buffer again = upload(std::vector<std::int32_t>(a.size(), 9));
  const Extents d{1, 1, 1, 1, 1, n};
  launch("compare_" + name + "_strided_" + type, flat_groups(n),
         strided_params<kernels::CompareEqualStridedParams>(a_buffer, b_buffer, again, d,
                                                            {0, 0, 0, 0, 0, 0}, dense(d)));
  const std::vector<std::int32_t> z = download<std::int32_t>(again, a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(z[i], exact(a[0], b[i]) ? 1 : 0) << name << " " << a[0] << ", " << b[i];
  }
}

template <class T>
void check_comparisons(const std::vector<T>& a, const std::vector<T>& b, const std::string& type) {
  check_comparison<T>("equal", a, b, type, [](T x, T y) { return x == y; });
  check_comparison<T>("not_equal", a, b, type, [](T x, T y) { return x != y; });
  check_comparison<T>("less", a, b, type, [](T x, T y) { return x < y; });
  check_comparison<T>("less_equal", a, b, type, [](T x, T y) { return x <= y; });
  check_comparison<T>("greater", a, b, type, [](T x, T y) { return x > y; });
  check_comparison<T>("greater_equal", a, b, type, [](T x, T y) { return x >= y; });
}

TEST(Compare, OrdersFloatsAndIntegers) {
  std::vector<float> a;
  std::vector<float> b;
  for (float x : special_values()) {
    for (float y : special_values()) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  // Drivers may flush subnormals, of which there are two that differ.
  for (float& x : a) x = std::abs(x) == 1e-38f ? 2e-38f : x;
  for (float& x : b) x = std::abs(x) == 1e-38f ? 2e-38f : x;
  check_comparisons(a, b, "f32");
  check_comparisons(integers(1500, -5, 5, 1), integers(1500, -5, 5, 2), "i32");
}

TEST(Compare, TestsSingleValues) {
  const std::vector<float> x = special_values();
  const auto n = static_cast<std::int32_t>(x.size());
  const Buffer in = upload(x);
  const auto run = [&](const std::string& name) {
    const Buffer out = upload(std::vector<std::int32_t>(x.size()));
    launch<kernels::CompareIsnanParams>("compare_" + name, {1, 1, 1}, {in.ptr, out.ptr, n});
    return download<std::int32_t>(out, x.size());
  };
  const auto nan = run("isnan_f32");
  const auto inf = run("isinf_f32");
  const auto positive = run("is_positive_inf_f32");
  const auto negative = run("is_negative_inf_f32");
  const auto nonzero = run("nonzero_f32");
  const auto bits_zero = run("not_i32");
  const auto bits_nonzero = run("nonzero_i32");
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(nan[i], std::isnan(x[i]));
    EXPECT_EQ(inf[i], std::isinf(x[i]));
    EXPECT_EQ(positive[i], x[i] == INFINITY);
    EXPECT_EQ(negative[i], x[i] == -INFINITY);
    if (std::fpclassify(x[i]) != FP_SUBNORMAL) {
      EXPECT_EQ(nonzero[i], x[i] != 0.0f) << x[i];
    }
    EXPECT_EQ(bits_zero[i], i == 0);
    EXPECT_EQ(bits_nonzero[i], i != 0);
  }
}

TEST(Select, TakesEitherByPeriodsAndStrides) {
  const int n = 3000;
  const std::vector<std::int32_t> condition = integers(n, 0, 2);
  const std::vector<float> a = normal(n, 1);
  const std::vector<float> b = normal(n, 2);
  const Buffer condition_buffer = upload(condition);
  const Buffer a_buffer = upload(a);
  const Buffer b_buffer = upload(b);
  const Buffer out = upload(std::vector<float>(n));
  launch<kernels::SelectParams>(
      "select_32", flat_groups(n),
      {condition_buffer.ptr, a_buffer.ptr, b_buffer.ptr, out.ptr, n, 300, n, 1});
  const std::vector<float> y = download<float>(out, n);
  for (int i = 0; i < n; ++i) ASSERT_EQ(y[i], condition[i % 300] != 0 ? a[i] : b[0]) << i;

  const Extents d{1, 3, 2, 4, 5, 7};
  const Extents sc = broadcast({1, 1, 2, 1, 5, 1});
  const Extents sa = broadcast({1, 3, 1, 4, 5, 7});
  const Extents sb = broadcast({1, 3, 2, 4, 1, 1});
  const int m = count_of(d);
  const Buffer strided = upload(std::vector<float>(m));
  launch<kernels::SelectStridedParams>("select_strided_32", flat_groups(m),
                                       {condition_buffer.ptr,
                                        a_buffer.ptr,
                                        b_buffer.ptr,
                                        strided.ptr,
                                        m,
                                        rank_of(d),
                                        d[2],
                                        d[3],
                                        d[4],
                                        d[5],
                                        sc[1],
                                        sc[2],
                                        sc[3],
                                        sc[4],
                                        sc[5],
                                        sa[1],
                                        sa[2],
                                        sa[3],
                                        sa[4],
                                        sa[5],
                                        sb[1],
                                        sb[2],
                                        sb[3],
                                        sb[4],
                                        sb[5]});
  const std::vector<float> z = download<float>(strided, m);
  for (int i = 0; i < m; ++i) {
    const Extents c = coordinates(i, d);
    ASSERT_EQ(z[i], condition[dot(c, sc)] != 0 ? a[dot(c, sa)] : b[dot(c, sb)]) << i;
  }
}

// One row of 32768 workgroups covers 33,554,432 elements; more take a second row.
TEST(Binary, NumbersWorkgroupsAcrossRows) {
  const std::int32_t n = 33'554'432 + 4097;
  const Buffer one = upload(std::vector<float>{1.0f});
  const std::vector<float> a(n, 2.0f);
  const Buffer in = upload(a);
  launch<kernels::BinaryParams>("binary_add_f32", flat_groups(n),
                                {in.ptr, one.ptr, in.ptr, n, n, 1});
  const std::vector<float> y = download<float>(in, n);
  EXPECT_EQ(std::count(y.begin(), y.end(), 3.0f), n);
}

}  // namespace
}  // namespace concord::gpu
