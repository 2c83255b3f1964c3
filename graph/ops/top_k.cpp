#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  if (in.has(1)) {
    in.require_integer(1);
    in.absorb_dims(1, "k");
  }
  if (!in.rank(0)) {
    in.output(0, in.dtype(0));
    in.output(1, DataType::i64);
    return;
  }
  in.require_rank_at_least(0, 1);
  SymShape shape = *in.shape(0);
  const auto axis = static_cast<std::size_t>(in.axis("axis", *in.rank(0)));
  shape[axis] = in.attrs().has("k") ? in.single_dim("k") : in.dynamic(0, axis, "topk");
  in.output(0, in.dtype(0), shape);
  in.output(1, DataType::i64, std::move(shape));
}

}  // namespace

const OpSchema schema_top_k{1, 2, 2, 2, infer_op};

}  // namespace concord::graph
