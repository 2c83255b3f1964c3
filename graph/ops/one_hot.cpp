#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  if (in.has(1)) in.absorb_dims(1, "depth");
  const DataType type = in.dtype(2);
  if (!in.shape(0)) {
    in.output(0, type);
    return;
  }
  SymShape shape = *in.shape(0);
  const auto axis = in.axis("axis", static_cast<std::int64_t>(shape.size()) + 1);
  const Dim depth = in.attrs().has("depth") ? in.single_dim("depth")
                                            : in.dynamic(0, static_cast<std::size_t>(axis));
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  in.output(0, type, std::move(shape));
}

}  // namespace

const OpSchema schema_one_hot{3, 3, 1, 1, infer_op};

}  // namespace concord::graph
