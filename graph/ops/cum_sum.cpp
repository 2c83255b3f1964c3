#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  if (in.has(1)) {
    in.require_integer(1);
    in.absorb_integer(1, "axis");
  }
  if (in.attrs().has("axis") && in.rank(0)) in.axis("axis", *in.rank(0));
  Contents contents;
  if (in.attrs().has("axis") && in.contents(0) && in.rank(0) && *in.rank(0) == 1) {
    std::vector<Dim> sums = *in.contents(0);
    const bool exclusive = in.attrs().integer("exclusive") != 0;
    const bool reverse = in.attrs().integer("reverse") != 0;
    Dim sum(0);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      Dim& d = sums[reverse ? sums.size() - 1 - i : i];
      const Dim next = sum + d;
      d = exclusive ? sum : next;
      sum = next;
      if (sum.too_complex()) break;
    }
    if (!sum.too_complex()) contents = std::move(sums);
  }
  in.output_like(0, 0, std::move(contents));
}

}  // namespace

const OpSchema schema_cum_sum{1, 2, 1, 1, infer_op};

}  // namespace concord::graph
