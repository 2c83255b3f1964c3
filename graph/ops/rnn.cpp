#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  infer_recurrent(in, 1);
}

}  // namespace

const OpSchema schema_rnn{3, 6, 1, 2, infer_op};

}  // namespace concord::graph
