#include "backends/gpu/lower/emit.h"

namespace concord::gpu {
namespace {

graph::UnaryFn function_of(const graph::Attributes& attrs) {
  return *graph::parse_unary(attrs.text("fn"));
}

std::optional<std::string> why(const Query& query) {
  return why_no_unary(query, function_of(query.node.attrs), query.in(0));
}

void lower(NodeLowering& node) {
  const graph::UnaryFn fn = function_of(node.attrs());
  if (fn == graph::UnaryFn::identity) return node.alias(0, node.in(0));
  const Operand y = node.out();
  emit_unary(node, fn, node.attrs().number("alpha", 0.0), node.attrs().number("beta", 0.0),
             node.in(0), y);
  node.add_flops(static_cast<double>(y.count()));
}

}  // namespace

const Lowering gpu_unary{why, lower};

}  // namespace concord::gpu
