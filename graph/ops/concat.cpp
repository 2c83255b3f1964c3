#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const std::size_t n = in.input_count();
  DataType type = DataType::undefined;
  std::optional<std::int64_t> rank;
  bool all_known = true;
  for (std::size_t i = 0; i < n; ++i) {
    if (!in.has(i)) mismatch("no omitted inputs", in.describe_input(i));
    if (type == DataType::undefined) type = in.dtype(i);
    in.require_same_type(0, i);
    all_known = all_known && in.rank(i).has_value();
    if (!rank) rank = in.rank(i);
    if (rank) in.require_rank(i, *rank);
  }
  if (!rank) {
    in.output(0, type);
    return;
  }
  if (*rank == 0) mismatch("tensors of rank 1 or more", in.describe_input(0));
  const auto axis = static_cast<std::size_t>(in.axis("axis", *rank));
  if (!all_known) {
    in.output(0, type, in.dynamic_shape(0, *rank));
    return;
  }
  SymShape shape = *in.shape(0);
  for (std::size_t i = 1; i < n; ++i) {
    const SymShape& other = *in.shape(i);
    for (std::size_t k = 0; k < shape.size(); ++k) {
      shape[k] = k == axis ? shape[k] + other[k] : merge_equal(shape[k], other[k]);
    }
  }
  Contents contents;
  if (axis == 0) {
    contents.emplace();
    for (std::size_t i = 0; i < n && contents; ++i) {
      const Contents& piece = in.contents(i);
      if (!piece || contents->size() + piece->size() > static_cast<std::size_t>(kMaxContents)) {
        contents.reset();
      } else {
        contents->insert(contents->end(), piece->begin(), piece->end());
      }
    }
  }
  in.output(0, type, std::move(shape), std::move(contents));
}

}  // namespace

const OpSchema schema_concat{1, -1, 1, 1, infer_op};

}  // namespace concord::graph
