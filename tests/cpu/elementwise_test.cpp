// Elementwise chains, exact elementwise operators and casts against plain loops.

#include "backends/cpu/kernels/elementwise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/elementwise_exact.h"
#include "backends/cpu/kernels/parallel.h"
#include "tests/cpu/isa_param.h"
#include "tests/cpu/random_data.h"

namespace concord::cpu {
namespace {

using Dims = std::vector<std::int64_t>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::int64_t count_of(const Dims& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

class Elementwise : public IsaTest {
 protected:
  void SetUp() override {
    IsaTest::SetUp();
    scope_.emplace(2);
  }
  void TearDown() override {
    scope_.reset();
    IsaTest::TearDown();
  }

 private:
  std::optional<ThreadScope> scope_;
};

// Position in an operand of an output position.
std::int64_t source(std::int64_t position, const Dims& out, const std::int64_t* stride) {
  std::int64_t offset = 0;
  for (std::size_t i = out.size(); i-- > 0;) {
    offset += position % out[i] * stride[i];
    position /= out[i];
  }
  return offset;
}

TEST_P(Elementwise, BroadcastsOfEveryKind) {
  struct Shapes {
    Dims a, b, out;
  };
  const Shapes cases[] = {
      {{7}, {7}, {7}},
      {{5, 7}, {7}, {5, 7}},
      {{5, 7}, {5, 1}, {5, 7}},
      {{5, 7}, {1}, {5, 7}},
      {{5, 1}, {1, 7}, {5, 7}},
      {{2, 3, 4, 5}, {3, 1, 5}, {2, 3, 4, 5}},
      {{2, 1, 4, 1}, {1, 3, 1, 5}, {2, 3, 4, 5}},
      {{}, {}, {}},
      {{40, 3}, {3}, {40, 3}},
      {{1000, 3}, {1000, 1}, {1000, 3}},
      {{3, 5000}, {5000}, {3, 5000}},
      {{0, 4}, {4}, {0, 4}},
      {{100, 1, 37}, {50, 1}, {100, 50, 37}},
  };
  for (const Shapes& s : cases) {
    Random random(1);
    const std::vector<float> a = random.vector(std::max<std::int64_t>(1, count_of(s.a)));
    const std::vector<float> b = random.vector(count_of(s.b));
    ElementProgram::Input in[2] = {{a.data(), {}}, {b.data(), {}}};
    broadcast_strides(s.a, s.out, in[0].stride);
    broadcast_strides(s.b, s.out, in[1].stride);
    // (a - b)² · a, and a < b as a boolean.
    const ElementProgram program({Element::f32, Element::f32},
                                 {{.op = ElementOp::sub, .a = 0, .b = 1},
                                  {.op = ElementOp::square, .a = 2},
                                  {.op = ElementOp::mul, .a = 3, .b = 0},
                                  {.op = ElementOp::less, .a = 0, .b = 1}},
                                 {4, 5}, {Element::f32, Element::boolean});
    std::vector<float> out(static_cast<std::size_t>(count_of(s.out)) + 1, 7.0f);
    std::vector<std::uint8_t> truth(out.size(), 9);
    void* const outputs[] = {out.data(), truth.data()};
    program.run(s.out, in, outputs);
    for (std::int64_t i = 0; i < count_of(s.out); ++i) {
      const float x = a[static_cast<std::size_t>(source(i, s.out, in[0].stride))];
      const float y = b[static_cast<std::size_t>(source(i, s.out, in[1].stride))];
      ASSERT_EQ(out[static_cast<std::size_t>(i)], (x - y) * (x - y) * x) << i;
      ASSERT_EQ(truth[static_cast<std::size_t>(i)], x < y ? 1 : 0);
    }
    EXPECT_EQ(out.back(), 7.0f);
    EXPECT_EQ(truth.back(), 9);
  }
}

TEST_P(Elementwise, LongChainReusesRegistersAndRunsInPlace) {
  Random random(2);
  for (const std::int64_t n : {1, 15, 16, 1000, 100003}) {
    std::vector<float> x = random.vector(n);
    const std::vector<float> start = x;
    std::vector<ElementStep> steps;
    for (int i = 0; i < 40; ++i) {
      steps.push_back({.op = i % 2 == 0 ? ElementOp::add : ElementOp::mul,
                       .a = static_cast<std::uint8_t>(i),
                       .b = static_cast<std::uint8_t>(i % 3 == 0 ? 0 : i)});
      if (i % 2 == 1)
        steps.back() = {
            .op = ElementOp::affine, .a = static_cast<std::uint8_t>(i), .p0 = 0.5f, .p1 = 0.25f};
    }
    const ElementProgram program({Element::f32}, steps, {40}, {Element::f32});
    const ElementProgram::Input in[1] = {{x.data(), {1}}};
    void* const outputs[] = {x.data()};
    const Dims shape = {n};
    program.run(shape, in, outputs);
    for (std::int64_t i = 0; i < n; ++i) {
      std::vector<float> value = {start[static_cast<std::size_t>(i)]};
      for (int j = 0; j < 40; ++j) {
        const float last = value.back();
        value.push_back(j % 2 == 1 ? std::fma(last, 0.5f, 0.25f)
                                   : last + (j % 3 == 0 ? value[0] : last));
      }
      const float expected = value.back();
      if (GetParam() == Isa::baseline) {
        ASSERT_NEAR(x[static_cast<std::size_t>(i)], expected, 1e-4f * std::abs(expected));
      } else {
        ASSERT_EQ(x[static_cast<std::size_t>(i)], expected);
      }
    }
  }
}

TEST_P(Elementwise, TypesInAndOut) {
  Random random(3);
  const Dims shape = {6, 50};
  const std::vector<float> x = random.vector(300, -300, 300);
  const std::vector<Half> halves = as_f16(x);
  const std::vector<BFloat16> bf16s = as_bf16(x);
  std::vector<std::uint8_t> bools;
  std::vector<std::int64_t> longs;
  std::vector<std::int32_t> ints;
  for (const float v : x) {
    bools.push_back(v > 0 ? 1 : 0);
    longs.push_back(static_cast<std::int64_t>(v));
    ints.push_back(static_cast<std::int32_t>(v));
  }
  const ElementProgram::Input in[5] = {{halves.data(), {50, 1}},
                                       {bf16s.data(), {50, 1}},
                                       {bools.data(), {50, 1}},
                                       {longs.data(), {50, 1}},
                                       {ints.data(), {0, 1}}};
  const ElementProgram program(
      {Element::f16, Element::bf16, Element::boolean, Element::i64, Element::i32},
      {{.op = ElementOp::select, .a = 2, .b = 0, .c = 1},
       {.op = ElementOp::add, .a = 5, .b = 3},
       {.op = ElementOp::add, .a = 6, .b = 4}},
      {7, 7, 5, 7}, {Element::f32, Element::f16, Element::bf16, Element::i32});
  std::vector<float> out(300);
  std::vector<Half> out_half(300);
  std::vector<BFloat16> out_bf16(300);
  std::vector<std::int32_t> out_int(300);
  void* const outputs[] = {out.data(), out_half.data(), out_bf16.data(), out_int.data()};
  program.run(shape, in, outputs);
  for (std::size_t i = 0; i < 300; ++i) {
    const float chosen = bools[i] != 0 ? to_float(halves[i]) : to_float(bf16s[i]);
    const float y = chosen + static_cast<float>(longs[i]) + static_cast<float>(ints[i % 50]);
    ASSERT_EQ(out[i], y);
    ASSERT_EQ(out_half[i].bits, to_half(y).bits);
    ASSERT_EQ(out_bf16[i].bits, to_bfloat16(chosen).bits);
    ASSERT_EQ(out_int[i], static_cast<std::int32_t>(y));
  }
}

TEST_P(Elementwise, OperatorsAgainstTheirDefinitions) {
  struct Operator {
    ElementOp op;
    float (*f)(float, float);
  };
  const Operator binaries[] = {
      {ElementOp::add, [](float a, float b) { return a + b; }},
      {ElementOp::div, [](float a, float b) { return a / b; }},
      {ElementOp::min, [](float a, float b) { return a != a || b != b ? kNan : std::min(a, b); }},
      {ElementOp::max, [](float a, float b) { return a != a || b != b ? kNan : std::max(a, b); }},
      {ElementOp::fmod, [](float a, float b) { return std::fmod(a, b); }},
      {ElementOp::floor_mod,
       [](float a, float b) {
         const float r = std::fmod(a, b);
         return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
       }},
      {ElementOp::prelu, [](float a, float b) { return a < 0 ? a * b : a; }},
      {ElementOp::equal, [](float a, float b) { return a == b ? 1.0f : 0.0f; }},
      {ElementOp::not_equal, [](float a, float b) { return a != b ? 1.0f : 0.0f; }},
      {ElementOp::less, [](float a, float b) { return a < b ? 1.0f : 0.0f; }},
      {ElementOp::less_equal, [](float a, float b) { return a <= b ? 1.0f : 0.0f; }},
      {ElementOp::greater, [](float a, float b) { return a > b ? 1.0f : 0.0f; }},
      {ElementOp::greater_equal, [](float a, float b) { return a >= b ? 1.0f : 0.0f; }},
      {ElementOp::logical_and, [](float a, float b) { return a != 0 && b != 0 ? 1.0f : 0.0f; }},
      {ElementOp::logical_or, [](float a, float b) { return a != 0 || b != 0 ? 1.0f : 0.0f; }},
      {ElementOp::logical_xor, [](float a, float b) { return (a != 0) != (b != 0) ? 1.0f : 0.0f; }},
  };
  std::vector<float> special = {0.0f,      -0.0f,      1.0f, -1.0f, 2.5f,  -2.5f, 0.5f, 1.5f, -0.5f,
                                kInfinity, -kInfinity, kNan, 7.0f,  -3.0f, 1e30f, 4.0f, 6.5f};
  std::vector<float> a;
  std::vector<float> b;
  for (const float x : special) {
    for (const float y : special) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  std::vector<float> y(a.size());
  const auto same = [](float x, float z) { return x == z || (std::isnan(x) && std::isnan(z)); };
  for (const Operator& o : binaries) {
    binary(o.op, static_cast<std::int64_t>(a.size()), a.data(), b.data(), y.data());
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_TRUE(same(y[i], o.f(a[i], b[i])))
          << static_cast<int>(o.op) << ": " << a[i] << ", " << b[i] << " gives " << y[i];
    }
  }
  struct UnaryOperator {
    ElementOp op;
    float p0, p1;
    double (*f)(double);
  };
  const UnaryOperator unaries[] = {
      {ElementOp::neg, 0, 0, [](double x) { return -x; }},
      {ElementOp::abs, 0, 0, [](double x) { return std::abs(x); }},
      {ElementOp::ceil, 0, 0, [](double x) { return std::ceil(x); }},
      {ElementOp::floor, 0, 0, [](double x) { return std::floor(x); }},
      {ElementOp::round, 0, 0, [](double x) { return std::nearbyint(x); }},
      {ElementOp::sqrt, 0, 0, [](double x) { return std::sqrt(x); }},
      {ElementOp::reciprocal, 0, 0, [](double x) { return 1 / x; }},
      {ElementOp::relu, 0, 0, [](double x) { return x <= 0 ? 0 : x; }},
      {ElementOp::sign, 0, 0, [](double x) { return x > 0   ? 1
                                                    : x < 0 ? -1
                                                            : x; }},
      {ElementOp::leaky_relu, 0.125f, 0, [](double x) { return x < 0 ? x * 0.125 : x; }},
      {ElementOp::elu, 0.5f, 0, [](double x) { return x < 0 ? 0.5 * std::expm1(x) : x; }},
      {ElementOp::celu, 0.5f, 0, [](double x) { return x < 0 ? 0.5 * std::expm1(x / 0.5) : x; }},
      {ElementOp::selu, 1.5f, 2.0f,
       [](double x) { return 2.0 * (x < 0 ? 1.5 * std::expm1(x) : x); }},
      {ElementOp::hard_sigmoid, 0.25f, 0.5f,
       [](double x) { return x != x ? x : std::clamp(0.25 * x + 0.5, 0.0, 1.0); }},
      {ElementOp::hard_swish, 0, 0,
       [](double x) { return x != x ? x : x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
      {ElementOp::thresholded_relu, 1.0f, 0, [](double x) { return x <= 1 ? 0 : x; }},
      {ElementOp::shrink, 1.0f, 0.5f,
       [](double x) { return x < -1  ? x + 0.5
                             : x > 1 ? x - 0.5
                                     : 0; }},
      {ElementOp::clamp, -1.0f, 2.0f,
       [](double x) { return x != x ? x : std::clamp(x, -1.0, 2.0); }},
      {ElementOp::affine, 3.0f, 0.5f, [](double x) { return 3 * x + 0.5; }},
      {ElementOp::grid8, 0.25f, -100.0f,
       [](double x) {
         return x != x ? x : 0.25 * std::clamp(std::nearbyint(x / 0.25), -100.0, 155.0);
       }},
      {ElementOp::grid16, 0.25f, -32768.0f,
       [](double x) {
         return x != x ? x : 0.25 * std::clamp(std::nearbyint(x / 0.25), -32768.0, 32767.0);
       }},
      {ElementOp::softsign, 0, 0, [](double x) { return x / (1 + std::abs(x)); }},
      {ElementOp::logical_not, 0, 0, [](double x) { return x == 0 ? 1.0 : 0.0; }},
      {ElementOp::is_nan, 0, 0, [](double x) { return x != x ? 1.0 : 0.0; }},
      {ElementOp::is_inf, 1, 0, [](double x) { return std::isinf(x) && x < 0 ? 1.0 : 0.0; }},
      {ElementOp::is_inf, 1, 1, [](double x) { return std::isinf(x) ? 1.0 : 0.0; }},
  };
  y.resize(special.size());
  for (const UnaryOperator& o : unaries) {
    unary(o.op, static_cast<std::int64_t>(special.size()), special.data(), y.data(), o.p0, o.p1);
    for (std::size_t i = 0; i < special.size(); ++i) {
      const double expected = o.f(static_cast<double>(special[i]));
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(y[i]))
            << static_cast<int>(o.op) << "(" << special[i] << ") = " << y[i];
      } else if (std::isinf(expected)) {
        ASSERT_EQ(y[i], static_cast<float>(expected))
            << static_cast<int>(o.op) << "(" << special[i] << ")";
      } else {
        ASSERT_NEAR(static_cast<double>(y[i]), expected, 2.5e-7 * std::abs(expected))
            << static_cast<int>(o.op) << "(" << special[i] << ")";
      }
    }
  }
}

TEST_P(Elementwise, BadProgramsAreRefused) {
  const auto make = [](std::vector<ElementStep> steps, std::vector<int> outputs) {
    const std::vector<Element> types(outputs.size(), Element::f32);
    return ElementProgram({Element::f32}, std::move(steps), std::move(outputs), types);
  };
  EXPECT_THROW(make({{.op = ElementOp::neg, .a = 1}}, {1}), std::invalid_argument);
  EXPECT_THROW(make({{.op = ElementOp::add, .a = 0, .b = 7}}, {1}), std::invalid_argument);
  EXPECT_THROW(make({}, {1}), std::invalid_argument);
  EXPECT_THROW(make({}, {}), std::invalid_argument);
  EXPECT_NO_THROW(make({}, {0}));
}

template <typename T>
void check_exact(Element type, ElementOp op, const std::vector<T>& a, const std::vector<T>& b,
                 const std::vector<T>& expected) {
  ASSERT_TRUE(supports_exact(op, type));
  const std::int64_t shape[] = {static_cast<std::int64_t>(a.size())};
  const std::int64_t one[] = {1};
  std::vector<T> out(a.size());
  elementwise_exact(op, type, shape, {a.data(), one}, {b.data(), one}, out.data());
  EXPECT_EQ(out, expected) << static_cast<int>(op);
}

TEST_P(Elementwise, IntegerArithmetic) {
  using I = std::int32_t;
  constexpr I kMin = std::numeric_limits<I>::min();
  constexpr I kMax = std::numeric_limits<I>::max();
  const std::vector<I> a = {7, -7, 7, -7, kMax, kMin, 5, 0};
  const std::vector<I> b = {3, 3, -3, -3, 1, -1, 0, 4};
  check_exact<I>(Element::i32, ElementOp::add, a, b, {10, -4, 4, -10, kMin, kMax, 5, 4});
  check_exact<I>(Element::i32, ElementOp::div, a, b, {2, -2, -2, 2, kMax, kMin, 0, 0});
  check_exact<I>(Element::i32, ElementOp::fmod, a, b, {1, -1, 1, -1, 0, 0, 0, 0});
  check_exact<I>(Element::i32, ElementOp::floor_mod, a, b, {1, 2, -2, -1, 0, 0, 0, 0});
  check_exact<I>(Element::i32, ElementOp::pow, {2, -2, 3, 0, 2, -1, 1, 5},
                 {10, 3, 4, 0, -1, -3, -7, 0}, {1024, -8, 81, 1, 0, -1, 1, 1});
  check_exact<I>(Element::i32, ElementOp::neg, a, a, {-7, 7, -7, 7, -kMax, kMin, -5, 0});
  check_exact<std::uint8_t>(Element::u8, ElementOp::sub, {1, 200, 255}, {2, 100, 255},
                            {255, 100, 0});
  check_exact<std::int64_t>(Element::i64, ElementOp::max, {1, -5, 7}, {2, -6, 7}, {2, -5, 7});
  check_exact<double>(Element::f64, ElementOp::exp, {0, 1, -1}, {0, 0, 0},
                      {1, std::exp(1.0), std::exp(-1.0)});
  EXPECT_FALSE(supports_exact(ElementOp::exp, Element::i32));
  EXPECT_FALSE(supports_exact(ElementOp::add, Element::boolean));
}

TEST_P(Elementwise, ExactBroadcastsAndComparisons) {
  const Dims out = {3, 4, 500};
  Random random(4);
  std::vector<std::int64_t> a;
  std::vector<std::int64_t> b;
  for (int i = 0; i < 1500; ++i) a.push_back(random.below(5));
  for (int i = 0; i < 4; ++i) b.push_back(random.below(5));
  const std::int64_t a_stride[] = {500, 0, 1};
  const std::int64_t b_stride[] = {0, 1, 0};
  std::vector<std::uint8_t> truth(6000);
  elementwise_exact(ElementOp::less_equal, Element::i64, out, {a.data(), a_stride},
                    {b.data(), b_stride}, truth.data());
  std::vector<std::int64_t> chosen(6000);
  const std::int64_t t_stride[] = {2000, 500, 1};
  select(8, out, {truth.data(), t_stride}, {a.data(), a_stride}, {b.data(), b_stride},
         chosen.data());
  std::vector<std::int64_t> shifted(6000);
  bitwise(BitOp::shift_left, Element::i64, out, {a.data(), a_stride}, {b.data(), b_stride},
          shifted.data());
  for (std::int64_t i = 0; i < 6000; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t x = a[static_cast<std::size_t>(source(i, out, a_stride))];
    const std::int64_t y = b[static_cast<std::size_t>(source(i, out, b_stride))];
    ASSERT_EQ(truth[at], x <= y ? 1 : 0);
    ASSERT_EQ(chosen[at], std::min(x, y));
    ASSERT_EQ(shifted[at], x << y);
  }
  std::uint8_t bits[] = {0x0f, 0xff};
  bitwise_not(Element::u8, 2, bits, bits);
  EXPECT_EQ(bits[0], 0xf0);
  EXPECT_EQ(bits[1], 0x00);
}

TEST_P(Elementwise, CastsOfSixteenBitFloatsAreExact) {
  std::vector<Half> halves;
  std::vector<BFloat16> bf16s;
  for (int i = 0; i < 65536; ++i) {
    halves.push_back({static_cast<std::uint16_t>(i)});
    bf16s.push_back({static_cast<std::uint16_t>(i)});
  }
  std::vector<float> wide(65536);
  std::vector<Half> back(65536);
  convert(Element::f16, halves.data(), Element::f32, wide.data(), 65536);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const auto e = static_cast<int>(i >> 10 & 31);
    const auto m = static_cast<double>(i & 1023);
    double y = e == 0 ? std::ldexp(m, -24) : std::ldexp(1024 + m, e - 25);
    if (e == 31) y = m == 0 ? INFINITY : NAN;
    if (i >= 32768) y = -y;
    if (std::isnan(y)) {
      ASSERT_TRUE(std::isnan(wide[i]));
    } else {
      ASSERT_EQ(static_cast<double>(wide[i]), y);
    }
  }
  convert(Element::f32, wide.data(), Element::f16, back.data(), 65536);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (!std::isnan(wide[i])) {
      ASSERT_EQ(back[i].bits, halves[i].bits);
    }
  }
  std::vector<BFloat16> back_bf16(65536);
  convert(Element::bf16, bf16s.data(), Element::f32, wide.data(), 65536);
  convert(Element::f32, wide.data(), Element::bf16, back_bf16.data(), 65536);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (std::isnan(wide[i])) {
      ASSERT_TRUE(std::isnan(to_float(back_bf16[i])));
    } else {
      ASSERT_EQ(back_bf16[i].bits, bf16s[i].bits);
    }
  }
}

TEST_P(Elementwise, CastsRoundToNearestEven) {
  Random random(5);
  std::vector<float> x = {0.0f,          -0.0f,   1e-8f,     65504.0f,       65519.9f,
                          65520.0f,      1e30f,   -1e30f,    5.9604645e-8f,  2.9802322e-8f,
                          2.9802326e-8f, 6.1e-5f, kInfinity, 1.00048828125f, 1.001464844f};
  for (int i = 0; i < 20000; ++i)
    x.push_back(std::ldexp(random.uniform(), static_cast<int>(random.below(60)) - 40));
  std::vector<Half> vector(x.size());
  convert(Element::f32, x.data(), Element::f16, vector.data(), static_cast<std::int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    // The nearest of the neighbours, ties to the even one.
    const double value = std::abs(static_cast<double>(x[i]));
    double expected = INFINITY;
    if (value < 65520) {
      const double quantum = std::ldexp(
          1.0, std::max(-24, static_cast<int>(std::floor(std::log2(std::max(value, 1e-30)))) - 10));
      expected = std::nearbyint(value / quantum) * quantum;
    }
    ASSERT_EQ(std::abs(static_cast<double>(to_float(vector[i]))), expected) << x[i];
    ASSERT_EQ(to_half(x[i]).bits, vector[i].bits);
  }
  // Not rounded twice: just above the tie between two halves, which f32 cannot tell from it.
  const double above = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  Half h{};
  convert(Element::f64, &above, Element::f16, &h, 1);
  EXPECT_EQ(to_float(h), 1 + std::ldexp(1.0f, -10));
  const std::int64_t long_above = (std::int64_t{1} << 40) + (std::int64_t{1} << 32) + 1;
  BFloat16 b{};
  convert(Element::i64, &long_above, Element::bf16, &b, 1);
  EXPECT_EQ(static_cast<double>(to_float(b)), std::ldexp(1.0, 40) + std::ldexp(1.0, 33));
}

TEST_P(Elementwise, CastsBetweenNumbers) {
  const std::vector<float> x = {0.0f, 1.9f, -1.9f, 255.7f, -3.5f, 100.0f};
  std::vector<std::int32_t> ints(6);
  convert(Element::f32, x.data(), Element::i32, ints.data(), 6);
  EXPECT_EQ(ints, (std::vector<std::int32_t>{0, 1, -1, 255, -3, 100}));
  std::vector<std::uint8_t> bytes(6);
  convert(Element::i32, ints.data(), Element::u8, bytes.data(), 6);
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0, 1, 255, 255, 253, 100}));
  std::vector<std::uint8_t> truth(6);
  convert(Element::f32, x.data(), Element::boolean, truth.data(), 6);
  EXPECT_EQ(truth, (std::vector<std::uint8_t>{0, 1, 1, 1, 1, 1}));
  std::vector<double> wide(6);
  convert(Element::f32, x.data(), Element::f64, wide.data(), 6);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(wide[i], static_cast<double>(x[i]));
  const std::vector<float> odd = {kNan, kInfinity, -kInfinity, 3e9f};
  std::vector<std::int32_t> out(4);
  convert(Element::f32, odd.data(), Element::i32, out.data(), 4);
  for (const std::int32_t v : out) EXPECT_EQ(v, std::numeric_limits<std::int32_t>::min());
  std::vector<std::int64_t> longs(4);
  convert(Element::f32, odd.data(), Element::i64, longs.data(), 4);
  EXPECT_EQ(longs[3], 3000000000);
}

CONCORD_FOR_EACH_ISA(Elementwise);

}  // namespace
}  // namespace concord::cpu
