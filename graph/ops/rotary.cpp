#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_float(0);
  in.require_rank(0, 4);
  in.require_same_type(0, 1);
  in.require_same_type(0, 2);
  in.require_type(3, DataType::i64);
  in.output_like(0, 0);
}

}  // namespace

const OpSchema schema_rotary{3, 4, 1, 1, infer_op};

}  // namespace concord::graph
