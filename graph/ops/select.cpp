#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

Contents select(Inference& in, const std::optional<SymShape>& shape) {
  const auto out = static_shape(shape);
  if (!out || element_count(*out) > kMaxContents) return std::nullopt;
  std::vector<std::vector<std::int64_t>> operands;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto fixed = static_shape(in.shape(i));
    if (!fixed || !in.contents(i)) return std::nullopt;
    operands.push_back(*fixed);
  }
  const std::vector<Dim>& c = *in.contents(0);
  const std::vector<Dim>& a = *in.contents(1);
  const std::vector<Dim>& b = *in.contents(2);
  std::vector<Dim> result(static_cast<std::size_t>(element_count(*out)));
  for_each_broadcast(*out, operands, [&](std::size_t i, std::span<const std::size_t> at) {
    result[i] = Dim::select(c[at[0]], a[at[1]], b[at[2]]);
  });
  return result;
}

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_type(0, DataType::boolean);
  in.require_same_type(1, 2);
  std::optional<SymShape> shape =
      broadcast_shapes(broadcast_shapes(in.shape(0), in.shape(1)), in.shape(2));
  Contents contents = select(in, shape);
  in.output(0, in.dtype(1), std::move(shape), std::move(contents));
}

}  // namespace

const OpSchema schema_select{3, 3, 1, 1, infer_op};

}  // namespace concord::graph
