#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_float(0);
  in.require_rank_at_least(0, 2);
  if (in.shape(0)) {
    const auto channels = (*in.shape(0))[1].constant();
    const std::int64_t groups = in.attrs().integer("groups");
    if (channels && groups > 0 && *channels % groups != 0) {
      mismatch("channels that are a multiple of " + std::to_string(groups) + " groups",
               std::to_string(*channels));
    }
  }
  in.output_like(0, 0);
}

}  // namespace

const OpSchema schema_group_norm{1, 3, 1, 1, infer_op};

}  // namespace concord::graph
