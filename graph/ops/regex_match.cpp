#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_type(0, DataType::string);
  in.output(0, DataType::boolean, in.shape(0));
}

}  // namespace

const OpSchema schema_regex_match{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
