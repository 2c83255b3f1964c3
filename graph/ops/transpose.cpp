#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const std::vector<std::int64_t> perm = in.attrs().integers("perm");
  const auto n = static_cast<std::int64_t>(perm.size());
  std::vector<bool> seen(perm.size(), false);
  for (const std::int64_t p : perm) {
    if (p < 0 || p >= n || seen[static_cast<std::size_t>(p)]) {
      mismatch("a permutation", concord::to_string(std::span<const std::int64_t>(perm)));
    }
    seen[static_cast<std::size_t>(p)] = true;
  }
  in.require_rank(0, n);
  if (!in.shape(0)) {
    in.output(0, in.dtype(0));
    return;
  }
  SymShape y;
  for (const std::int64_t p : perm) y.push_back((*in.shape(0))[static_cast<std::size_t>(p)]);
  Contents contents;
  if (n <= 1) contents = in.contents(0);
  in.output(0, in.dtype(0), std::move(y), std::move(contents));
}

}  // namespace

const OpSchema schema_transpose{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
