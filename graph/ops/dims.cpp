#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const SymShape values = in.attrs().dims("values");
  const auto& shape = in.attrs().integers("shape");
  if (element_count(shape) != static_cast<std::int64_t>(values.size())) {
    mismatch("as many values as the shape has elements", std::to_string(values.size()));
  }
  in.output(0, in.attrs().dtype("to"), SymShape(shape.begin(), shape.end()), values);
}

}  // namespace

const OpSchema schema_dims{0, 0, 1, 1, infer_op};

}  // namespace concord::graph
