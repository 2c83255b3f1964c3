// Elementary functions on vectors of f32, for every target of Highway. Errors in ulp (2^-23
// relative at 1), the largest found over all f32 arguments in range, are asserted in
// tests/cpu/vector_math_test.cpp:
//   exp 1, expm1 2, log 1, log1p 2, tanh 5, erf 5, sigmoid 2.5, sin and cos 2, pow 1;
//   gelu_erf 3 or 1.3e-7 |x|, silu and quick_gelu 3, gelu_tanh 3 or 1e-7 |x|
// Polynomials and rationals are minimax fits (Lawson's iteration) made for this project.
//
// Included once for each target, hence the guard that toggles.

#if defined(CONCORD_VECTOR_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CONCORD_VECTOR_MATH_INL_H
#undef CONCORD_VECTOR_MATH_INL_H
#else
#define CONCORD_VECTOR_MATH_INL_H
#endif

#include <cmath>
#include <cstdint>
#include <limits>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Min and max with a bound that let a NaN in x through: on x86 the second operand wins then.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_most(D d, V x, float bound) {
#if HWY_TARGET == HWY_SCALAR
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, bound)), hn::Set(d, bound), x);
#else
  return hn::Min(hn::Set(d, bound), x);
#endif
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_least(D d, V x, float bound) {
#if HWY_TARGET == HWY_SCALAR
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, bound)), hn::Set(d, bound), x);
#else
  return hn::Max(hn::Set(d, bound), x);
#endif
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V is_nan_select(D, V x, V y) {
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// Applies a scalar function to each lane: for rare functions and rare arguments.
template <class D, class V = hn::Vec<D>, class F>
HWY_INLINE V per_lane(D d, V x, F f) {
  HWY_ALIGN float lanes[hn::MaxLanes(D())];
  hn::Store(x, d, lanes);
  for (float& lane : lanes) lane = f(lane);
  return hn::Load(d, lanes);
}

#if HWY_TARGET == HWY_SCALAR

// Without vectors and fused multiply-add the C library is as good as anything, and exact.
#define CONCORD_FROM_LIBRARY(function, expression) \
  template <class D, class V = hn::Vec<D>>         \
  HWY_INLINE V function(D d, V v) {                \
    return per_lane(d, v, [](float lane) {         \
      const double x = static_cast<double>(lane);  \
      return static_cast<float>(expression);       \
    });                                            \
  }
CONCORD_FROM_LIBRARY(vec_exp, std::exp(x))
CONCORD_FROM_LIBRARY(vec_exp_nonpositive, std::exp(x))
CONCORD_FROM_LIBRARY(vec_expm1, std::expm1(x))
CONCORD_FROM_LIBRARY(vec_log, std::log(x))
CONCORD_FROM_LIBRARY(vec_log1p, std::log1p(x))
CONCORD_FROM_LIBRARY(vec_tanh, std::tanh(x))
CONCORD_FROM_LIBRARY(vec_erf, std::erf(x))
CONCORD_FROM_LIBRARY(vec_gelu_erf, x * 0.5 * std::erfc(x * -0.70710678118654752))
CONCORD_FROM_LIBRARY(vec_sin, std::sin(x))
CONCORD_FROM_LIBRARY(vec_cos, std::cos(x))
#undef CONCORD_FROM_LIBRARY

#else

// y · 2^n, n integral in [-160, 160]: correct where the result overflows or is subnormal.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V scale_by_power(D d, V y, V n) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 16) return V{_mm512_scalef_ps(y.raw, n.raw)};
#endif
  const hn::Rebind<std::int32_t, D> di;
  const auto whole = hn::ConvertTo(di, n);
  const auto first = hn::ShiftRight<1>(whole);
  const auto bias = hn::Set(di, 127);
  const auto power = [&](auto e)
                         HWY_ATTR { return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(e, bias))); };
  return hn::Mul(hn::Mul(y, power(first)), power(hn::Sub(whole, first)));
}

// exp(r) for |r| <= ln2 / 2, relative error 3.1e-9 before rounding.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_reduced(D d, V r) {
  V p = hn::Set(d, 0.0013814602f);
  p = hn::MulAdd(p, r, hn::Set(d, 0.0083687152f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.0416683879f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.166665206f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.499999934f));
  return hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), hn::Set(d, 1.0f));
}

// x = n ln2 + r.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V reduce_ln2(D d, V x, V& n) {
  n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  const V r = hn::NegMulAdd(n, hn::Set(d, 0.693145752f), x);
  return hn::NegMulAdd(n, hn::Set(d, 1.42860677e-6f), r);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_exp(D d, V x) {
  V n;
  const V r = reduce_ln2(d, at_least(d, at_most(d, x, 89.0f), -104.0f), n);
  return scale_by_power(d, exp_reduced(d, r), n);
}

// exp for x <= 0 (softmax): results below 2^-126 are 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_exp_nonpositive(D d, V x) {
  V n;
#if HWY_TARGET == HWY_AVX3
  const V r = reduce_ln2(d, at_least(d, x, -104.0f), n);
  return scale_by_power(d, exp_reduced(d, r), n);
#else
  const hn::Rebind<std::int32_t, D> di;
  const V clamped = at_least(d, x, -87.0f);
  const V r = reduce_ln2(d, clamped, n);
  const auto bits = hn::BitCast(di, exp_reduced(d, r));
  const V y = hn::BitCast(d, hn::Add(bits, hn::ShiftLeft<23>(hn::ConvertTo(di, n))));
  // A NaN compares false and stays one through the polynomial.
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.0f)), is_nan_select(d, x, y));
#endif
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_expm1(D d, V x) {
  const V clamped = at_least(d, at_most(d, x, 20.0f), -20.0f);
  V n;
  const V r = reduce_ln2(d, clamped, n);
  V p = hn::Set(d, 0.000198458777f);
  p = hn::MulAdd(p, r, hn::Set(d, 0.00139406248f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.00833338936f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.0416663609f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.166666664f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5f));
  const V e = hn::MulAdd(hn::Mul(r, r), p, r);
  const V one = hn::Set(d, 1.0f);
  const V scale = scale_by_power(d, one, n);
  const V y = hn::MulAdd(scale, e, hn::Sub(scale, one));
  // Beyond 20 the one is lost in rounding.
  const V bounded = hn::IfThenElse(hn::Gt(x, hn::Set(d, 20.0f)), vec_exp(d, x), y);
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, bounded);
}

// log of a normal positive finite x, without special cases.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_normal(D d, V x, V exponent_offset) {
  const hn::Rebind<std::int32_t, D> di;
  const auto bits = hn::BitCast(di, x);
  // e such that m = x / 2^e lies in [√½, √2).
  const auto e = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(e)));
  const V exponent = hn::Add(hn::ConvertTo(d, e), exponent_offset);
  const V f = hn::Sub(m, hn::Set(d, 1.0f));
  const V f2 = hn::Mul(f, f);
  V p = hn::Set(d, 0.0674664106f);
  p = hn::MulAdd(p, f, hn::Set(d, -0.11675652f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.118881621f));
  p = hn::MulAdd(p, f, hn::Set(d, -0.124055889f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.142195524f));
  p = hn::MulAdd(p, f, hn::Set(d, -0.166679959f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.200021187f));
  p = hn::MulAdd(p, f, hn::Set(d, -0.250000096f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.333333126f));
  // f - f²/2 + f³ p + e ln2, small terms first.
  V tail = hn::Mul(hn::Mul(f2, f), p);
  tail = hn::MulAdd(exponent, hn::Set(d, 1.42860677e-6f), tail);
  tail = hn::NegMulAdd(f2, hn::Set(d, 0.5f), tail);
  return hn::MulAdd(exponent, hn::Set(d, 0.693145752f), hn::Add(f, tail));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_log(D d, V x) {
  const V zero = hn::Zero(d);
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const auto subnormal = hn::Lt(x, hn::Set(d, std::numeric_limits<float>::min()));
  const V scaled = hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(d, 0x1p25f)), x);
  V y = log_normal(d, scaled, hn::IfThenElseZero(subnormal, hn::Set(d, -25.0f)));
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
  y = hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), y);
  return is_nan_select(d, x, y);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_log1p(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V u = hn::Add(x, one);
  // What was lost in rounding 1 + x, as a share of u.
  const V lost = hn::Div(hn::Sub(hn::Sub(u, one), x), u);
  const V y = hn::Sub(vec_log(d, u), lost);
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const V bounded = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  return hn::IfThenElse(hn::Eq(x, hn::Set(d, -1.0f)), hn::Neg(infinity), bounded);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_tanh(D d, V x) {
  const V t = at_least(d, at_most(d, x, 9.01f), -9.01f);
  const V z = hn::Mul(t, t);
  V p = hn::Set(d, -1.22247832e-11f);
  p = hn::MulAdd(p, z, hn::Set(d, 3.06136963e-08f));
  p = hn::MulAdd(p, z, hn::Set(d, 2.8019358e-05f));
  p = hn::MulAdd(p, z, hn::Set(d, 0.00386891669f));
  p = hn::MulAdd(p, z, hn::Set(d, 0.136803849f));
  p = hn::MulAdd(p, z, hn::Set(d, 1.0f));
  V q = hn::Set(d, 1.28819879e-06f);
  q = hn::MulAdd(q, z, hn::Set(d, 0.000393967006f));
  q = hn::MulAdd(q, z, hn::Set(d, 0.0272479935f));
  q = hn::MulAdd(q, z, hn::Set(d, 0.470137169f));
  q = hn::MulAdd(q, z, hn::Set(d, 1.0f));
  const V y = hn::Div(hn::Mul(t, p), q);
  return at_least(d, at_most(d, y, 1.0f), -1.0f);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_erf(D d, V x) {
  const V t = at_least(d, at_most(d, x, 3.92f), -3.92f);
  const V z = hn::Mul(t, t);
  V p = hn::Set(d, -1.27998812e-08f);
  p = hn::MulAdd(p, z, hn::Set(d, 4.60924888e-06f));
  p = hn::MulAdd(p, z, hn::Set(d, 0.000376759619f));
  p = hn::MulAdd(p, z, hn::Set(d, 0.00383862856f));
  p = hn::MulAdd(p, z, hn::Set(d, 0.0542440113f));
  p = hn::MulAdd(p, z, hn::Set(d, 0.185135393f));
  p = hn::MulAdd(p, z, hn::Set(d, 1.12837917f));
  V q = hn::Set(d, 6.2399319e-05f);
  q = hn::MulAdd(q, z, hn::Set(d, 0.00130152699f));
  q = hn::MulAdd(q, z, hn::Set(d, 0.0154300623f));
  q = hn::MulAdd(q, z, hn::Set(d, 0.113873816f));
  q = hn::MulAdd(q, z, hn::Set(d, 0.497405377f));
  q = hn::MulAdd(q, z, hn::Set(d, 1.0f));
  const V y = hn::Div(hn::Mul(t, p), q);
  return at_least(d, at_most(d, y, 1.0f), -1.0f);
}

// Φ(x) = (1 + erf(x/√2)) / 2 to an absolute error of 1.3e-7: the cancellation in 1 + erf is of that
// size too.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_gelu_erf(D d, V x) {
  const V t = at_least(d, at_most(d, x, 5.6f), -5.6f);
  const V z = hn::Mul(t, t);
  V p = hn::Set(d, 2.22973348e-08f);
  p = hn::MulAdd(p, z, hn::Set(d, 6.28973917e-06f));
  p = hn::MulAdd(p, z, hn::Set(d, 0.000168927733f));
  p = hn::MulAdd(p, z, hn::Set(d, 0.00467734068f));
  p = hn::MulAdd(p, z, hn::Set(d, 0.0339289127f));
  p = hn::MulAdd(p, z, hn::Set(d, 0.398942272f));
  V q = hn::Set(d, 1.17965182e-06f);
  q = hn::MulAdd(q, z, hn::Set(d, 7.33435628e-05f));
  q = hn::MulAdd(q, z, hn::Set(d, 0.00188548338f));
  q = hn::MulAdd(q, z, hn::Set(d, 0.0286774834f));
  q = hn::MulAdd(q, z, hn::Set(d, 0.251713499f));
  q = hn::MulAdd(q, z, hn::Set(d, 1.0f));
  const V phi = hn::Add(hn::Set(d, 0.5f), hn::Div(hn::Mul(t, p), q));
  return hn::Mul(x, hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -5.6f)), phi));
}

// sin(x + quadrant · π/2). Beyond 2^17 per lane in f64, the C library's reduction being exact.
template <int kQuadrant, class D, class V = hn::Vec<D>>
HWY_INLINE V vec_sin_shifted(D d, V x) {
  const hn::Rebind<std::int32_t, D> di;
  if (!hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, 131072.0f)))) {
    return per_lane(d, x, [](float v) {
      return static_cast<float>(kQuadrant == 0 ? std::sin(static_cast<double>(v))
                                               : std::cos(static_cast<double>(v)));
    });
  }
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 0.636619772f)));
  // π/2 in three parts of 24 bits: exact up to the last product.
  V r = hn::NegMulAdd(n, hn::Set(d, 1.57079637f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -4.37113883e-08f), r);
  r = hn::NegMulAdd(n, hn::Set(d, -1.71512489e-15f), r);
  const V z = hn::Mul(r, r);
  V s = hn::Set(d, 2.71811414e-06f);
  s = hn::MulAdd(s, z, hn::Set(d, -0.000198393115f));
  s = hn::MulAdd(s, z, hn::Set(d, 0.0083333293f));
  s = hn::MulAdd(s, z, hn::Set(d, -0.166666666f));
  s = hn::MulAdd(hn::Mul(s, z), r, r);
  V c = hn::Set(d, 2.44330827e-05f);
  c = hn::MulAdd(c, z, hn::Set(d, -0.00138873156f));
  c = hn::MulAdd(c, z, hn::Set(d, 0.0416666457f));
  c = hn::MulAdd(c, z, hn::Set(d, -0.5f));
  c = hn::MulAdd(c, z, hn::Set(d, 1.0f));
  const auto quadrant = hn::Add(hn::ConvertTo(di, n), hn::Set(di, kQuadrant));
  const auto odd = hn::RebindMask(d, hn::Ne(hn::And(quadrant, hn::Set(di, 1)), hn::Zero(di)));
  const V y = hn::IfThenElse(odd, c, s);
  const V sign = hn::BitCast(d, hn::ShiftLeft<30>(hn::And(quadrant, hn::Set(di, 2))));
  const V result = hn::Xor(y, sign);
  return kQuadrant == 0 ? hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, result) : result;
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_sin(D d, V x) {
  return vec_sin_shifted<0>(d, x);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_cos(D d, V x) {
  return vec_sin_shifted<1>(d, x);
}

#endif  // HWY_TARGET == HWY_SCALAR

// x sigmoid(u) = x e^min(u, 0) / (1 + e^-|u|): no overflow on either side.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V times_sigmoid(D d, V x, V u) {
  const V one = hn::Set(d, 1.0f);
  const V e = vec_exp(d, hn::Neg(hn::Abs(u)));
  const V numerator = hn::IfThenElse(hn::Lt(u, hn::Zero(d)), e, one);
  return hn::Mul(x, hn::Div(numerator, hn::Add(one, e)));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_sigmoid(D d, V x) {
  return times_sigmoid(d, hn::Set(d, 1.0f), x);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_silu(D d, V x) {
  return times_sigmoid(d, x, x);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_quick_gelu(D d, V x) {
  return times_sigmoid(d, x, hn::Mul(x, hn::Set(d, 1.702f)));
}
// x/2 (1 + tanh(u)) = x sigmoid(2u), which keeps its precision where tanh(u) nears -1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_gelu_tanh(D d, V x) {
  const V cube = hn::Mul(hn::Mul(x, x), hn::Set(d, 0.044715f));
  return times_sigmoid(d, x, hn::Mul(hn::MulAdd(x, cube, x), hn::Set(d, 1.5957691216f)));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_softplus(D d, V x) {
  const V y = hn::Add(hn::Max(x, hn::Zero(d)), vec_log1p(d, vec_exp(d, hn::Neg(hn::Abs(x)))));
  return is_nan_select(d, x, y);
}

// x tanh(log(1 + e^x)) = x (e² + 2e) / (e² + 2e + 2), e = exp(x); x itself from 20 on.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_mish(D d, V x) {
  const V e = vec_exp(d, at_most(d, x, 20.0f));
  const V s = hn::MulAdd(e, e, hn::Add(e, e));
  const V y = hn::Mul(x, hn::Div(s, hn::Add(s, hn::Set(d, 2.0f))));
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, 20.0f)), x, y);
}

#if HWY_TARGET != HWY_SCALAR
// 2^(y log2 m + y e) in f64 for half a vector; x positive, finite, normal.
template <class D64, class VF, class V64 = hn::Vec<D64>>
HWY_INLINE V64 pow_half(D64 d, VF x, VF y) {
  const hn::Rebind<std::int64_t, D64> di;
  const V64 wide = hn::PromoteTo(d, x);
  const auto bits = hn::BitCast(di, wide);
  const auto e = hn::ShiftRight<52>(hn::Sub(bits, hn::Set(di, std::int64_t{0x3fe6a09e667f3bcd})));
  const V64 m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<52>(e)));
  // e + 1.5·2^52 by its bits: no conversion from i64 is needed.
  const V64 magic = hn::Set(d, 6755399441055744.0);
  const V64 exponent = hn::Sub(hn::BitCast(d, hn::Add(hn::BitCast(di, magic), e)), magic);
  const V64 one = hn::Set(d, 1.0);
  const V64 s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const V64 z = hn::Mul(s, s);
  // log(m) = 2 s (1 + z/3 + z²/5 + …), |s| < 0.1716: the rest is below 1e-13.
  V64 p = hn::Set(d, 1.0 / 15);
  for (int i = 13; i >= 1; i -= 2) p = hn::MulAdd(p, z, hn::Set(d, 1.0 / i));
  const V64 log2 = hn::MulAdd(hn::Mul(s, p), hn::Set(d, 2.8853900817779268), exponent);
  V64 t = hn::Mul(log2, hn::PromoteTo(d, y));
  t = hn::Max(hn::Set(d, -200.0), hn::Min(hn::Set(d, 200.0), t));
  const V64 n = hn::Round(t);
  const V64 r = hn::Mul(hn::Sub(t, n), hn::Set(d, 0.69314718055994531));
  V64 q = hn::Set(d, 1.0 / 362880);
  constexpr double factorials[] = {1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24,
                                   1.0 / 6,     0.5,        1.0,       1.0};
  for (const double c : factorials) q = hn::MulAdd(q, r, hn::Set(d, c));
  const auto power = hn::Sub(hn::BitCast(di, hn::Add(n, magic)), hn::BitCast(di, magic));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, q), hn::ShiftLeft<52>(power)));
}
#endif

template <class D, class V = hn::Vec<D>>
HWY_INLINE V vec_pow(D d, V x, V y) {
#if HWY_TARGET != HWY_SCALAR
  const V limit = hn::Set(d, std::numeric_limits<float>::max());
  const auto plain =
      hn::And(hn::And(hn::Ge(x, hn::Set(d, std::numeric_limits<float>::min())), hn::Le(x, limit)),
              hn::Le(hn::Abs(y), limit));
  if (hn::AllTrue(d, plain)) {
    const hn::RepartitionToWide<hn::RebindToUnsigned<D>> wide;
    const hn::Rebind<double, decltype(wide)> d64;
    const hn::Half<D> half;
    const auto low =
        hn::DemoteTo(half, pow_half(d64, hn::LowerHalf(half, x), hn::LowerHalf(half, y)));
    const auto high =
        hn::DemoteTo(half, pow_half(d64, hn::UpperHalf(half, x), hn::UpperHalf(half, y)));
    return hn::Combine(d, high, low);
  }
#endif
  HWY_ALIGN float base[hn::MaxLanes(D())];
  HWY_ALIGN float power[hn::MaxLanes(D())];
  hn::Store(x, d, base);
  hn::Store(y, d, power);
  for (std::size_t i = 0; i < hn::MaxLanes(D()); ++i) {
    base[i] =
        static_cast<float>(std::pow(static_cast<double>(base[i]), static_cast<double>(power[i])));
  }
  return hn::Load(d, base);
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#endif
