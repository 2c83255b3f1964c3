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
  in.output_like(0, 0);
}

}  // namespace

const OpSchema schema_cum_prod{1, 2, 1, 1, infer_op};

}  // namespace concord::graph
