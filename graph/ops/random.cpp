#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const DataType type = in.attrs().dtype("to");
  if (!is_float(type)) mismatch("a float type", std::string(concord::to_string(type)));
  const std::string& fn = in.attrs().text("fn");
  if (fn != "uniform" && fn != "normal") mismatch("uniform or normal", fn);
  if (in.has(0)) {
    in.require_integer(0);
    in.require_rank(0, 1);
    if (!in.absorb_dims(0, "shape")) {
      const auto length = in.shape(0) ? in.shape(0)->front().constant() : std::nullopt;
      in.output(
          0, type,
          length && *length <= 64 ? std::optional(in.dynamic_shape(0, *length)) : std::nullopt);
      return;
    }
  }
  in.output(0, type, in.attrs().dims("shape"));
}

}  // namespace

const OpSchema schema_random{0, 1, 1, 1, infer_op};

}  // namespace concord::graph
