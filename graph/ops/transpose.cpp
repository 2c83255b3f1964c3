#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

Contents transpose(Inference& in, const std::vector<std::int64_t>& perm) {
  const auto shape = static_shape(in.shape(0));
  const Contents from = in.contents(0);
  if (!shape || !from) return std::nullopt;
  const Shape strides = contiguous_strides(*shape);
  Shape index(perm.size(), 0);
  std::vector<Dim> y;
  for (std::size_t i = 0; i < from->size(); ++i) {
    std::int64_t at = 0;
    for (std::size_t k = 0; k < perm.size(); ++k) {
      at += index[k] * strides[static_cast<std::size_t>(perm[k])];
    }
    y.push_back((*from)[static_cast<std::size_t>(at)]);
    for (std::size_t k = perm.size(); k-- > 0;) {
      if (++index[k] < (*shape)[static_cast<std::size_t>(perm[k])]) break;
      index[k] = 0;
    }
  }
  return y;
}

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
  Contents contents = transpose(in, perm);
  in.output(0, in.dtype(0), std::move(y), std::move(contents));
}

}  // namespace

const OpSchema schema_transpose{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
