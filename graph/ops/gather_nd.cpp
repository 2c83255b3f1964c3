#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_integer(1);
  in.require_rank_at_least(0, 1);
  in.require_rank_at_least(1, 1);
  const std::int64_t batch = in.attrs().integer("batch_dims");
  if (!in.shape(0) || !in.shape(1)) {
    in.output(0, in.dtype(0));
    return;
  }
  const SymShape data = *in.shape(0);
  const SymShape indices = *in.shape(1);
  const auto width = indices.back().constant();
  if (!width) {
    in.output(0, in.dtype(0));
    return;
  }
  const auto rank = static_cast<std::int64_t>(data.size());
  if (batch < 0 || batch >= static_cast<std::int64_t>(indices.size()) || *width < 1 ||
      batch > rank || *width > rank - batch) {
    mismatch("batch_dims and coordinates within rank " + std::to_string(rank),
             std::to_string(batch) + " and " + std::to_string(*width));
  }
  SymShape shape(indices.begin(), indices.end() - 1);
  for (std::int64_t k = 0; k < batch; ++k) {
    Dim& d = shape[static_cast<std::size_t>(k)];
    d = merge_equal(d, data[static_cast<std::size_t>(k)]);
  }
  shape.insert(shape.end(), data.begin() + static_cast<std::ptrdiff_t>(batch + *width), data.end());
  Contents contents;
  if (in.contents(0) && in.constant_contents(1) && rank == 1 && batch == 0) {
    const auto flat = *in.constant_contents(1);
    const std::vector<Dim>& from = *in.contents(0);
    std::vector<Dim> picked;
    const auto extent = static_cast<std::int64_t>(from.size());
    for (const std::int64_t index : flat) {
      if (index < -extent || index >= extent) {
        mismatch("an index into " + std::to_string(extent) + " elements", std::to_string(index));
      }
      picked.push_back(from[static_cast<std::size_t>(index < 0 ? index + extent : index)]);
    }
    contents = std::move(picked);
  }
  in.output(0, in.dtype(0), std::move(shape), std::move(contents));
}

}  // namespace

const OpSchema schema_gather_nd{2, 2, 1, 1, infer_op};

}  // namespace concord::graph
