#include <cmath>
#include <limits>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"
#include "graph/functions.h"

namespace concord::host {
namespace {

using graph::BinaryFn;

BinaryFn function_of(const graph::Node& node) {
  const auto fn = graph::parse_binary(node.attrs.text("fn"));
  if (!fn) {
    throw Error(ErrorKind::failed, "internal: unknown binary function " + node.attrs.text("fn"));
  }
  return *fn;
}

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  const BinaryFn fn = function_of(node);
  const DataType dtype = operand_type(graph, node);
  if (graph::yields_bool(fn)) {
    if (dtype != DataType::string || fn == BinaryFn::equal) return std::nullopt;
    return "strings have no order";
  }
  if (dtype == DataType::string && fn == BinaryFn::add) return std::nullopt;
  return only_exact_types(graph, node);
}

template <typename T>
T shifted(BinaryFn fn, T x, T by) {
  if (by < 0 || by >= static_cast<T>(8 * sizeof(T))) return T{0};
  const auto wide = static_cast<std::uint64_t>(x);
  return static_cast<T>(fn == BinaryFn::shift_left ? wide << by : wide >> by);
}

template <typename T>
T divided(BinaryFn fn, T a, T b) {
  // The smallest integer divided by −1 wraps around to itself.
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) {
    return fn == BinaryFn::div ? static_cast<T>(0 - static_cast<std::uint64_t>(a)) : T{0};
  }
  if (fn == BinaryFn::div) return static_cast<T>(a / b);
  const auto rest = static_cast<T>(a % b);
  const bool adjust = fn == BinaryFn::mod && rest != 0 && (rest < 0) != (b < 0);
  return adjust ? static_cast<T>(rest + b) : rest;
}

// Integer exponents wrap around; a negative one gives 1/x truncated.
template <typename T>
T powered(T x, std::int64_t exponent) {
  if (exponent < 0) {
    if (x == T{1}) return x;
    if (x == static_cast<T>(-1) && std::is_signed_v<T>) return exponent % 2 == 0 ? T{1} : x;
    return T{0};
  }
  std::uint64_t result = 1;
  auto base = static_cast<std::uint64_t>(x);
  for (auto e = static_cast<std::uint64_t>(exponent); e != 0; e >>= 1) {
    if (e & 1) result *= base;
    base *= base;
  }
  return static_cast<T>(result);
}

template <typename T>
T apply(BinaryFn fn, T a, T b) {
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  switch (fn) {
    case BinaryFn::add:
      return static_cast<T>(x + y);
    case BinaryFn::sub:
      return static_cast<T>(x - y);
    case BinaryFn::mul:
      return static_cast<T>(x * y);
    case BinaryFn::prelu:
      return a < 0 ? static_cast<T>(x * y) : a;
    case BinaryFn::max:
      return a < b ? b : a;
    case BinaryFn::min:
      return b < a ? b : a;
    case BinaryFn::bit_and:
      return static_cast<T>(x & y);
    case BinaryFn::bit_or:
      return static_cast<T>(x | y);
    case BinaryFn::bit_xor:
      return static_cast<T>(x ^ y);
    case BinaryFn::logical_and:
      return static_cast<T>(a != 0 && b != 0);
    case BinaryFn::logical_or:
      return static_cast<T>(a != 0 || b != 0);
    case BinaryFn::logical_xor:
      return static_cast<T>((a != 0) != (b != 0));
    case BinaryFn::shift_left:
    case BinaryFn::shift_right:
      return shifted(fn, a, b);
    case BinaryFn::pow:
      return powered(a, static_cast<std::int64_t>(b));
    default:  // div, mod, fmod
      return divided(fn, a, b);
  }
}

template <typename T>
bool compare(BinaryFn fn, const T& a, const T& b) {
  switch (fn) {
    case BinaryFn::equal:
      return a == b;
    case BinaryFn::greater:
      return b < a;
    case BinaryFn::greater_equal:
      return b <= a;
    case BinaryFn::less:
      return a < b;
    default:
      return a <= b;
  }
}

bool divides(BinaryFn fn) {
  return fn == BinaryFn::div || fn == BinaryFn::mod || fn == BinaryFn::fmod;
}

void check_divisor(const Call& call) {
  const Tensor& divisor = call.input(1);
  for (std::int64_t i = 0; i < divisor.count(); ++i) {
    if (divisor.at_int(i) == 0) {
      const Shape position = position_of(i, divisor.shape());
      fail("division by zero: element " + to_string(std::span<const std::int64_t>(position)) +
           " of " + call.name_of(1) + " is 0");
    }
  }
}

// out[i] = f(a[i], b[i]) over the broadcast shape.
template <typename Out, typename A, typename B, typename F>
Tensor pairwise(DataType dtype, const Tensor& a, std::span<const A> a_values, const Tensor& b,
                std::span<const B> b_values, F&& f) {
  const Shape shape = broadcast_shapes(a.shape(), b.shape());
  Tensor y(dtype, shape);
  Out* to = raw_mutable<Out>(y).data();
  for_each_row<3>(shape,
                  {contiguous_strides(shape), broadcast_strides(a.shape(), shape),
                   broadcast_strides(b.shape(), shape)},
                  [&](const auto& at, std::int64_t count, const auto& step) {
                    for (std::int64_t i = 0; i < count; ++i) {
                      to[at[0] + i * step[0]] =
                          f(a_values[static_cast<std::size_t>(at[1] + i * step[1])],
                            b_values[static_cast<std::size_t>(at[2] + i * step[2])]);
                    }
                  });
  return y;
}

Tensor comparison(BinaryFn fn, const Tensor& a, const Tensor& b) {
  const auto f = [fn](const auto& x, const auto& y) {
    return static_cast<std::uint8_t>(compare(fn, x, y));
  };
  if (a.dtype() == DataType::string) {
    return pairwise<std::uint8_t, std::string, std::string>(DataType::boolean, a, a.strings(), b,
                                                            b.strings(), f);
  }
  return with_values(a, [&](auto x) {
    using T = typename decltype(x)::value_type;
    return with_values(b, [&](auto y) -> Tensor {
      if constexpr (std::is_same_v<T, typename decltype(y)::value_type>) {
        return pairwise<std::uint8_t, T, T>(DataType::boolean, a, x, b, y, f);
      } else {
        throw Error(ErrorKind::failed, "internal: operands of a comparison differ in type");
      }
    });
  });
}

// Toward zero; what does not fit saturates, NaN gives 0.
template <typename T>
T truncated(double value) {
  if (std::isnan(value)) return T{0};
  if (value >= static_cast<double>(std::numeric_limits<T>::max())) {
    return std::numeric_limits<T>::max();
  }
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  return static_cast<T>(value);
}

// The exponent may be of another type than the base.
Tensor power(const Tensor& base, const Tensor& exponent) {
  return with_integer(base.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (is_float(exponent.dtype())) {
      const std::vector<double> e = doubles(exponent);
      return pairwise<T, T, double>(
          base.dtype(), base, raw<T>(base), exponent, e,
          [](T x, double y) { return truncated<T>(std::pow(static_cast<double>(x), y)); });
    }
    const std::vector<std::int64_t> e = exponent.ints();
    return pairwise<T, T, std::int64_t>(base.dtype(), base, raw<T>(base), exponent, e,
                                        [](T x, std::int64_t y) { return powered(x, y); });
  });
}

std::vector<Tensor> run(const Call& call) {
  const Tensor& a = call.input(0);
  const Tensor& b = call.input(1);
  const BinaryFn fn = function_of(call.node);
  if (graph::yields_bool(fn)) return {comparison(fn, a, b)};
  if (fn == BinaryFn::pow) return {power(a, b)};
  if (a.dtype() != b.dtype()) {
    throw Error(ErrorKind::failed, "internal: operands of a binary function differ in type");
  }
  if (a.dtype() == DataType::string) {
    return {pairwise<std::string, std::string, std::string>(
        DataType::string, a, a.strings(), b, b.strings(),
        [](const std::string& x, const std::string& y) { return x + y; })};
  }
  if (divides(fn)) check_divisor(call);
  return {with_integer(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return pairwise<T, T, T>(a.dtype(), a, raw<T>(a), b, raw<T>(b),
                             [fn](T x, T y) { return apply(fn, x, y); });
  })};
}

}  // namespace

const Kernel host_binary{why_unsupported, run};

}  // namespace concord::host
