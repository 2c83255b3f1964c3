#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_float(0);
  if (in.rank(0) && *in.rank(0) > 0) in.axis("axis", *in.rank(0));
  in.output_like(0, 0);
}

}  // namespace

const OpSchema schema_softmax{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
