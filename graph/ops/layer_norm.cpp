#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  infer_norm(in);
}

}  // namespace

const OpSchema schema_layer_norm{1, 4, 1, 2, infer_op};

}  // namespace concord::graph
