#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_float(0);
  in.require_rank_at_least(0, 2);
  in.output_like(0, 0);
}

}  // namespace

const OpSchema schema_lrn{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
