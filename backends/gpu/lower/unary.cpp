#include "backends/gpu/lower/emit.h"

namespace concord::gpu {

const Lowering gpu_unary{
    [](const Query& query) {
      return why_no_unary(query, *graph::parse_unary(query.node.attrs.text("fn")), query.in(0));
    },
    [](NodeLowering& node) {
      const graph::UnaryFn fn = *graph::parse_unary(node.attrs().text("fn"));
      if (fn == graph::UnaryFn::identity) return node.alias(0, node.in(0));
      const auto alpha = static_cast<float>(node.attrs().number("alpha", 0.0));
      const auto beta = static_cast<float>(node.attrs().number("beta", 0.0));
      const Operand y = node.out();
      emit_unary(node, fn, alpha, beta, node.in(0), y);
      node.add_flops(static_cast<double>(y.count()));
    }};

}  // namespace concord::gpu
