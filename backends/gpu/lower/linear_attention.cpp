#include "backends/gpu/kernels/linear_attention.h"

#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/strides.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

std::optional<std::string> why(const Query& query) {
  for (std::size_t i = 0; i < query.node.inputs.size(); ++i) {
    if (query.in(i) == DataType::f64) return "a state of float64";
  }
  return query.need_kernel("linear_attention_f32");
}

void require_shape(NodeLowering& node, std::size_t i, const Shape& wanted) {
  if (!node.has(i) || node.in_shape(i) == wanted) return;
  throw Error(ErrorKind::invalid, "operand " + std::to_string(i) + " of shape " +
                                      to_string(node.in_shape(i)) + ", expected " +
                                      to_string(wanted));
}

void require_fitting(NodeLowering& node) {
  const Shape q = node.in_shape(0);
  const std::int64_t q_heads = node.attrs().integer("q_heads");
  const std::int64_t heads = node.attrs().integer("kv_heads");
  const std::int64_t depth = q[2] / q_heads;
  const std::int64_t width = node.in_shape(2)[2] / heads;
  require_shape(node, 0, {q[0], q[1], q_heads * depth});
  require_shape(node, 1, {q[0], q[1], heads * depth});
  require_shape(node, 2, {q[0], q[1], heads * width});
  require_shape(node, 3, {q[0], heads, depth, width});
  if (node.has(4) && node.in_shape(4)[2] != heads)
    require_shape(node, 4, {q[0], q[1], heads * depth});
  if (node.has(4)) require_shape(node, 4, {q[0], q[1], node.in_shape(4)[2]});
  if (node.has(5) && node.in_shape(5)[2] != heads) require_shape(node, 5, {q[0], q[1], 1});
  if (node.has(5)) require_shape(node, 5, {q[0], q[1], node.in_shape(5)[2]});
}

// The state where the kernel updates it: what was, or zeros.
Operand first_state(NodeLowering& node) {
  const std::int64_t heads = node.attrs().integer("kv_heads");
  const Shape q = node.in_shape(0);
  const Shape shape{q[0], heads, q[2] / node.attrs().integer("q_heads"),
                    node.in_shape(2)[2] / heads};
  const bool in_place = node.has_out(1) && node.out_type(1) == DataType::f32;
  Operand state = in_place ? node.out(1) : node.temporary(DataType::f32, shape);
  if (state.count() == 0) return state;
  if (!node.has(3)) {
    node.fill(state, 0);
    return state;
  }
  const Operand past = node.in(3);
  if (past.dtype == DataType::f32) {
    node.copy(past, state);
  } else {
    emit_cast(node, past, state, false);
  }
  return state;
}

void lower(NodeLowering& node) {
  const auto read_f32 = [&](std::size_t i) {
    return node.read(emit_cast(node, node.in(i), DataType::f32));
  };
  require_fitting(node);
  const Operand out = node.out();
  const Operand state = first_state(node);
  const Operand y = out.dtype == DataType::f32 ? out : node.temporary(DataType::f32, out.shape);
  kernels::LinearAttentionParams params{read_f32(0), read_f32(1), read_f32(2)};
  params.state = node.update(state);
  params.y = node.write(y);
  params.steps = to_i32(out.shape[1]);
  params.q_heads = to_i32(node.attrs().integer("q_heads"));
  params.heads = to_i32(state.shape[1]);
  params.depth = to_i32(state.shape[2]);
  params.width = to_i32(state.shape[3]);
  params.n = to_i32(state.shape[0]) * params.heads * params.width;
  params.scale = static_cast<float>(node.attrs().number("scale"));
  if (node.has(4)) {
    params.decay = read_f32(4);
    params.decays = node.in_shape(4)[2] == state.shape[1] ? 1 : params.depth;
  }
  if (node.has(5)) {
    params.beta = read_f32(5);
    params.betas = to_i32(node.in_shape(5)[2]);
  }
  if (params.n > 0 && params.steps > 0) {
    node.dispatch(kernels::linear_attention_f32, flat_groups(params.n, 64), params);
  }
  if (out.dtype != DataType::f32 && out.count() > 0) emit_cast(node, y, out, false);
  if (node.has_out(1) && node.out_type(1) != DataType::f32 && state.count() > 0) {
    emit_cast(node, state, node.out(1), false);
  }
  node.add_flops(static_cast<double>(params.n) * static_cast<double>(params.steps) *
                 static_cast<double>(params.depth) * 8);
}

}  // namespace

const Lowering gpu_linear_attention{why, lower};

}  // namespace concord::gpu
