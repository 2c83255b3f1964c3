#include "graph/ops/inference.h"

namespace concord::graph {
namespace {

// The extent of one of `heads` that lie side by side.
Dim per_head(const Dim& width, std::int64_t heads) {
  if (const auto n = width.constant(); n && *n % heads != 0) {
    mismatch("a multiple of " + std::to_string(heads) + " heads", std::to_string(*n));
  }
  return Dim::floor_div(width, heads);
}

// The last extent of a gate is one of these.
void require_width(const Inference& in, std::size_t i, const Dim& one, const Dim& other) {
  if (!in.shape(i)) return;
  const Dim& width = in.shape(i)->back();
  if (width.is_constant() && one.is_constant() && other.is_constant() && !(width == one) &&
      !(width == other)) {
    mismatch("a last extent of " + one.to_string() + " or " + other.to_string(),
             in.describe_input(i));
  }
}

void infer_op(Graph& graph, NodeId id) {
  Inference in(graph, id);
  in.require_float(0);
  const std::int64_t q_heads = in.attrs().integer("q_heads");
  const std::int64_t heads = in.attrs().integer("kv_heads");
  if (heads < 1 || q_heads < 1 || q_heads % heads != 0) {
    mismatch("a number of query heads that is a multiple of that of the others",
             std::to_string(q_heads) + " and " + std::to_string(heads));
  }
  for (const std::size_t i : {0U, 1U, 2U, 4U, 5U}) {
    in.require_rank(i, 3);
    in.require_same_type(0, i);
  }
  in.require_float(3);
  in.require_rank(3, 4);
  const DataType state_type = in.has(3) ? in.dtype(3) : in.dtype(0);
  if (!in.shape(0) || !in.shape(1) || !in.shape(2)) {
    in.output(0, in.dtype(0));
    in.output(1, state_type);
    return;
  }
  const SymShape& q = *in.shape(0);
  const SymShape& k = *in.shape(1);
  const SymShape& v = *in.shape(2);
  Dim batch = q[0];
  Dim steps = q[1];
  for (const std::size_t i : {1U, 2U, 4U, 5U}) {
    if (!in.shape(i)) continue;
    batch = merge_equal(batch, (*in.shape(i))[0]);
    steps = merge_equal(steps, (*in.shape(i))[1]);
  }
  const Dim key_depth = merge_equal(per_head(q[2], q_heads), per_head(k[2], heads));
  const Dim value_depth = per_head(v[2], heads);
  require_width(in, 4, heads, Dim(heads) * key_depth);
  require_width(in, 5, heads, 1);
  const SymShape state{batch, heads, key_depth, value_depth};
  if (in.shape(3)) {
    for (std::size_t d = 0; d < 4; ++d) merge_equal(state[d], (*in.shape(3))[d]);
  }
  in.output(0, in.dtype(0), SymShape{batch, steps, Dim(q_heads) * value_depth});
  in.output(1, state_type, state);
}

}  // namespace

const OpSchema schema_linear_attention{3, 6, 1, 2, infer_op};

}  // namespace concord::graph
