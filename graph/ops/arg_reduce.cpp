#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  if (!in.rank(0)) {
    in.output(0, DataType::i64);
    return;
  }
  const auto axis = static_cast<std::size_t>(in.axis("axis", *in.rank(0)));
  SymShape shape = *in.shape(0);
  if (in.attrs().integer("keepdims") != 0) {
    shape[axis] = 1;
  } else {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  in.output(0, DataType::i64, std::move(shape));
}

}  // namespace

const OpSchema schema_arg_reduce{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
