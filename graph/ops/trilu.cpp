#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  if (in.has(1)) {
    in.require_integer(1);
    in.absorb_integer(1, "k");
  } else if (!in.attrs().has("k")) {
    in.attrs().set("k", std::int64_t{0});
  }
  in.require_rank_at_least(0, 2);
  in.output_like(0, 0);
}

}  // namespace

const OpSchema schema_trilu{1, 2, 1, 1, infer_op};

}  // namespace concord::graph
