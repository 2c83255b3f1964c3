#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_float(0);
  in.require_rank_at_least(0, 1);
  if (!in.shape(0)) {
    in.output(0, in.dtype(0));
    return;
  }
  SymShape y = *in.shape(0);
  merge_equal(y.back(), in.attrs().integer("k"));
  y.back() = in.attrs().integer("n");
  in.output(0, in.dtype(0), std::move(y));
}

}  // namespace

const OpSchema schema_matmul_nbits{3, 5, 1, 1, infer_op};

}  // namespace concord::graph
