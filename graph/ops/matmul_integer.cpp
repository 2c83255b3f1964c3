#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_integer(0);
  in.require_integer(1);
  in.require_rank_at_least(0, 2);
  in.require_rank_at_least(1, 2);
  if (!in.shape(0) || !in.shape(1)) {
    in.output(0, DataType::i32);
    return;
  }
  const SymShape a = *in.shape(0);
  const SymShape b = *in.shape(1);
  merge_equal(a.back(), b[b.size() - 2]);
  SymShape y = broadcast_shapes(SymShape(a.begin(), a.end() - 2), SymShape(b.begin(), b.end() - 2));
  y.push_back(a[a.size() - 2]);
  y.push_back(b.back());
  in.output(0, DataType::i32, std::move(y));
}

}  // namespace

const OpSchema schema_matmul_integer{2, 4, 1, 1, infer_op};

}  // namespace concord::graph
