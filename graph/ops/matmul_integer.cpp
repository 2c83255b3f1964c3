#include "graph/functions.h"
#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

constexpr std::size_t kScale = 4;
constexpr std::size_t kLast = 6;

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_integer(0);
  in.require_integer(1);
  in.require_rank_at_least(0, 2);
  in.require_rank_at_least(1, 2);
  const DataType type = in.has(kScale) ? DataType::f32 : DataType::i32;
  for (std::size_t i = kScale; i <= kLast; ++i) {
    if (in.has(i)) in.require_type(i, type);
  }
  if (in.attrs().has("activation") && !parse_unary(in.attrs().text("activation"))) {
    mismatch("a unary function as activation", "'" + in.attrs().text("activation") + "'");
  }
  if (!in.shape(0) || !in.shape(1)) {
    in.output(0, type);
    return;
  }
  const SymShape a = *in.shape(0);
  const SymShape b = *in.shape(1);
  merge_equal(a.back(), b[b.size() - 2]);
  SymShape y = broadcast_shapes(SymShape(a.begin(), a.end() - 2), SymShape(b.begin(), b.end() - 2));
  y.push_back(a[a.size() - 2]);
  y.push_back(b.back());
  for (std::size_t i = kScale; i <= kLast; ++i) {
    if (in.shape(i) && broadcast_shapes(y, *in.shape(i)).size() != y.size()) {
      mismatch("an operand that broadcasts to " + concord::to_string(y), in.describe_input(i));
    }
  }
  in.output(0, type, std::move(y));
}

}  // namespace

const OpSchema schema_matmul_integer{2, 7, 1, 1, infer_op};

}  // namespace concord::graph
