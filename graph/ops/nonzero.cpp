#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  if (!in.rank(0)) {
    in.output(0, DataType::i64, in.dynamic_shape(0, 2));
    return;
  }
  in.output(0, DataType::i64, SymShape{*in.rank(0), in.dynamic(0, 1, "nonzero")});
}

}  // namespace

const OpSchema schema_nonzero{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
