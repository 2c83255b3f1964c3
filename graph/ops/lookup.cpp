#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  const Tensor& keys = in.attrs().tensor("keys");
  const Tensor& values = in.attrs().tensor("values");
  if (keys.rank() != 1 || values.shape() != keys.shape()) {
    mismatch("as many keys as values, in a list",
             concord::to_string(std::span<const std::int64_t>(keys.shape())) + " and " +
                 concord::to_string(std::span<const std::int64_t>(values.shape())));
  }
  const Tensor& otherwise = in.attrs().tensor("default");
  if (otherwise.count() != 1 || otherwise.dtype() != values.dtype()) {
    mismatch("a default of type " + std::string(concord::to_string(values.dtype())),
             std::to_string(otherwise.count()) + " elements of " +
                 std::string(concord::to_string(otherwise.dtype())));
  }
  in.require_type(0, keys.dtype());
  in.output(0, values.dtype(), in.shape(0));
}

}  // namespace

const OpSchema schema_lookup{1, 1, 1, 1, infer_op};

}  // namespace concord::graph
