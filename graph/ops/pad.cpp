#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  if (in.has(2)) in.require_same_type(0, 2);
  if (!in.shape(0)) {
    in.output(0, in.dtype(0));
    return;
  }
  const SymShape x = *in.shape(0);
  const std::size_t rank = x.size();
  if (in.has(1)) {
    in.require_integer(1);
    const Contents& pads = in.contents(1);
    const auto axes = in.constant_contents(3);
    if (!pads || (in.has(3) && !axes)) {
      in.output(0, in.dtype(0), in.dynamic_shape(0, *in.rank(0)));
      return;
    }
    std::vector<std::size_t> at;
    for (std::size_t k = 0; !in.has(3) && k < rank; ++k) at.push_back(k);
    if (in.has(3)) {
      for (const std::int64_t a : *axes) {
        at.push_back(static_cast<std::size_t>(checked_axis(a, *in.rank(0))));
      }
    }
    if (pads->size() != 2 * at.size()) {
      mismatch(std::to_string(2 * at.size()) + " pads", std::to_string(pads->size()));
    }
    SymShape all(2 * rank, Dim(0));
    for (std::size_t k = 0; k < at.size(); ++k) {
      all[at[k]] = (*pads)[k];
      all[rank + at[k]] = (*pads)[at.size() + k];
    }
    in.attrs().set("pads", std::move(all));
    in.drop(3);
    in.drop(1);
  }
  const SymShape& pads = in.attrs().dims("pads");
  if (pads.size() != 2 * rank) {
    mismatch(std::to_string(2 * rank) + " pads", std::to_string(pads.size()));
  }
  SymShape y;
  for (std::size_t k = 0; k < rank; ++k) {
    const auto begin = pads[k].constant();
    const auto end = pads[rank + k].constant();
    std::int64_t sum = 0;
    if (begin && end &&
        (__builtin_add_overflow(*begin, *end, &sum) ||
         __builtin_add_overflow(x[k].constant().value_or(0), sum, &sum) ||
         (x[k].constant() && sum < 0))) {
      mismatch("pads that fit " + concord::to_string(x), concord::to_string(pads));
    }
    y.push_back(x[k] + pads[k] + pads[rank + k]);
  }
  in.output(0, in.dtype(0), std::move(y));
}

}  // namespace

const OpSchema schema_pad{1, 4, 1, 1, infer_op};

}  // namespace concord::graph
