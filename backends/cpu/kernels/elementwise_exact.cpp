#include "backends/cpu/kernels/elementwise_exact.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "backends/cpu/kernels/elementwise_runs.h"

namespace concord::cpu {
namespace {

// Arithmetic in a type in which it is defined: integers wrap around.
template <typename T>
struct Arithmetic {
  using U = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  static T add(T a, T b) { return static_cast<T>(static_cast<U>(a) + static_cast<U>(b)); }
  static T sub(T a, T b) { return static_cast<T>(static_cast<U>(a) - static_cast<U>(b)); }
  static T mul(T a, T b) { return static_cast<T>(static_cast<U>(a) * static_cast<U>(b)); }
  static T neg(T a) { return sub(T{0}, a); }
  static T div(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return T{0};
      if constexpr (std::is_signed_v<T>) {
        if (b == T{-1}) return neg(a);
      }
    }
    return static_cast<T>(a / b);
  }
  static T fmod(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return T{0};
      if constexpr (std::is_signed_v<T>) {
        if (b == T{-1}) return T{0};
      }
      return static_cast<T>(a % b);
    } else {
      return std::fmod(a, b);
    }
  }
  static T floor_mod(T a, T b) {
    const T r = fmod(a, b);
    return r != 0 && ((r < 0) != (b < 0)) ? static_cast<T>(r + b) : r;
  }
  static T pow(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_signed_v<T>) {
        if (b < 0) return a == 1 ? T{1} : a == T{-1} ? (b % 2 == 0 ? T{1} : T{-1}) : T{0};
      }
      T result{1};
      for (auto rest = static_cast<std::uint64_t>(b); rest != 0; rest >>= 1, a = mul(a, a)) {
        if ((rest & 1) != 0) result = mul(result, a);
      }
      return result;
    } else {
      return std::pow(a, b);
    }
  }
};

template <typename T>
using Binary = T (*)(T, T);
template <typename T>
using Compare = bool (*)(T, T);
template <typename T>
using Unary = T (*)(T, double, double);

template <typename T>
Binary<T> find_binary(ElementOp op) {
  using A = Arithmetic<T>;
  switch (op) {
    case ElementOp::add:
      return A::add;
    case ElementOp::sub:
      return A::sub;
    case ElementOp::mul:
      return A::mul;
    case ElementOp::div:
      return A::div;
    case ElementOp::fmod:
      return A::fmod;
    case ElementOp::floor_mod:
      return A::floor_mod;
    case ElementOp::pow:
      return A::pow;
    case ElementOp::min:
      return [](T a, T b) { return a != a || a < b ? a : b; };
    case ElementOp::max:
      return [](T a, T b) { return a != a || a > b ? a : b; };
    case ElementOp::prelu:
      return [](T a, T b) { return a < T{0} ? A::mul(a, b) : a; };
    default:
      return nullptr;
  }
}

template <typename T>
Compare<T> find_compare(ElementOp op) {
  switch (op) {
    case ElementOp::equal:
      return [](T a, T b) { return a == b; };
    case ElementOp::not_equal:
      return [](T a, T b) { return a != b; };
    case ElementOp::less:
      return [](T a, T b) { return a < b; };
    case ElementOp::less_equal:
      return [](T a, T b) { return a <= b; };
    case ElementOp::greater:
      return [](T a, T b) { return a > b; };
    case ElementOp::greater_equal:
      return [](T a, T b) { return a >= b; };
    case ElementOp::logical_and:
      return [](T a, T b) { return a != 0 && b != 0; };
    case ElementOp::logical_or:
      return [](T a, T b) { return a != 0 || b != 0; };
    case ElementOp::logical_xor:
      return [](T a, T b) { return (a != 0) != (b != 0); };
    default:
      return nullptr;
  }
}

double gelu_erf(double x) {
  return x * 0.5 * std::erfc(x * -0.70710678118654752);
}
double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

template <typename T>
Unary<T> find_unary(ElementOp op) {
  using A = Arithmetic<T>;
  switch (op) {
    case ElementOp::copy:
      return [](T x, double, double) { return x; };
    case ElementOp::neg:
      return [](T x, double, double) { return A::neg(x); };
    case ElementOp::abs:
      return [](T x, double, double) { return x < T{0} ? A::neg(x) : x; };
    case ElementOp::square:
      return [](T x, double, double) { return A::mul(x, x); };
    case ElementOp::sign:
      return [](T x, double, double) {
        return x > T{0} ? T{1} : x < T{0} ? static_cast<T>(-1) : x;
      };
    case ElementOp::relu:
      return [](T x, double, double) { return x <= T{0} ? T{0} : x; };
    case ElementOp::clamp:
      return [](T x, double low, double high) {
        if (static_cast<double>(x) < low) return static_cast<T>(low);
        return static_cast<double>(x) > high ? static_cast<T>(high) : x;
      };
    case ElementOp::ceil:
    case ElementOp::floor:
    case ElementOp::round:
      if constexpr (std::is_integral_v<T>) return [](T x, double, double) { return x; };
      break;
    default:
      break;
  }
  if constexpr (std::is_same_v<T, double>) {
    switch (op) {
      case ElementOp::ceil:
        return [](T x, double, double) { return std::ceil(x); };
      case ElementOp::floor:
        return [](T x, double, double) { return std::floor(x); };
      case ElementOp::round:
        return [](T x, double, double) { return std::nearbyint(x); };
      case ElementOp::reciprocal:
        return [](T x, double, double) { return 1 / x; };
      case ElementOp::sqrt:
        return [](T x, double, double) { return std::sqrt(x); };
      case ElementOp::rsqrt:
        return [](T x, double, double) { return 1 / std::sqrt(x); };
      case ElementOp::exp:
        return [](T x, double, double) { return std::exp(x); };
      case ElementOp::expm1:
        return [](T x, double, double) { return std::expm1(x); };
      case ElementOp::log:
        return [](T x, double, double) { return std::log(x); };
      case ElementOp::log1p:
        return [](T x, double, double) { return std::log1p(x); };
      case ElementOp::sin:
        return [](T x, double, double) { return std::sin(x); };
      case ElementOp::cos:
        return [](T x, double, double) { return std::cos(x); };
      case ElementOp::tan:
        return [](T x, double, double) { return std::tan(x); };
      case ElementOp::asin:
        return [](T x, double, double) { return std::asin(x); };
      case ElementOp::acos:
        return [](T x, double, double) { return std::acos(x); };
      case ElementOp::atan:
        return [](T x, double, double) { return std::atan(x); };
      case ElementOp::sinh:
        return [](T x, double, double) { return std::sinh(x); };
      case ElementOp::cosh:
        return [](T x, double, double) { return std::cosh(x); };
      case ElementOp::asinh:
        return [](T x, double, double) { return std::asinh(x); };
      case ElementOp::acosh:
        return [](T x, double, double) { return std::acosh(x); };
      case ElementOp::atanh:
        return [](T x, double, double) { return std::atanh(x); };
      case ElementOp::tanh:
        return [](T x, double, double) { return std::tanh(x); };
      case ElementOp::erf:
        return [](T x, double, double) { return std::erf(x); };
      case ElementOp::sigmoid:
        return [](T x, double, double) { return sigmoid(x); };
      case ElementOp::silu:
        return [](T x, double, double) { return x * sigmoid(x); };
      case ElementOp::gelu_erf:
        return [](T x, double, double) { return gelu_erf(x); };
      case ElementOp::gelu_tanh:
        return [](T x, double, double) {
          return x * sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x));
        };
      case ElementOp::softplus:
        return [](T x, double, double) {
          return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
        };
      case ElementOp::affine:
        return [](T x, double p0, double p1) { return std::fma(x, p0, p1); };
      case ElementOp::leaky_relu:
        return [](T x, double p0, double) { return x < 0 ? x * p0 : x; };
      case ElementOp::elu:
        return [](T x, double p0, double) { return x < 0 ? p0 * std::expm1(x) : x; };
      default:
        return nullptr;
    }
  }
  return nullptr;
}

bool (*find_test(ElementOp op))(double, double, double) {
  switch (op) {
    case ElementOp::is_nan:
      return [](double x, double, double) { return std::isnan(x); };
    case ElementOp::is_inf:
      return [](double x, double p0, double p1) {
        return std::isinf(x) && (x < 0 ? p0 != 0 : p1 != 0);
      };
    default:
      return nullptr;
  }
}

template <typename T>
bool supports(ElementOp op) {
  return find_binary<T>(op) != nullptr || find_compare<T>(op) != nullptr ||
         find_unary<T>(op) != nullptr || op == ElementOp::logical_not ||
         (std::is_same_v<T, double> && find_test(op) != nullptr);
}

template <typename T>
void run_typed(ElementOp op, std::span<const std::int64_t> shape, StridedOperand a,
               StridedOperand b, void* out, double p0, double p1) {
  const T* x = static_cast<const T*>(a.data);
  const double cost = std::is_same_v<T, double> ? 5 : 1.5;  // ns, an average
  if (const Unary<T> f = find_unary<T>(op)) {
    T* y = static_cast<T*>(out);
    for_each_run<1>(shape, {a.stride}, cost,
                    [&](std::int64_t at, const auto& offset, std::int64_t n, const auto& step) {
                      for (std::int64_t i = 0; i < n; ++i)
                        y[at + i] = f(x[offset[0] + i * step[0]], p0, p1);
                    });
    return;
  }
  auto* truth = static_cast<std::uint8_t*>(out);
  if (op == ElementOp::logical_not) {
    for_each_run<1>(shape, {a.stride}, cost,
                    [&](std::int64_t at, const auto& offset, std::int64_t n, const auto& step) {
                      for (std::int64_t i = 0; i < n; ++i)
                        truth[at + i] = x[offset[0] + i * step[0]] == 0 ? 1 : 0;
                    });
    return;
  }
  if (const auto test = find_test(op)) {
    for_each_run<1>(shape, {a.stride}, cost,
                    [&](std::int64_t at, const auto& offset, std::int64_t n, const auto& step) {
                      for (std::int64_t i = 0; i < n; ++i) {
                        truth[at + i] =
                            test(static_cast<double>(x[offset[0] + i * step[0]]), p0, p1) ? 1 : 0;
                      }
                    });
    return;
  }
  const T* z = static_cast<const T*>(b.data);
  if (const Binary<T> f = find_binary<T>(op)) {
    T* y = static_cast<T*>(out);
    for_each_run<2>(shape, {a.stride, b.stride}, cost,
                    [&](std::int64_t at, const auto& offset, std::int64_t n, const auto& step) {
                      for (std::int64_t i = 0; i < n; ++i) {
                        y[at + i] = f(x[offset[0] + i * step[0]], z[offset[1] + i * step[1]]);
                      }
                    });
  } else if (const Compare<T> g = find_compare<T>(op)) {
    for_each_run<2>(shape, {a.stride, b.stride}, cost,
                    [&](std::int64_t at, const auto& offset, std::int64_t n, const auto& step) {
                      for (std::int64_t i = 0; i < n; ++i) {
                        truth[at + i] =
                            g(x[offset[0] + i * step[0]], z[offset[1] + i * step[1]]) ? 1 : 0;
                      }
                    });
  } else {
    throw std::invalid_argument("no elementwise operator for this type");
  }
}

// Calls f with a value of the type that stands for the element.
template <typename F>
auto with_type(Element type, F f) {
  switch (type) {
    case Element::f64:
      return f(double{});
    case Element::i8:
      return f(std::int8_t{});
    case Element::i16:
      return f(std::int16_t{});
    case Element::i32:
      return f(std::int32_t{});
    case Element::i64:
      return f(std::int64_t{});
    case Element::u16:
      return f(std::uint16_t{});
    case Element::u32:
      return f(std::uint32_t{});
    case Element::u64:
      return f(std::uint64_t{});
    default:
      return f(std::uint8_t{});  // u8 and boolean
  }
}

}  // namespace

bool supports_exact(ElementOp op, Element type) {
  switch (type) {
    case Element::f32:
    case Element::f16:
    case Element::bf16:
      return false;
    case Element::boolean:
      return op == ElementOp::copy || op == ElementOp::logical_not || op == ElementOp::equal ||
             op == ElementOp::not_equal || op == ElementOp::logical_and ||
             op == ElementOp::logical_or || op == ElementOp::logical_xor;
    default:
      return with_type(type, [op](auto zero) { return supports<decltype(zero)>(op); });
  }
}

void elementwise_exact(ElementOp op, Element type, std::span<const std::int64_t> shape,
                       StridedOperand a, StridedOperand b, void* out, double p0, double p1) {
  with_type(type, [&](auto zero) { run_typed<decltype(zero)>(op, shape, a, b, out, p0, p1); });
}

}  // namespace concord::cpu
