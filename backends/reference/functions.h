#pragma once

#include <cmath>

#include "backends/reference/number.h"
#include "graph/functions.h"

namespace concord::reference {

// The scalar functions of graph/functions.def over a number type. `unit`: the unit roundoff that
// variances are counted in; functions that jump need it, see `jump`.

// A step function's value y, where x lies `distance` from the nearest jump of `height`: if x may be
// on the other side (within 6σ), so may y, and its budget covers that.
template <typename N>
N jump(double y, const N& x, real_t<N> distance, double height, double unit) {
  if constexpr (kUncertain<N>) {
    using Real = real_t<N>;
    const auto u = static_cast<Real>(unit);
    if (x.variance > 0 && !(distance * distance > 36 * x.variance * u * u)) {
      const Real sigma = static_cast<Real>(height) / (6 * u);
      return N(static_cast<Real>(y), sigma * sigma);
    }
  } else {
    static_cast<void>(x);
    static_cast<void>(distance);
    static_cast<void>(height);
    static_cast<void>(unit);
  }
  return number<N>(y);
}

// A result that jumps by `height` where x would be `distance` less or more.
template <typename N>
N with_jump(N result, const N& x, real_t<N> distance, double height, double unit) {
  if constexpr (kUncertain<N>) {
    result.variance = std::max(result.variance, jump(0, x, distance, height, unit).variance);
  } else {
    static_cast<void>(x);
    static_cast<void>(distance);
    static_cast<void>(height);
    static_cast<void>(unit);
  }
  return result;
}

// A result that stays as it is up to a kink, which x has not reached by `distance`: if x may lie
// beyond it (within 6σ), so may the result, by as much times the slope there.
template <typename N>
N with_reach(N result, const N& x, real_t<N> distance, double unit, double slope = 1) {
  if constexpr (kUncertain<N>) {
    using Real = real_t<N>;
    const Real reach = std::sqrt(x.variance) - distance / (6 * static_cast<Real>(unit));
    const Real further = static_cast<Real>(slope) * reach;
    if (reach > 0) result.variance = std::max(result.variance, further * further);
  } else {
    static_cast<void>(x);
    static_cast<void>(distance);
    static_cast<void>(unit);
    static_cast<void>(slope);
  }
  return result;
}

// Where a function's slope is small, as at GELU's least value, what counts is its curvature: an
// operand that is 6σ off moves the result by ½·|curvature|·(6σ)² beside what the slope says.
template <typename N>
N with_curve(N result, const N& x, real_t<N> curvature, double unit) {
  if constexpr (kUncertain<N>) {
    const real_t<N> sigma = curvature / 2 * 6 * static_cast<real_t<N>>(unit) * x.variance;
    if (std::isfinite(sigma)) result.variance += sigma * sigma;
  } else {
    static_cast<void>(x);
    static_cast<void>(curvature);
    static_cast<void>(unit);
  }
  return result;
}

// larger and smaller of numbers of which the other one may be what it is.
template <typename N>
N larger(const N& a, const N& b, double unit) {
  const bool second = value_of(a) < value_of(b);
  return with_reach(larger(a, b), second ? a : b, std::abs(value_of(a) - value_of(b)), unit);
}
template <typename N>
N smaller(const N& a, const N& b, double unit) {
  const bool second = value_of(b) < value_of(a);
  return with_reach(smaller(a, b), second ? a : b, std::abs(value_of(a) - value_of(b)), unit);
}

// f(x) with a slope, to kFunctionUlp and `absolute` (an error of so many u, for cancellations that
// the usual formulas have).
template <typename N>
N function(real_t<N> y, real_t<N> slope, const N& x, real_t<N> absolute = 0) {
  if constexpr (kUncertain<N>) {
    N result = through(y, slope, x, kFunctionUlp);
    result.variance += absolute * absolute;
    return result;
  } else {
    static_cast<void>(slope);
    static_cast<void>(x);
    static_cast<void>(absolute);
    return y;
  }
}

template <typename N>
N sigmoid(const N& x) {
  return number<N>(1) / (number<N>(1) + exp(-x));
}

template <typename N>
N smooth_unary(graph::UnaryFn fn, const N& x) {
  using graph::UnaryFn;
  using Real = real_t<N>;
  const Real v = value_of(x);
  switch (fn) {
    case UnaryFn::acos:
      return function(std::acos(v), -1 / std::sqrt(1 - v * v), x);
    case UnaryFn::acosh:
      return function(std::acosh(v), 1 / std::sqrt(v * v - 1), x);
    case UnaryFn::asin:
      return function(std::asin(v), 1 / std::sqrt(1 - v * v), x);
    case UnaryFn::asinh:
      return function(std::asinh(v), 1 / std::sqrt(v * v + 1), x);
    case UnaryFn::atan:
      return function(std::atan(v), 1 / (1 + v * v), x);
    case UnaryFn::atanh:
      return function(std::atanh(v), 1 / (1 - v * v), x);
    case UnaryFn::cos:
      return cos(x);
    case UnaryFn::cosh:
      return function(std::cosh(v), std::sinh(v), x);
    case UnaryFn::erf:
      return erf(x);
    case UnaryFn::exp:
      return exp(x);
    case UnaryFn::gelu_erf: {
      // 1 + erf cancels for negative x, which leaves an error of u·|x|.
      constexpr Real half_root = 0.707106781186547524400844362104849039L;
      constexpr Real density = 0.398942280401432677939946059934381868L;
      const Real phi = std::erfc(-v * half_root) / 2;
      return function(v * phi, phi + v * density * std::exp(-v * v / 2), x, v);
    }
    case UnaryFn::gelu_tanh: {
      constexpr Real root = 0.797884560802865355879892119868763737L;
      const Real t = std::tanh(root * (v + static_cast<Real>(0.044715L) * v * v * v));
      const Real slope =
          (1 + t) / 2 + v * (1 - t * t) / 2 * root * (1 + 3 * static_cast<Real>(0.044715L) * v * v);
      return function(v / 2 * (1 + t), slope, x, v);
    }
    case UnaryFn::log:
      return log(x);
    case UnaryFn::mish: {
      const Real soft = v > 0 ? v + std::log1p(std::exp(-v)) : std::log1p(std::exp(v));
      const Real t = std::tanh(soft);
      return function(v * t, t + v * (1 - t * t) / (1 + std::exp(-v)), x, v);
    }
    case UnaryFn::sigmoid:
      return sigmoid(x);
    case UnaryFn::silu:
      return x * sigmoid(x);
    case UnaryFn::sin:
      return sin(x);
    case UnaryFn::sinh:
      return function(std::sinh(v), std::cosh(v), x);
    case UnaryFn::softplus: {
      // 1 + exp(x) loses u where exp(x) is small.
      const Real y = v > 0 ? v + std::log1p(std::exp(-v)) : std::log1p(std::exp(v));
      return function(y, 1 / (1 + std::exp(-v)), x, Real{1});
    }
    case UnaryFn::softsign:
      return x / (number<N>(1) + abs(x));
    case UnaryFn::sqrt:
      return sqrt(x);
    case UnaryFn::rsqrt:
      return number<N>(1) / sqrt(x);
    case UnaryFn::reciprocal:
      return number<N>(1) / x;
    case UnaryFn::square:
      if constexpr (kUncertain<N>) return through(v * v, 2 * v, x, kExactUlp);
      return x * x;
    case UnaryFn::tan:
      return function(std::tan(v), 1 + std::tan(v) * std::tan(v), x);
    default:
      return tanh(x);
  }
}

// The second derivative of the smooth functions that have an extremum within, or a bound of it.
template <typename Real>
Real curvature_of(graph::UnaryFn fn, Real v) {
  using graph::UnaryFn;
  switch (fn) {
    case UnaryFn::cos:
      return std::cos(v);
    case UnaryFn::sin:
      return std::sin(v);
    case UnaryFn::cosh:
      return std::cosh(v);
    case UnaryFn::square:
      return 2;
    case UnaryFn::gelu_erf:
    case UnaryFn::gelu_tanh:
    case UnaryFn::mish:
      return Real{0.8};  // 2φ(0) at 0, the most that any of the three has
    default:
      return 0;
  }
}

template <typename N>
N unary(graph::UnaryFn fn, const N& x, double alpha, double beta, double unit) {
  using graph::UnaryFn;
  using Real = real_t<N>;
  const Real v = value_of(x);
  const N a = number<N>(alpha);
  const N b = number<N>(beta);
  const N zero = number<N>(0);
  const N one = number<N>(1);
  switch (fn) {
    case UnaryFn::abs:
      return abs(x);
    case UnaryFn::neg:
      return -x;
    case UnaryFn::identity:
      return x;
    case UnaryFn::relu:
      return v < 0 ? with_reach(zero, x, -v, unit) : x;
    case UnaryFn::ceil:
      return jump(static_cast<double>(std::ceil(v)), x, v - std::round(v), 1, unit);
    case UnaryFn::floor:
      return jump(static_cast<double>(std::floor(v)), x, v - std::round(v), 1, unit);
    case UnaryFn::round:
      return jump(static_cast<double>(std::nearbyint(v)), x, v - std::floor(v) - Real{0.5}, 1,
                  unit);
    case UnaryFn::sign:
      return jump(std::isnan(v) ? std::nan("") : static_cast<double>((v > 0) - (v < 0)), x, v, 2,
                  unit);
    case UnaryFn::is_nan:
      return number<N>(std::isnan(v) ? 1 : 0);
    case UnaryFn::is_inf:
      return number<N>(std::isinf(v) && (v > 0 ? alpha != 0 : beta != 0) ? 1 : 0);
    case UnaryFn::logical_not: {
      N result = x;
      result = number<N>(v == 0 ? 1 : 0);
      if constexpr (kUncertain<N>) result.variance = x.variance;
      return result;
    }
    case UnaryFn::celu:
      return v < 0 ? with_reach(a * (exp(x / a) - one), x, -v, unit) : x;
    case UnaryFn::elu:
      return v < 0 ? with_reach(a * (exp(x) - one), x, -v, unit) : x;
    case UnaryFn::selu:
      return v > 0 ? b * x : b * (a * exp(x) - a);
    case UnaryFn::leaky_relu:
      return v < 0 ? with_reach(a * x, x, -v, unit) : x;
    case UnaryFn::hard_sigmoid:
      return larger(zero, smaller(one, a * x + b, unit), unit);
    case UnaryFn::hard_swish:
      return x * larger(zero, smaller(one, x / number<N>(6) + number<N>(0.5), unit), unit);
    case UnaryFn::quick_gelu:
      return x * sigmoid(a * x);
    case UnaryFn::shrink:
      return with_jump(v < -value_of(a)  ? x + b
                       : v > value_of(a) ? x - b
                                         : zero,
                       x, std::abs(v) - value_of(a), std::abs(alpha - beta), unit);
    case UnaryFn::thresholded_relu:
      return with_jump(std::isnan(v) || v > value_of(a) ? x : zero, x, v - value_of(a),
                       std::abs(alpha), unit);
    default:
      return with_curve(smooth_unary(fn, x), x, curvature_of(fn, v), unit);
  }
}

// Chooses by a condition (0 or 1) that may itself be uncertain.
template <typename N>
N select(const N& condition, const N& a, const N& b, double unit) {
  N result = value_of(condition) != 0 ? a : b;
  if constexpr (kUncertain<N>) {
    if (condition.variance > 0) {
      const auto sigma = std::abs(a.value - b.value) / (6 * static_cast<real_t<N>>(unit));
      result.variance = std::max(a.variance, b.variance) + sigma * sigma;
    }
  }
  return result;
}

// A comparison as 0 or 1.
template <typename N>
N comparison(bool holds, const N& a, const N& b, double unit) {
  if constexpr (kUncertain<N>) {
    const N difference(a.value - b.value, a.variance + b.variance);
    return jump(holds ? 1.0 : 0.0, difference, difference.value, 1, unit);
  }
  static_cast<void>(a);
  static_cast<void>(b);
  static_cast<void>(unit);
  return number<N>(holds ? 1 : 0);
}

template <typename N>
N remainder_of(bool like_dividend, const N& a, const N& b) {
  using Real = real_t<N>;
  const Real x = value_of(a);
  const Real y = value_of(b);
  Real rest = std::fmod(x, y);
  if (!like_dividend && rest != 0 && (rest < 0) != (y < 0)) rest += y;
  if constexpr (kUncertain<N>) {
    return N(rest, a.variance + spread(std::trunc(x / y), b.variance));
  } else {
    return rest;
  }
}

template <typename N>
N logical(bool holds, const N& a, const N& b) {
  N result = number<N>(holds ? 1 : 0);
  if constexpr (kUncertain<N>) result.variance = std::max(a.variance, b.variance);
  static_cast<void>(a);
  static_cast<void>(b);
  return result;
}

template <typename N>
N binary(graph::BinaryFn fn, const N& a, const N& b, double unit) {
  using graph::BinaryFn;
  const real_t<N> x = value_of(a);
  const real_t<N> y = value_of(b);
  switch (fn) {
    case BinaryFn::add:
      return a + b;
    case BinaryFn::sub:
      return a - b;
    case BinaryFn::mul:
      return a * b;
    case BinaryFn::div:
      return a / b;
    case BinaryFn::pow:
      return pow(a, b);
    case BinaryFn::max:
      return larger(a, b, unit);
    case BinaryFn::min:
      return smaller(a, b, unit);
    case BinaryFn::fmod:
      return remainder_of(true, a, b);
    case BinaryFn::mod:
      return remainder_of(false, a, b);
    case BinaryFn::prelu:
      return x < 0 ? with_reach(a * b, a, -x, unit) : a;
    case BinaryFn::equal:
      return comparison(x == y, a, b, unit);
    case BinaryFn::greater:
      return comparison(x > y, a, b, unit);
    case BinaryFn::greater_equal:
      return comparison(x >= y, a, b, unit);
    case BinaryFn::less:
      return comparison(x < y, a, b, unit);
    case BinaryFn::less_equal:
      return comparison(x <= y, a, b, unit);
    case BinaryFn::logical_and:
      return logical(x != 0 && y != 0, a, b);
    case BinaryFn::logical_or:
      return logical(x != 0 || y != 0, a, b);
    case BinaryFn::logical_xor:
      return logical((x != 0) != (y != 0), a, b);
    default:  // bits are no matter of floats
      return number<N>(std::nan(""));
  }
}

}  // namespace concord::reference
