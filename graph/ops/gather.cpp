#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

Contents gather(Inference& in, std::size_t axis) {
  const auto data_shape = static_shape(in.shape(0));
  const auto indices = in.constant_contents(1);
  if (!data_shape || !indices || !in.contents(0)) return std::nullopt;
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (std::size_t k = 0; k < data_shape->size(); ++k) {
    if (k < axis) outer *= (*data_shape)[k];
    if (k > axis) inner *= (*data_shape)[k];
  }
  const std::int64_t extent = (*data_shape)[axis];
  const auto count = static_cast<std::int64_t>(indices->size());
  if (outer * inner * count > kMaxContents) return std::nullopt;
  const std::vector<Dim>& data = *in.contents(0);
  std::vector<Dim> result;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t index : *indices) {
      if (index < -extent || index >= extent) {
        mismatch("an index into " + std::to_string(extent) + " elements", std::to_string(index));
      }
      if (index < 0) index += extent;
      for (std::int64_t i = 0; i < inner; ++i) {
        result.push_back(data[static_cast<std::size_t>((o * extent + index) * inner + i)]);
      }
    }
  }
  return result;
}

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_integer(1);
  in.require_rank_at_least(0, 1);
  if (!in.shape(0)) {
    in.output(0, in.dtype(0));
    return;
  }
  const auto axis = static_cast<std::size_t>(in.axis("axis", *in.rank(0)));
  if (!in.shape(1)) {
    in.output(0, in.dtype(0));
    return;
  }
  const SymShape data = *in.shape(0);
  const SymShape indices = *in.shape(1);
  SymShape shape(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), indices.begin(), indices.end());
  shape.insert(shape.end(), data.begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.end());
  Contents contents = gather(in, axis);
  in.output(0, in.dtype(0), std::move(shape), std::move(contents));
}

}  // namespace

const OpSchema schema_gather{2, 2, 1, 1, infer_op};

}  // namespace concord::graph
