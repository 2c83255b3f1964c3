#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  if (in.has(1)) {
    in.require_integer(1);
    if (!in.absorb_dims(1, "repeats")) {
      if (in.rank(0)) {
        in.output(0, in.dtype(0), in.dynamic_shape(0, *in.rank(0)));
      } else {
        in.output(0, in.dtype(0));
      }
      return;
    }
  }
  if (!in.shape(0)) {
    in.output(0, in.dtype(0));
    return;
  }
  const SymShape x = *in.shape(0);
  const SymShape& repeats = in.attrs().dims("repeats");
  if (repeats.size() != x.size()) {
    mismatch(std::to_string(x.size()) + " repeats", std::to_string(repeats.size()));
  }
  SymShape y;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const auto extent = x[k].constant();
    const auto times = repeats[k].constant();
    std::int64_t product = 0;
    if (times && (*times < 0 || __builtin_mul_overflow(extent.value_or(1), *times, &product))) {
      mismatch("repeats that fit " + concord::to_string(x), concord::to_string(repeats));
    }
    y.push_back(x[k] * repeats[k]);
  }
  Contents contents;
  const auto times = repeats.size() == 1 ? repeats[0].constant() : std::nullopt;
  if (times && in.contents(0) && *times >= 0 && *times <= kMaxContents &&
      *times * static_cast<std::int64_t>(in.contents(0)->size()) <= kMaxContents) {
    contents.emplace();
    for (std::int64_t i = 0; i < *times; ++i) {
      contents->insert(contents->end(), in.contents(0)->begin(), in.contents(0)->end());
    }
  }
  in.output(0, in.dtype(0), std::move(y), std::move(contents));
}

}  // namespace

const OpSchema schema_tile{1, 2, 1, 1, infer_op};

}  // namespace concord::graph
