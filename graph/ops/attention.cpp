#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

// Extents of a rank-4 operand by letter of its layout.
struct Extents {
  Dim batch, heads, seq, depth;
};

Extents extents(const SymShape& shape, const std::string& layout) {
  Extents e;
  for (std::size_t i = 0; i < 4; ++i) {
    const char letter = i < layout.size() ? layout[i] : '?';
    (letter == 'b'   ? e.batch
     : letter == 'h' ? e.heads
     : letter == 's' ? e.seq
                     : e.depth) = shape[i];
  }
  return e;
}

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  for (std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    in.require_rank(i, 4);
    in.require_float(i);
    in.require_same_type(0, i);
  }
  if (in.has(3) && in.dtype(3) != DataType::boolean) in.require_same_type(0, 3);
  if (in.rank(3) && *in.rank(3) > 4) mismatch("a mask of rank 4 or less", in.describe_input(3));
  if (!in.shape(0) || !in.shape(1) || !in.shape(2)) {
    in.output(0, in.dtype(0));
    return;
  }
  const Extents q = extents(*in.shape(0), in.attrs().text("q_layout"));
  const Extents k = extents(*in.shape(1), in.attrs().text("k_layout"));
  const Extents v = extents(*in.shape(2), in.attrs().text("v_layout"));
  merge_equal(q.depth, k.depth);
  merge_equal(k.heads, v.heads);
  merge_equal(k.seq, v.seq);
  const auto hq = q.heads.constant();
  const auto hk = k.heads.constant();
  if (hq && hk && (*hk == 0 || *hq % *hk != 0)) {
    mismatch("query heads that are a multiple of the key heads",
             std::to_string(*hq) + " and " + std::to_string(*hk));
  }
  const Dim batch = Dim::broadcast(q.batch, k.batch);
  if (in.attrs().text("y_layout") == "bshd") {
    in.output(0, in.dtype(0), SymShape{batch, q.seq, q.heads, v.depth});
  } else {
    in.output(0, in.dtype(0), SymShape{batch, q.heads, q.seq, v.depth});
  }
}

}  // namespace

const OpSchema schema_attention{3, 5, 1, 1, infer_op};

}  // namespace concord::graph
