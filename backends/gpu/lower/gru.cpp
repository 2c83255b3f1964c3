#include "backends/gpu/kernels/recurrent.h"
#include "backends/gpu/lower/matmul_problem.h"
#include "backends/gpu/lower/recurrent.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

// What all of the cell's kernels take, in the fields that they have in common.
template <class Params>
void set_common(Params& params, const Recurrence& cell) {
  params.n = to_i32(cell.batch * cell.hidden);
  params.hidden = to_i32(cell.hidden);
  params.pitch = to_i32(cell.pitch);
  params.f = cell.activation(0);
  params.clip = cell.clip;
}

// linear_before_reset: the reset gate scales the state's product, bias included.
void lower_reset_after(NodeLowering& node, Recurrence& cell, const Operand& h, const Operand& y) {
  if (cell.batch == 0) return;
  const Operand products = cell.input_products(false);
  const std::int64_t rows = 3 * cell.hidden;
  // Rows as far apart as those of `products`: the kernel has one pitch for both.
  const Operand state_gates = node.temporary(DataType::f32, {(cell.batch - 1) * cell.pitch + rows});
  MatmulProblem p;
  p.a = h;
  p.b = cell.state_weights(0, rows);
  p.c = state_gates;
  p.bias = cell.state_bias();
  p.m = cell.batch;
  p.n = rows;
  p.k = cell.hidden;
  p.a_row = cell.hidden;
  p.b_row = 1;
  p.b_column = cell.hidden;
  p.c_row = cell.pitch;
  cell.for_each_step([&](std::int64_t t) {
    emit_matmul(node, p);
    kernels::RecurrentGruParams params{node.read(cell.at_step(products, t)), node.read(state_gates),
                                       cell.lengths(), node.update(h), cell.y_at(y, t)};
    set_common(params, cell);
    params.y_pitch = to_i32(cell.y_pitch);
    params.step = to_i32(t);
    params.g = cell.activation(1);
    node.dispatch(kernels::recurrent_gru_f32, flat_groups(params.n, 64), params);
  });
}

// The reset gate scales the state before its product.
void lower_reset_before(NodeLowering& node, Recurrence& cell, const Operand& h, const Operand& y) {
  const Operand products = cell.input_products(true);
  const Operand kept = node.temporary(DataType::f32, h.shape);
  const std::int64_t gate = cell.hidden;
  cell.for_each_step([&](std::int64_t t) {
    const Operand gates = cell.at_step(products, t);
    add_state_products(node, h, cell.state_weights(0, 2 * gate), gates, cell.pitch);
    kernels::RecurrentGruResetParams reset{node.read(gates), node.read(h), node.write(kept)};
    set_common(reset, cell);
    node.dispatch(kernels::recurrent_gru_reset_f32, flat_groups(reset.n, 64), reset);
    Operand candidate = gates;
    candidate.offset += storage_bytes(candidate.dtype, 2 * gate);
    add_state_products(node, kept, cell.state_weights(2 * gate, gate), candidate, cell.pitch);
    kernels::RecurrentGruUpdateParams update{node.read(gates), cell.lengths(), node.update(h),
                                             cell.y_at(y, t)};
    set_common(update, cell);
    update.y_pitch = to_i32(cell.y_pitch);
    update.step = to_i32(t);
    update.g = cell.activation(1);
    node.dispatch(kernels::recurrent_gru_update_f32, flat_groups(update.n, 64), update);
  });
}

void lower(NodeLowering& node) {
  const Operand y = recurrent_y(node);
  const bool reset_after = node.attrs().integer("linear_before_reset", 0) != 0;
  for (std::int64_t d = 0; d < Recurrence::directions(node); ++d) {
    Recurrence cell(node, 3, d);
    const Operand h = cell.initial_state(5);
    (reset_after ? lower_reset_after : lower_reset_before)(node, cell, h, y);
    cell.finish_state(1, h);
  }
  finish_recurrent_y(node, y);
}

}  // namespace

const Lowering gpu_gru{why_no_recurrence, lower};

}  // namespace concord::gpu
