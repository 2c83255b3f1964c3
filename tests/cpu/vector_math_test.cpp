// Elementary functions against the C library's in long double, over f32 arguments of every
// magnitude.

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "backends/cpu/kernels/elementwise.h"
#include "tests/cpu/isa_param.h"

namespace concord::cpu {
namespace {

using Real = long double;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Function {
  const char* name;
  ElementOp op;
  Real (*exact)(Real);
  double ulp;                // largest error allowed, in units of the last place of the result
  double absolute = 0;       // or this much, whatever the result
  double relative_to_x = 0;  // or this share of |x|
};

Real sigmoid(Real x) {
  return 1 / (1 + std::exp(-x));
}
Real phi(Real x) {
  return std::erfc(-x * std::sqrt(0.5L)) / 2;
}
Real gelu_tanh(Real x) {
  const Real u = 0.797884560802865355879892L * (x + 0.044715L * x * x * x);
  return x * sigmoid(2 * u);
}
Real softplus(Real x) {
  return std::max(x, Real(0)) + std::log1p(std::exp(-std::abs(x)));
}

const Function kFunctions[] = {
    {"exp", ElementOp::exp, [](Real x) { return std::exp(x); }, 1.0},
    {"expm1", ElementOp::expm1, [](Real x) { return std::expm1(x); }, 2.0},
    {"log", ElementOp::log, [](Real x) { return std::log(x); }, 1.0},
    {"log1p", ElementOp::log1p, [](Real x) { return std::log1p(x); }, 2.0},
    {"tanh", ElementOp::tanh, [](Real x) { return std::tanh(x); }, 5.0},
    {"erf", ElementOp::erf, [](Real x) { return std::erf(x); }, 5.0},
    {"sigmoid", ElementOp::sigmoid, sigmoid, 2.5},
    {"silu", ElementOp::silu, [](Real x) { return x * sigmoid(x); }, 3.0},
    {"quick_gelu", ElementOp::quick_gelu, [](Real x) { return x * sigmoid(1.702L * x); }, 3.0, 0,
     4e-8},
    {"gelu_erf", ElementOp::gelu_erf, [](Real x) { return x * phi(x); }, 3.0, 0, 1.3e-7},
    {"gelu_tanh", ElementOp::gelu_tanh, gelu_tanh, 3.0, 0, 1e-7},
    {"sin", ElementOp::sin, [](Real x) { return std::sin(x); }, 2.0},
    {"cos", ElementOp::cos, [](Real x) { return std::cos(x); }, 2.0},
    {"softplus", ElementOp::softplus, softplus, 3.0},
    {"mish", ElementOp::mish, [](Real x) { return x * std::tanh(softplus(x)); }, 4.0},
    {"rsqrt", ElementOp::rsqrt, [](Real x) { return 1 / std::sqrt(x); }, 1.5},
    {"tan", ElementOp::tan, [](Real x) { return std::tan(x); }, 0.6},
    {"atan", ElementOp::atan, [](Real x) { return std::atan(x); }, 0.6},
    {"acosh", ElementOp::acosh, [](Real x) { return std::acosh(x); }, 0.6},
};

Real ulp_of(Real y) {
  const float magnitude = std::abs(static_cast<float>(y));
  if (std::isinf(magnitude)) return std::ldexp(Real(1), 104);
  const float next = std::nextafter(magnitude, kInfinity);
  return static_cast<Real>(next) - static_cast<Real>(magnitude);
}

class VectorMath : public IsaTest {
 protected:
  // Checks n arguments at once; returns the worst error in ulp for the report.
  double check(const Function& f, const std::vector<float>& x) {
    std::vector<float> y(x.size());
    unary(f.op, static_cast<std::int64_t>(x.size()), x.data(), y.data());
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Real exact = f.exact(static_cast<Real>(x[i]));
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(y[i])) << f.name << "(" << x[i] << ") = " << y[i];
        continue;
      }
      if (std::abs(exact) > static_cast<Real>(std::numeric_limits<float>::max())) {
        EXPECT_EQ(y[i], std::signbit(exact) ? -kInfinity : kInfinity)
            << f.name << "(" << x[i] << ")";
        continue;
      }
      const Real error = std::abs(static_cast<Real>(y[i]) - exact);
      const Real floor = std::numeric_limits<float>::min();
      const double ulps = static_cast<double>(error / ulp_of(exact));
      if (error <= floor || error <= Real(f.relative_to_x) * std::abs(static_cast<Real>(x[i])))
        continue;
      worst = std::max(worst, ulps);
      if (!(ulps <= f.ulp)) {
        ADD_FAILURE() << f.name << "(" << std::hexfloat << x[i] << std::defaultfloat << " = "
                      << x[i] << ") = " << y[i] << ", should be " << static_cast<double>(exact)
                      << ", " << ulps << " ulp";
        return worst;
      }
    }
    return worst;
  }
};

TEST_P(VectorMath, AllMagnitudes) {
  // The portable target is the same source and slow: fewer arguments.
  const std::uint32_t step = GetParam() == Isa::baseline ? 99991 : 9973;
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += step) {
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  // And densely where the functions bend.
  for (float v = -20; v < 20; v += (GetParam() == Isa::baseline ? 0.01f : 0.0003f)) x.push_back(v);
  for (const Function& f : kFunctions) {
    const double worst = check(f, x);
    RecordProperty(f.name, std::to_string(worst));
    if (std::getenv("CONCORD_PRINT_ULP") != nullptr)
      std::printf("%s %s %.3f\n", std::string(isa_name(GetParam())).c_str(), f.name, worst);
  }
}

TEST_P(VectorMath, SpecialValues) {
  const std::vector<float> x = {0.0f,
                                -0.0f,
                                kInfinity,
                                -kInfinity,
                                kNan,
                                1e-45f,
                                -1e-45f,
                                1e-39f,
                                std::numeric_limits<float>::max(),
                                std::numeric_limits<float>::lowest(),
                                88.72f,
                                88.73f,
                                89.5f,
                                -87.3f,
                                -103.9f,
                                -104.5f,
                                1.0f,
                                -1.0f};
  for (const Function& f : kFunctions) check(f, x);
}

TEST_P(VectorMath, SignOfZero) {
  for (const ElementOp op : {ElementOp::tanh, ElementOp::erf, ElementOp::sin, ElementOp::expm1}) {
    const float x[] = {0.0f, -0.0f};
    float y[2];
    unary(op, 2, x, y);
    EXPECT_FALSE(std::signbit(y[0]));
    EXPECT_TRUE(std::signbit(y[1])) << static_cast<int>(op);
  }
}

TEST_P(VectorMath, BoundedFunctionsStayInBounds) {
  std::vector<float> x;
  for (float v = -12; v < 12; v += 0.0007f) x.push_back(v);
  std::vector<float> y(x.size());
  for (const ElementOp op : {ElementOp::tanh, ElementOp::erf, ElementOp::sin, ElementOp::cos}) {
    unary(op, static_cast<std::int64_t>(x.size()), x.data(), y.data());
    for (const float v : y) ASSERT_LE(std::abs(v), 1.0f);
  }
}

TEST_P(VectorMath, Pow) {
  std::vector<float> a;
  std::vector<float> b;
  const float bases[] = {0.0f, -0.0f,      1.0f,       -1.0f, 2.0f,      -2.0f,
                         0.5f, 1e-40f,     1e-38f,     3e38f, kInfinity, -kInfinity,
                         kNan, 1.0000001f, 0.9999999f, 10.0f, 7.3f};
  const float powers[] = {0.0f, 1.0f,  -1.0f,     2.0f,       3.0f, 0.5f,   -0.5f, 2.5f,   -3.0f,
                          1e8f, -1e8f, kInfinity, -kInfinity, kNan, 100.0f, 38.0f, -45.0f, 0.333f};
  for (const float base : bases) {
    for (const float power : powers) {
      a.push_back(base);
      b.push_back(power);
    }
  }
  std::uint32_t state = 1;
  for (int i = 0; i < 200000; ++i) {
    state = state * 1664525u + 1013904223u;
    a.push_back(std::exp2(static_cast<float>(state >> 8) * 0x1p-24f * 40 - 20));
    state = state * 1664525u + 1013904223u;
    b.push_back(static_cast<float>(state >> 8) * 0x1p-24f * 12 - 6);
  }
  std::vector<float> y(a.size());
  binary(ElementOp::pow, static_cast<std::int64_t>(a.size()), a.data(), b.data(), y.data());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Real exact = std::pow(static_cast<Real>(a[i]), static_cast<Real>(b[i]));
    if (std::isnan(exact)) {
      EXPECT_TRUE(std::isnan(y[i])) << a[i] << " ^ " << b[i];
    } else if (std::abs(exact) > static_cast<Real>(std::numeric_limits<float>::max())) {
      EXPECT_TRUE(std::isinf(y[i]) || std::abs(y[i]) == std::numeric_limits<float>::max());
    } else {
      const Real error = std::abs(static_cast<Real>(y[i]) - exact);
      ASSERT_TRUE(error <= ulp_of(exact) || error <= static_cast<Real>(1e-38f))
          << a[i] << " ^ " << b[i] << " = " << y[i];
    }
  }
}

CONCORD_FOR_EACH_ISA(VectorMath);

}  // namespace
}  // namespace concord::cpu
