#include <cmath>

#include "backends/gpu/lower/emit.h"

namespace concord::gpu {
namespace {

// Kernels take parameters as float32.
bool is_float32(double number) {
  return std::isnan(number) || static_cast<double>(static_cast<float>(number)) == number;
}

std::optional<std::string> why(const Query& query) {
  const graph::Attributes& attrs = query.node.attrs;
  if (query.in(0) == DataType::f64 &&
      !(is_float32(attrs.number("alpha", 0.0)) && is_float32(attrs.number("beta", 0.0)))) {
    return "a function of float64 with parameters beyond float32";
  }
  return why_no_unary(query, *graph::parse_unary(attrs.text("fn")), query.in(0));
}

}  // namespace

const Lowering gpu_unary{why, [](NodeLowering& node) {
                           const graph::UnaryFn fn = *graph::parse_unary(node.attrs().text("fn"));
                           if (fn == graph::UnaryFn::identity) return node.alias(0, node.in(0));
                           const auto alpha = static_cast<float>(node.attrs().number("alpha", 0.0));
                           const auto beta = static_cast<float>(node.attrs().number("beta", 0.0));
                           const Operand y = node.out();
                           emit_unary(node, fn, alpha, beta, node.in(0), y);
                           node.add_flops(static_cast<double>(y.count()));
                         }};

}  // namespace concord::gpu
