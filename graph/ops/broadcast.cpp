#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  if (in.has(1)) {
    in.require_integer(1);
    in.require_rank(1, 1);
    if (!in.absorb_dims(1, "shape")) {
      const auto& operand = in.shape(1);
      const auto length = operand ? operand->front().constant() : std::nullopt;
      if (!length || !in.rank(0)) {
        in.output(0, in.dtype(0));
      } else {
        in.output(0, in.dtype(0), in.dynamic_shape(0, std::max(*length, *in.rank(0))));
      }
      return;
    }
  }
  if (!in.shape(0)) {
    in.output(0, in.dtype(0));
    return;
  }
  SymShape shape = broadcast_shapes(*in.shape(0), in.attrs().dims("shape"));
  in.attrs().set("shape", shape);
  Contents contents;
  const auto from = static_shape(in.shape(0));
  const auto to = static_shape(shape);
  if (from && to && in.contents(0) && element_count(*to) <= kMaxContents) {
    const std::vector<Dim>& x = *in.contents(0);
    std::vector<Dim> y(static_cast<std::size_t>(element_count(*to)));
    const std::vector<std::vector<std::int64_t>> operands{*from};
    for_each_broadcast(*to, operands,
                       [&](std::size_t i, std::span<const std::size_t> at) { y[i] = x[at[0]]; });
    contents = std::move(y);
  }
  in.output(0, in.dtype(0), std::move(shape), std::move(contents));
}

}  // namespace

const OpSchema schema_broadcast{1, 2, 1, 1, infer_op};

}  // namespace concord::graph
