#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.output(0, in.attrs().dtype("to"), in.shape(0));
}

}  // namespace

const OpSchema schema_quantize{2, 3, 1, 1, infer_op};

}  // namespace concord::graph
