#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  if (!in.rank(0)) {
    in.output(0, DataType::i64, in.dynamic_shape(0, 1));
    return;
  }
  const SymShape& x = *in.shape(0);
  const auto rank = static_cast<std::int64_t>(x.size());
  const auto clamp = [&](std::int64_t v) {
    return std::clamp<std::int64_t>(v < 0 ? v + rank : v, 0, rank);
  };
  const std::int64_t start = clamp(in.attrs().integer("start", 0));
  const std::int64_t end = std::max(start, clamp(in.attrs().integer("end", rank)));
  std::vector<Dim> extents(x.begin() + start, x.begin() + end);
  in.output(0, DataType::i64, SymShape{end - start}, std::move(extents));
}

}  // namespace

const OpSchema schema_shape_of{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
