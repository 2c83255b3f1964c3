#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const DataType type = in.dtype(0);
  const bool by_axis = in.attrs().has("axis");
  const std::size_t axis =
      by_axis && in.rank(0) ? static_cast<std::size_t>(in.axis("axis", *in.rank(0))) : 0;
  const Dim found = in.dynamic(0, axis, "unique");
  in.output(1, DataType::i64, SymShape{found});
  in.output(3, DataType::i64, SymShape{found});
  if (!in.rank(0)) {
    in.output(0, type, by_axis ? std::nullopt : std::optional(SymShape{found}));
    in.output(2, DataType::i64, in.dynamic_shape(2, 1));
    return;
  }
  const SymShape x = *in.shape(0);
  SymShape y{found};
  Dim elements = product(x);
  if (by_axis) {
    y = x;
    y[axis] = found;
    elements = x[axis];
  }
  in.output(2, DataType::i64, SymShape{elements});
  in.output(0, type, std::move(y));
}

}  // namespace

const OpSchema schema_unique{1, 1, 1, 4, infer_op};

}  // namespace concord::graph
