#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_integer(1);
  in.require_same_type(0, 2);
  Contents contents;
  // TorchScript writes shapes by scattering into them.
  const auto indices = in.constant_contents(1);
  if (indices && in.contents(0) && in.contents(2) && in.rank(0) && *in.rank(0) == 1 &&
      indices->size() == in.contents(2)->size() && in.attrs().text("reduction", "none") == "none") {
    std::vector<Dim> data = *in.contents(0);
    const auto extent = static_cast<std::int64_t>(data.size());
    for (std::size_t i = 0; i < indices->size(); ++i) {
      std::int64_t at = (*indices)[i];
      if (at < -extent || at >= extent) {
        mismatch("an index into " + std::to_string(extent) + " elements", std::to_string(at));
      }
      if (at < 0) at += extent;
      data[static_cast<std::size_t>(at)] = (*in.contents(2))[i];
    }
    contents = std::move(data);
  }
  in.output_like(0, 0, std::move(contents));
}

}  // namespace

const OpSchema schema_scatter_nd{3, 3, 1, 1, infer_op};

}  // namespace concord::graph
