#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_type(0, DataType::string);
  in.output(1, DataType::i64, in.shape(0));
  if (!in.shape(0)) return in.output(0, DataType::string);
  SymShape shape = *in.shape(0);
  shape.push_back(in.dynamic(0, shape.size(), "parts"));
  in.output(0, DataType::string, std::move(shape));
}

}  // namespace

const OpSchema schema_string_split{1, 1, 1, 2, infer_op};

}  // namespace concord::graph
