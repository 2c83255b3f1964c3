#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_integer(1);
  auto axes = in.constant_contents(1);
  if (axes && in.rank(0)) {
    if (axes->empty() && in.attrs().integer("noop_empty") == 0) {
      for (std::int64_t k = 0; k < *in.rank(0); ++k) axes->push_back(k);
    }
    in.node().op = OpKind::reduce;
    in.attrs().set("axes", std::move(*axes));
    in.attrs().erase("noop_empty");
    in.drop(1);
    schema(OpKind::reduce).infer(graph, id);
    return;
  }
  if (!in.rank(0)) {
    in.output(0, in.dtype(0));
    return;
  }
  if (in.attrs().integer("keepdims") != 0) {
    in.output(0, in.dtype(0), in.dynamic_shape(0, *in.rank(0)));
    return;
  }
  const auto count =
      in.shape(1) && in.shape(1)->size() == 1 ? in.shape(1)->front().constant() : std::nullopt;
  // No axes at all may mean every axis.
  if (count && *count > 0 && *count <= *in.rank(0)) {
    in.output(0, in.dtype(0), in.dynamic_shape(0, *in.rank(0) - *count));
  } else {
    in.output(0, in.dtype(0));
  }
}

}  // namespace

const OpSchema schema_reduce_dynamic{2, 2, 1, 1, infer_op};

}  // namespace concord::graph
