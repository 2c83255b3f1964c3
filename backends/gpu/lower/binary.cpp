#include "backends/gpu/lower/emit.h"

namespace concord::gpu {

const Lowering gpu_binary{
    [](const Query& query) {
      return why_no_binary(query, *graph::parse_binary(query.node.attrs.text("fn")), query.in(0));
    },
    [](NodeLowering& node) {
      const graph::BinaryFn fn = *graph::parse_binary(node.attrs().text("fn"));
      const Operand a = node.in(0);
      // pow's exponent may have a type of its own.
      const Operand b = emit_cast(node, node.in(1), a.dtype);
      const Operand y = node.out();
      emit_binary(node, fn, a, b, y);
      node.add_flops(static_cast<double>(y.count()));
    }};

}  // namespace concord::gpu
