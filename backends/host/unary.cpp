#include <cmath>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"
#include "graph/functions.h"

namespace concord::host {
namespace {

using graph::UnaryFn;

UnaryFn function_of(const graph::Node& node) {
  const auto fn = graph::parse_unary(node.attrs.text("fn"));
  if (!fn) {
    throw Error(ErrorKind::failed, "internal: unknown unary function " + node.attrs.text("fn"));
  }
  return *fn;
}

// Of a two's complement integer, wrapping around at the smallest one.
template <typename T>
T apply(UnaryFn fn, T x) {
  const auto wide = static_cast<std::uint64_t>(x);
  switch (fn) {
    case UnaryFn::abs:
      return x < 0 ? static_cast<T>(0 - wide) : x;
    case UnaryFn::neg:
      return static_cast<T>(0 - wide);
    case UnaryFn::sign:
      return static_cast<T>((x > 0) - (x < 0));
    case UnaryFn::relu:
      return x < 0 ? T{0} : x;
    case UnaryFn::square:
      return static_cast<T>(wide * wide);
    case UnaryFn::bit_not:
      return static_cast<T>(~wide);
    default:  // ceil, floor, round, identity
      return x;
  }
}

std::optional<std::string> why_unsupported(const graph::Graph& graph, const graph::Node& node) {
  const UnaryFn fn = function_of(node);
  if (fn == UnaryFn::identity || graph::yields_bool(fn)) return std::nullopt;
  if (auto reason = only_exact_types(graph, node)) return reason;
  switch (fn) {
    case UnaryFn::abs:
    case UnaryFn::neg:
    case UnaryFn::sign:
    case UnaryFn::relu:
    case UnaryFn::square:
    case UnaryFn::bit_not:
    case UnaryFn::ceil:
    case UnaryFn::floor:
    case UnaryFn::round:
      return std::nullopt;
    case UnaryFn::logical_not:
      if (operand_type(graph, node) == DataType::boolean) return std::nullopt;
      break;
    default:
      break;
  }
  return std::string(to_string(fn)) + " of " +
         std::string(concord::to_string(operand_type(graph, node))) + " is not an exact function";
}

// is_nan, is_inf.
Tensor classify(UnaryFn fn, const Tensor& x, const graph::Attributes& attrs) {
  Tensor y = Tensor::zeros(DataType::boolean, x.shape());
  if (!is_float(x.dtype())) return y;
  const bool positive = attrs.number("alpha", 1) != 0;
  const bool negative = attrs.number("beta", 1) != 0;
  const std::vector<double> values = doubles(x);
  const auto to = raw_mutable<std::uint8_t>(y);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const double v = values[i];
    const bool hit =
        fn == UnaryFn::is_nan ? std::isnan(v) : std::isinf(v) && (v > 0 ? positive : negative);
    to[i] = static_cast<std::uint8_t>(hit);
  }
  return y;
}

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const UnaryFn fn = function_of(call.node);
  if (fn == UnaryFn::identity) return {x};
  if (graph::yields_bool(fn)) return {classify(fn, x, call.node.attrs)};
  Tensor y(x.dtype(), x.shape());
  with_integer(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto from = raw<T>(x);
    const auto to = raw_mutable<T>(y);
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = fn == UnaryFn::logical_not ? static_cast<T>(from[i] == 0) : apply(fn, from[i]);
    }
  });
  return {std::move(y)};
}

}  // namespace

const Kernel host_unary{why_unsupported, run};

}  // namespace concord::host
