#include "graph/functions.h"
#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_rank_at_least(0, 2);
  in.require_rank_at_least(1, 2);
  in.require_same_type(0, 1);
  for (std::size_t i : {std::size_t{2}, std::size_t{3}}) {
    if (in.has(i)) in.require_same_type(0, i);
  }
  if (in.attrs().has("activation") && !parse_unary(in.attrs().text("activation"))) {
    mismatch("a unary function as activation", "'" + in.attrs().text("activation") + "'");
  }
  if (!in.shape(0) || !in.shape(1)) {
    in.output(0, in.dtype(0));
    return;
  }
  SymShape a = *in.shape(0);
  SymShape b = *in.shape(1);
  if (in.attrs().integer("trans_a", 0) != 0) std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (in.attrs().integer("trans_b", 0) != 0) std::swap(b[b.size() - 1], b[b.size() - 2]);
  const Dim k_a = a.back();
  const Dim k_b = b[b.size() - 2];
  if (k_a.is_constant() && k_b.is_constant() && !(k_a == k_b)) {
    mismatch("operands that share their inner extent",
             in.describe_input(0) + " and " + in.describe_input(1));
  }
  SymShape y = broadcast_shapes(SymShape(a.begin(), a.end() - 2), SymShape(b.begin(), b.end() - 2));
  y.push_back(a[a.size() - 2]);
  y.push_back(b.back());
  for (std::size_t i : {std::size_t{2}, std::size_t{3}}) {
    if (!in.shape(i)) continue;
    const SymShape full = broadcast_shapes(y, *in.shape(i));
    if (full.size() != y.size()) {
      mismatch("an operand that broadcasts to " + concord::to_string(y), in.describe_input(i));
    }
  }
  in.output(0, in.dtype(0), std::move(y));
}

}  // namespace

const OpSchema schema_matmul{2, 4, 1, 1, infer_op};

}  // namespace concord::graph
