#include "backends/cpu/kernels/elementwise_ops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/elementwise_ops.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "backends/cpu/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace concord::cpu {
namespace HWY_NAMESPACE {
namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr D kTag;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));

template <class F>
constexpr ElementLoop loop1(F) {
  return [](std::int64_t n, const float* a, const float*, const float*, float* out, float p0,
            float p1) HWY_ATTR {
    const F f;
    for (std::int64_t i = 0; i < n; i += kLanes) {
      hn::StoreU(f(kTag, hn::LoadU(kTag, a + i), p0, p1), kTag, out + i);
    }
  };
}

template <class F>
constexpr ElementLoop loop2(F) {
  return [](std::int64_t n, const float* a, const float* b, const float*, float* out, float, float)
             HWY_ATTR {
               const F f;
               for (std::int64_t i = 0; i < n; i += kLanes) {
                 hn::StoreU(f(kTag, hn::LoadU(kTag, a + i), hn::LoadU(kTag, b + i)), kTag, out + i);
               }
             };
}

template <class F>
constexpr ElementLoop loop3(F) {
  return [](std::int64_t n, const float* a, const float* b, const float* c, float* out, float,
            float) HWY_ATTR {
    const F f;
    for (std::int64_t i = 0; i < n; i += kLanes) {
      hn::StoreU(f(kTag, hn::LoadU(kTag, a + i), hn::LoadU(kTag, b + i), hn::LoadU(kTag, c + i)),
                 kTag, out + i);
    }
  };
}

// A function of the C library, computed in f64.
template <class F>
constexpr ElementLoop scalar1(F) {
  return [](std::int64_t n, const float* a, const float*, const float*, float* out, float, float) {
    const F f;
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(f(static_cast<double>(a[i])));
  };
}

template <class M>
HWY_INLINE V as_one(M mask) {
  return hn::IfThenElseZero(mask, hn::Set(kTag, 1.0f));
}

// A NaN is true, and unequal to everything; Highway's Ne says otherwise on x86.
HWY_INLINE auto is_true(V x) {
  return hn::Not(hn::Eq(x, hn::Zero(kTag)));
}

// NaN if either is one; of two zeros the one that the sign bit asks for does not matter to ONNX.
HWY_INLINE V min_nan(V a, V b) {
  return is_nan_select(kTag, a, is_nan_select(kTag, b, hn::Min(a, b)));
}
HWY_INLINE V max_nan(V a, V b) {
  return is_nan_select(kTag, a, is_nan_select(kTag, b, hn::Max(a, b)));
}

HWY_INLINE V power(V x, V y) {
  if (hn::AllTrue(kTag, hn::Eq(y, hn::Set(kTag, 2.0f)))) return hn::Mul(x, x);
  if (hn::AllTrue(kTag, hn::Eq(y, hn::Set(kTag, 3.0f)))) return hn::Mul(hn::Mul(x, x), x);
  return vec_pow(kTag, x, y);
}

// Exact by definition; the C library's is, and slow: rare.
template <class F>
HWY_INLINE V lanes2(V a, V b, F f) {
  HWY_ALIGN float x[kLanes];
  HWY_ALIGN float y[kLanes];
  hn::Store(a, kTag, x);
  hn::Store(b, kTag, y);
  for (int i = 0; i < kLanes; ++i) x[i] = f(x[i], y[i]);
  return hn::Load(kTag, x);
}

float floor_mod_scalar(float a, float b) {
  const float r = std::fmod(a, b);
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}

HWY_INLINE V to_grid(V x, float step, float low, float high) {
  const V inverse = hn::Set(kTag, static_cast<float>(1.0 / static_cast<double>(step)));
  const V whole = hn::Round(hn::Mul(x, inverse));
  return hn::Mul(at_most(kTag, at_least(kTag, whole, low), high), hn::Set(kTag, step));
}

ElementLoop unary_loop(ElementOp op) {
#define CONCORD_UNARY(name, expression)                                   \
  case ElementOp::name:                                                   \
    return loop1([]([[maybe_unused]] D d, V x, [[maybe_unused]] float p0, \
                    [[maybe_unused]] float p1) HWY_ATTR { return expression; })
#define CONCORD_SCALAR(name) \
  case ElementOp::name:      \
    return scalar1([](double x) { return std::name(x); })
  switch (op) {
    CONCORD_UNARY(copy, x);
    CONCORD_UNARY(neg, hn::Neg(x));
    CONCORD_UNARY(abs, hn::Abs(x));
    CONCORD_UNARY(ceil, hn::Ceil(x));
    CONCORD_UNARY(floor, hn::Floor(x));
    CONCORD_UNARY(round, hn::Round(x));
    CONCORD_UNARY(reciprocal, hn::Div(hn::Set(d, 1.0f), x));
    CONCORD_UNARY(sqrt, hn::Sqrt(x));
    CONCORD_UNARY(rsqrt, hn::Div(hn::Set(d, 1.0f), hn::Sqrt(x)));
    CONCORD_UNARY(square, hn::Mul(x, x));
    CONCORD_UNARY(exp, vec_exp(d, x));
    CONCORD_UNARY(expm1, vec_expm1(d, x));
    CONCORD_UNARY(log, vec_log(d, x));
    CONCORD_UNARY(log1p, vec_log1p(d, x));
    CONCORD_UNARY(sin, vec_sin(d, x));
    CONCORD_UNARY(cos, vec_cos(d, x));
    CONCORD_SCALAR(tan);
    CONCORD_SCALAR(asin);
    CONCORD_SCALAR(acos);
    CONCORD_SCALAR(atan);
    CONCORD_SCALAR(sinh);
    CONCORD_SCALAR(cosh);
    CONCORD_SCALAR(asinh);
    CONCORD_SCALAR(acosh);
    CONCORD_SCALAR(atanh);
    CONCORD_UNARY(tanh, vec_tanh(d, x));
    CONCORD_UNARY(erf, vec_erf(d, x));
    CONCORD_UNARY(sigmoid, vec_sigmoid(d, x));
    CONCORD_UNARY(relu, hn::IfThenElse(hn::Le(x, hn::Zero(d)), hn::Zero(d), x));
    CONCORD_UNARY(gelu_erf, vec_gelu_erf(d, x));
    CONCORD_UNARY(gelu_tanh, vec_gelu_tanh(d, x));
    CONCORD_UNARY(quick_gelu, vec_quick_gelu(d, x));
    CONCORD_UNARY(silu, vec_silu(d, x));
    CONCORD_UNARY(mish, vec_mish(d, x));
    CONCORD_UNARY(softplus, vec_softplus(d, x));
    CONCORD_UNARY(softsign, hn::Div(x, hn::Add(hn::Set(d, 1.0f), hn::Abs(x))));
    CONCORD_UNARY(
        hard_swish,
        hn::Mul(
            x,
            at_most(d, at_least(d, hn::MulAdd(x, hn::Set(d, 1.0f / 6.0f), hn::Set(d, 0.5f)), 0.0f),
                    1.0f)));
    CONCORD_UNARY(leaky_relu,
                  hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(x, hn::Set(d, p0)), x));
    CONCORD_UNARY(
        elu, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(hn::Set(d, p0), vec_expm1(d, x)), x));
    CONCORD_UNARY(
        selu, hn::Mul(hn::Set(d, p1), hn::IfThenElse(hn::Lt(x, hn::Zero(d)),
                                                     hn::Mul(hn::Set(d, p0), vec_expm1(d, x)), x)));
    CONCORD_UNARY(
        celu, hn::IfThenElse(hn::Lt(x, hn::Zero(d)),
                             hn::Mul(hn::Set(d, p0), vec_expm1(d, hn::Div(x, hn::Set(d, p0)))), x));
    CONCORD_UNARY(
        hard_sigmoid,
        at_most(d, at_least(d, hn::MulAdd(x, hn::Set(d, p0), hn::Set(d, p1)), 0.0f), 1.0f));
    CONCORD_UNARY(thresholded_relu, hn::IfThenZeroElse(hn::Le(x, hn::Set(d, p0)), x));
    CONCORD_UNARY(shrink, hn::IfThenElse(hn::Lt(x, hn::Set(d, -p0)), hn::Add(x, hn::Set(d, p1)),
                                         hn::IfThenElse(hn::Gt(x, hn::Set(d, p0)),
                                                        hn::Sub(x, hn::Set(d, p1)), hn::Zero(d))));
    CONCORD_UNARY(affine, hn::MulAdd(x, hn::Set(d, p0), hn::Set(d, p1)));
    CONCORD_UNARY(clamp, at_most(d, at_least(d, x, p0), p1));
    CONCORD_UNARY(grid8, to_grid(x, p0, p1, p1 + 255));
    CONCORD_UNARY(grid16, to_grid(x, p0, p1, p1 + 65535));
    CONCORD_UNARY(sign,
                  hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f),
                                 hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, -1.0f), x)));
    CONCORD_UNARY(logical_not, as_one(hn::Eq(x, hn::Zero(d))));
    CONCORD_UNARY(is_nan, as_one(hn::IsNaN(x)));
    CONCORD_UNARY(
        is_inf,
        as_one(hn::Or(hn::Eq(x, hn::Set(d, p0 != 0 ? -std::numeric_limits<float>::infinity()
                                                   : std::numeric_limits<float>::quiet_NaN())),
                      hn::Eq(x, hn::Set(d, p1 != 0 ? std::numeric_limits<float>::infinity()
                                                   : std::numeric_limits<float>::quiet_NaN())))));
    default:
      return nullptr;
  }
#undef CONCORD_UNARY
#undef CONCORD_SCALAR
}

ElementLoop binary_loop(ElementOp op) {
#define CONCORD_BINARY(name, expression) \
  case ElementOp::name:                  \
    return loop2([](D, V a, V b) HWY_ATTR { return expression; })
  switch (op) {
    CONCORD_BINARY(add, hn::Add(a, b));
    CONCORD_BINARY(sub, hn::Sub(a, b));
    CONCORD_BINARY(mul, hn::Mul(a, b));
    CONCORD_BINARY(div, hn::Div(a, b));
    CONCORD_BINARY(min, min_nan(a, b));
    CONCORD_BINARY(max, max_nan(a, b));
    CONCORD_BINARY(pow, power(a, b));
    CONCORD_BINARY(fmod, lanes2(a, b, [](float x, float y) { return std::fmod(x, y); }));
    CONCORD_BINARY(floor_mod,
                   lanes2(a, b, [](float x, float y) { return floor_mod_scalar(x, y); }));
    CONCORD_BINARY(prelu, hn::IfThenElse(hn::Lt(a, hn::Zero(kTag)), hn::Mul(a, b), a));
    CONCORD_BINARY(equal, as_one(hn::Eq(a, b)));
    CONCORD_BINARY(not_equal, as_one(hn::Not(hn::Eq(a, b))));
    CONCORD_BINARY(less, as_one(hn::Lt(a, b)));
    CONCORD_BINARY(less_equal, as_one(hn::Le(a, b)));
    CONCORD_BINARY(greater, as_one(hn::Gt(a, b)));
    CONCORD_BINARY(greater_equal, as_one(hn::Ge(a, b)));
    CONCORD_BINARY(logical_and, as_one(hn::And(is_true(a), is_true(b))));
    CONCORD_BINARY(logical_or, as_one(hn::Or(is_true(a), is_true(b))));
    CONCORD_BINARY(logical_xor, as_one(hn::Xor(is_true(a), is_true(b))));
    default:
      return nullptr;
  }
#undef CONCORD_BINARY
}

}  // namespace

ElementLoop find_loop(ElementOp op) {
  if (op == ElementOp::select) {
    return loop3([](D, V a, V b, V c) HWY_ATTR { return hn::IfThenElse(is_true(a), b, c); });
  }
  if (op == ElementOp::fma) {
    return loop3([](D, V a, V b, V c) HWY_ATTR { return hn::MulAdd(a, b, c); });
  }
  if (ElementLoop loop = unary_loop(op)) return loop;
  return binary_loop(op);
}

int lanes() {
  return kLanes;
}

}  // namespace HWY_NAMESPACE
}  // namespace concord::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace concord::cpu {

HWY_EXPORT(find_loop);
HWY_EXPORT(lanes);

ElementLoop element_loop(ElementOp op) {
  return HWY_DYNAMIC_DISPATCH(find_loop)(op);
}
int element_lanes() {
  return HWY_DYNAMIC_DISPATCH(lanes)();
}

int operand_count(ElementOp op) {
  if (op >= ElementOp::select) return 3;
  return op >= ElementOp::add ? 2 : 1;
}

double element_cost(ElementOp op) {
  using enum ElementOp;
  switch (op) {
    case tan:
    case asin:
    case acos:
    case atan:
    case sinh:
    case cosh:
    case asinh:
    case acosh:
    case atanh:
    case fmod:
    case floor_mod:
      return 15;
    case pow:
      return 2;
    case exp:
    case expm1:
    case log:
    case log1p:
    case sin:
    case cos:
    case tanh:
    case erf:
    case sigmoid:
    case gelu_erf:
    case gelu_tanh:
    case quick_gelu:
    case silu:
    case mish:
    case softplus:
    case elu:
    case selu:
    case celu:
      return 0.5;
    case div:
    case reciprocal:
    case sqrt:
    case rsqrt:
    case softsign:
      return 0.25;
    default:
      return 0.06;
  }
}

}  // namespace concord::cpu
#endif
