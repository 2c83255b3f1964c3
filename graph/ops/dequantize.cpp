#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  if (in.has(2)) in.require_same_type(0, 2);
  const DataType to = in.attrs().has("to") ? in.attrs().dtype("to") : in.dtype(1);
  in.output(0, to, in.shape(0));
}

}  // namespace

const OpSchema schema_dequantize{2, 3, 1, 1, infer_op};

}  // namespace concord::graph
