#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_float(0);
  in.require_rank_at_least(0, 2);
  std::optional<SymShape> shape = in.shape(0);
  if (shape) {
    merge_equal((*shape)[shape->size() - 2], shape->back());
    shape->resize(shape->size() - 2);
  }
  in.output(0, in.dtype(0), std::move(shape));
}

}  // namespace

const OpSchema schema_det{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
