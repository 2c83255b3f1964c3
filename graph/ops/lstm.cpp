#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  infer_recurrent(in, 4);
}

}  // namespace

const OpSchema schema_lstm{3, 8, 1, 3, infer_op};

}  // namespace concord::graph
