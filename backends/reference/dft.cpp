#include <numbers>

#include "backends/reference/kernel.h"
#include "graph/error.h"
#include "graph/geometry.h"

namespace concord::reference {
namespace {

// cos and sin of 2π·k/n, k < n; exact where they are 0, ½ or 1. A backend rounds them once.
template <typename N>
struct Circle {
  std::vector<N> cosine, sine;

  explicit Circle(std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) {
      cosine.push_back(rounded(of(4 * k + n, n)));
      sine.push_back(rounded(of(4 * k, n)));
    }
  }

 private:
  // sin(2π·q/(4n)), brought into the first eighth of the circle.
  static long double of(std::int64_t q, std::int64_t n) {
    q %= 4 * n;
    if (q >= 2 * n) return -of(q - 2 * n, n);
    if (q > n) q = 2 * n - q;
    const auto angle = [n](std::int64_t part) {
      return std::numbers::pi_v<long double> * static_cast<long double>(part) /
             static_cast<long double>(2 * n);
    };
    return 2 * q <= n ? std::sin(angle(q)) : std::cos(angle(n - q));
  }
  static N rounded(long double x) {
    N y(static_cast<real_t<N>>(x));
    if constexpr (kUncertain<N>) {
      const bool exact = x == 0 || std::abs(x) == 1;
      if (!exact) y.variance = rounding(y.value, kExactUlp);
    }
    return y;
  }
};

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const Shape shape = call.shape(0);
  const auto tensor = [&](std::size_t i) { return call.has(i) ? call.input(i) : Tensor{}; };
  const std::int64_t rank = call.input(0).rank();
  const auto axis = static_cast<std::size_t>(graph::checked_axis(
      graph::concrete_integer(call.node, "axis", tensor(2), call.bindings), rank));
  const bool inverse = call.attrs().integer("inverse") != 0;
  const bool onesided = call.attrs().integer("onesided") != 0;
  if (axis + 1 == shape.size() || (shape.back() != 1 && shape.back() != 2)) {
    throw Error(ErrorKind::invalid, "a tensor of shape " +
                                        to_string(std::span<const std::int64_t>(shape)) +
                                        " has no numbers along axis " + std::to_string(axis));
  }
  const std::int64_t given = shape[axis];
  std::int64_t n = inverse && onesided ? 2 * (given - 1) : given;
  if (call.attrs().has("length") || call.has(1)) {
    n = graph::concrete_integer(call.node, "length", tensor(1), call.bindings);
  }
  if (n < 1) {
    throw Error(ErrorKind::invalid, "a transform of length " + std::to_string(n));
  }
  const std::int64_t half = n / 2 + 1;
  const std::int64_t parts = shape.back();
  const bool real_result = inverse && onesided;
  const std::int64_t read = std::min(given, real_result ? half : n);
  Shape out = shape;
  out[axis] = onesided && !inverse ? half : n;
  out.back() = real_result ? 1 : 2;
  const std::int64_t written = out[axis];
  const std::int64_t inner = host::extent_product(shape, axis + 1, shape.size() - 1);
  const double* x = call.data(0);
  Output<N> y(call, 0, out);  // refuses what no memory holds, before the circle grows
  const Circle<N> circle(n);
  const std::int64_t lines = host::extent_product(shape, 0, axis) * inner;
  parallel_for(lines * written, grain_for(8.0 * static_cast<double>(read)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t task = begin; task < end; ++task) {
                   const std::int64_t line = task / written;
                   const std::int64_t k = task % written;
                   const std::int64_t from = (line / inner * given * inner + line % inner) * parts;
                   Sum<N> re, im;
                   for (std::int64_t i = 0; i < read; ++i) {
                     const double* p = x + from + i * inner * parts;
                     const auto turn = static_cast<std::size_t>(i * k % n);
                     const N& c = circle.cosine[turn];
                     const N s = inverse ? circle.sine[turn] : -circle.sine[turn];
                     // The half that is left out mirrors the one that is read.
                     const double weight = real_result && i > 0 && 2 * i < n ? 2 : 1;
                     const bool has_imaginary =
                         parts == 2 && !(real_result && (i == 0 || 2 * i == n));
                     const N a = number<N>(p[0] * weight);
                     re.add_product(a, c);
                     if (!real_result) im.add_product(a, s);
                     if (has_imaginary) {
                       const N b = number<N>(p[1] * weight);
                       re.add_product(-b, s);
                       if (!real_result) im.add_product(b, c);
                     }
                   }
                   const std::int64_t to =
                       (line / inner * written * inner + k * inner + line % inner) * out.back();
                   const N length = number<N>(static_cast<double>(n));
                   y.set(to, inverse ? re.result() / length : re.result());
                   if (!real_result) y.set(to + 1, inverse ? im.result() / length : im.result());
                 }
               });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_dft{run};

}  // namespace concord::reference
