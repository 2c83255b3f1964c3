#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace concord::reference {

// The oracle's arithmetic is written once over a number type: double, long double (where the model
// computes in float64), or Uncertain, which carries beside each value the variance of the rounding
// errors that a backend makes on the way to it. docs/budget.md derives the rules.

// A value and its variance in units of u², u being the unit roundoff of the type that the step
// computes in: so no operation needs to know u. Independent errors add up in variance; an operation
// of p ulp (one ulp is at most 2u·|y|) adds (2p·y)².
template <typename Real>
struct Uncertain {
  Real value = 0;
  Real variance = 0;

  Uncertain() = default;
  Uncertain(Real v) : value(v) {}  // NOLINT(google-explicit-constructor): an exact number
  Uncertain(Real v, Real var) : value(v), variance(var) {}
};

// Errors of the operations in ulp.
constexpr double kExactUlp = 0.5;  // add, subtract, multiply: correctly rounded
constexpr double kDivideUlp = 2.5;
constexpr double kFunctionUlp = 4;

template <typename Real>
Real rounding(Real y, double ulp) {
  const Real error = static_cast<Real>(2 * ulp) * y;
  return std::isfinite(y) ? error * error : Real{0};
}

// Variance behind a slope; 0·∞ is 0, since an infinite value has no error that could pass.
template <typename Real>
Real spread(Real slope, Real variance) {
  return slope == 0 || variance == 0 ? Real{0} : slope * slope * variance;
}

// y = f(x) with f′(x) = slope, computed to `ulp`.
template <typename Real>
Uncertain<Real> through(Real y, Real slope, const Uncertain<Real>& x, double ulp) {
  return {y, spread(slope, x.variance) + rounding(y, ulp)};
}

template <typename R>
Uncertain<R> operator+(const Uncertain<R>& a, const Uncertain<R>& b) {
  const R y = a.value + b.value;
  return {y, a.variance + b.variance + rounding(y, kExactUlp)};
}
template <typename R>
Uncertain<R> operator-(const Uncertain<R>& a, const Uncertain<R>& b) {
  const R y = a.value - b.value;
  return {y, a.variance + b.variance + rounding(y, kExactUlp)};
}
template <typename R>
Uncertain<R> operator-(const Uncertain<R>& a) {
  return {-a.value, a.variance};
}
template <typename R>
Uncertain<R> operator*(const Uncertain<R>& a, const Uncertain<R>& b) {
  const R y = a.value * b.value;
  return {y, spread(b.value, a.variance) + spread(a.value, b.variance) + rounding(y, kExactUlp)};
}
template <typename R>
Uncertain<R> operator/(const Uncertain<R>& a, const Uncertain<R>& b) {
  const R y = a.value / b.value;
  return {y, spread(1 / b.value, a.variance) + spread(y / b.value, b.variance) +
                 rounding(y, kDivideUlp)};
}

// What a number is worth, without its variance.
inline double value_of(double x) {
  return x;
}
inline long double value_of(long double x) {
  return x;
}
template <typename R>
R value_of(const Uncertain<R>& x) {
  return x.value;
}
inline double variance_of(double) {
  return 0;
}
inline long double variance_of(long double) {
  return 0;
}
template <typename R>
R variance_of(const Uncertain<R>& x) {
  return x.variance;
}

// real_t<N>: double or long double; kUncertain<N>.
template <typename N>
struct NumberTraits {
  using Real = N;
  static constexpr bool uncertain = false;
};
template <typename R>
struct NumberTraits<Uncertain<R>> {
  using Real = R;
  static constexpr bool uncertain = true;
};
template <typename N>
using real_t = typename NumberTraits<N>::Real;
template <typename N>
constexpr bool kUncertain = NumberTraits<N>::uncertain;

template <typename N>
N number(double x) {
  return N(static_cast<real_t<N>>(x));
}

using std::abs;
using std::cos;
using std::erf;
using std::exp;
using std::log;
using std::pow;
using std::sin;
using std::sqrt;
using std::tanh;

template <typename R>
Uncertain<R> abs(const Uncertain<R>& x) {
  return {std::abs(x.value), x.variance};
}
template <typename R>
Uncertain<R> exp(const Uncertain<R>& x) {
  const R y = std::exp(x.value);
  return through(y, y, x, kFunctionUlp);
}
template <typename R>
Uncertain<R> log(const Uncertain<R>& x) {
  return through(std::log(x.value), 1 / x.value, x, kFunctionUlp);
}
template <typename R>
Uncertain<R> tanh(const Uncertain<R>& x) {
  const R y = std::tanh(x.value);
  return through(y, 1 - y * y, x, kFunctionUlp);
}
template <typename R>
Uncertain<R> erf(const Uncertain<R>& x) {
  constexpr R two_over_root_pi = 1.128379167095512573896158903121545172L;
  return through(std::erf(x.value), two_over_root_pi * std::exp(-x.value * x.value), x,
                 kFunctionUlp);
}
template <typename R>
Uncertain<R> sin(const Uncertain<R>& x) {
  return through(std::sin(x.value), std::cos(x.value), x, kFunctionUlp);
}
template <typename R>
Uncertain<R> cos(const Uncertain<R>& x) {
  return through(std::cos(x.value), std::sin(x.value), x, kFunctionUlp);
}
template <typename R>
Uncertain<R> sqrt(const Uncertain<R>& x) {
  const R y = std::sqrt(x.value);
  return through(y, R{0.5} / y, x, kDivideUlp);
}
template <typename R>
Uncertain<R> pow(const Uncertain<R>& x, const Uncertain<R>& e) {
  const R y = std::pow(x.value, e.value);
  const R by_base = e.value == 0 ? R{0} : e.value * std::pow(x.value, e.value - 1);
  const R by_exponent = y == 0 ? R{0} : y * std::log(std::abs(x.value));
  return {
      y, spread(by_base, x.variance) + spread(by_exponent, e.variance) + rounding(y, kFunctionUlp)};
}

// NaN if either is NaN.
template <typename N>
N larger(const N& a, const N& b) {
  if (std::isnan(value_of(a))) return a;
  if (std::isnan(value_of(b))) return b;
  return value_of(a) < value_of(b) ? b : a;
}
template <typename N>
N smaller(const N& a, const N& b) {
  if (std::isnan(value_of(a))) return a;
  if (std::isnan(value_of(b))) return b;
  return value_of(b) < value_of(a) ? b : a;
}

// Squares of what is rounded on the way to a sum.
template <typename Real>
struct Squares {
  Real terms = 0;  // Σ t²
  Real sums = 0;   // Σ s², s the sums on the way in the order of the terms; 0 if not known
};

// Rule 1: variance of a sum of `terms` products which itself is y. `conversions`: Σ (u_operand /
// u)² over the operands that are rounded to a smaller type first. The sums on the way are those of
// a random order, or of the terms' own order where these are larger. Terms that are all equal
// (y² = terms·squares) round alike each time, so that their errors do not average out: 6σ then
// covers half a unit at every sum on the way.
template <typename Real>
Real dot_variance(Real y, const Squares<Real>& of, Real terms, Real conversions = 0) {
  const Real squares = of.terms;
  const Real sums = squares * terms / 2 + y * y * terms / 3;
  Real v = (squares + (of.sums > sums ? of.sums : sums) + conversions * squares) / 3;
  constexpr Real nearly = 1e-9;
  if (terms > 1 && terms * squares <= y * y * (1 + nearly)) v += y * y * terms * terms / 144;
  return std::isfinite(v) ? v : Real{0};
}

// A sum, or a sum of products, of numbers.
template <typename N>
class Sum {
 public:
  using Real = real_t<N>;

  void add(const N& term) {
    value_ += value_of(term);
    if constexpr (kUncertain<N>) {
      squares_.terms += term.value * term.value;
      squares_.sums += value_ * value_;
      variance_ += term.variance;
      terms_ += 1;
    }
  }
  void add_product(const N& a, const N& b) {
    const Real term = value_of(a) * value_of(b);
    value_ += term;
    if constexpr (kUncertain<N>) {
      squares_.terms += term * term;
      squares_.sums += value_ * value_;
      variance_ += spread(b.value, a.variance) + spread(a.value, b.variance);
      terms_ += 1;
    }
  }
  // See dot_variance.
  N result(Real conversions = 0) const {
    if constexpr (kUncertain<N>) {
      return N(value_, variance_ + dot_variance(value_, squares_, terms_, conversions));
    } else {
      static_cast<void>(conversions);
      return value_;
    }
  }

 private:
  Real value_ = 0;
  Squares<Real> squares_;
  Real variance_ = 0;
  Real terms_ = 0;
};

}  // namespace concord::reference
