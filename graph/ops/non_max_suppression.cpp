#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_float(0);
  in.require_float(1);
  in.require_rank(0, 3);
  in.require_rank(1, 3);
  in.require_integer(2);
  in.require_float(3);
  in.require_float(4);
  if (in.shape(0) && in.shape(1)) {
    const SymShape& boxes = *in.shape(0);
    const SymShape& scores = *in.shape(1);
    merge_equal(boxes[0], scores[0]);
    merge_equal(boxes[1], scores[2]);
    merge_equal(boxes[2], 4);
  }
  in.output(0, DataType::i64, SymShape{in.dynamic(0, 0, "selected"), 3});
}

}  // namespace

const OpSchema schema_non_max_suppression{2, 5, 1, 1, infer_op};

}  // namespace concord::graph
