#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_integer(1);
  in.require_same_type(0, 2);
  in.require_rank_at_least(0, 1);
  if (in.rank(0)) {
    in.axis("axis", *in.rank(0));
    in.require_rank(1, *in.rank(0));
  }
  in.output_like(0, 0);
}

}  // namespace

const OpSchema schema_scatter_elements{3, 3, 1, 1, infer_op};

}  // namespace concord::graph
