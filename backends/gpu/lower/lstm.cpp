#include "backends/gpu/kernels/recurrent.h"
#include "backends/gpu/lower/recurrent.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

void lower_direction(NodeLowering& node, std::int64_t direction, const Operand& y) {
  Recurrence cell(node, 4, direction);
  const Operand products = cell.input_products(true);
  const Operand weights = cell.state_weights(0, 4 * cell.hidden);
  const Operand h = cell.initial_state(5);
  const Operand c = cell.initial_state(6);
  const bool coupled = node.attrs().integer("input_forget", 0) != 0;
  Operand peepholes;  // [D, 3·H]
  if (node.has(7)) {
    peepholes = cell.input(7);
    peepholes.offset += storage_bytes(peepholes.dtype, direction * 3 * cell.hidden);
  }
  cell.for_each_step([&](std::int64_t t) {
    const Operand gates = cell.at_step(products, t);
    add_state_products(node, h, weights, gates, cell.pitch);
    kernels::RecurrentParams params{node.read(gates), node.read(peepholes), cell.lengths(),
                                    node.update(h),   node.update(c),       cell.y_at(y, t)};
    params.n = to_i32(cell.batch * cell.hidden);
    params.hidden = to_i32(cell.hidden);
    params.pitch = to_i32(cell.pitch);
    params.y_pitch = to_i32(cell.y_pitch);
    params.step = to_i32(t);
    params.f = cell.activation(0);
    params.g = cell.activation(1);
    params.h_function = cell.activation(2);
    params.input_forget = coupled ? 1 : 0;
    params.clip = cell.clip;
    node.dispatch(kernels::recurrent_lstm_f32, flat_groups(params.n, 64), params);
  });
  cell.finish_state(1, h);
  cell.finish_state(2, c);
}

void lower(NodeLowering& node) {
  const Operand y = recurrent_y(node);
  for (std::int64_t d = 0; d < Recurrence::directions(node); ++d) lower_direction(node, d, y);
  finish_recurrent_y(node, y);
}

}  // namespace

const Lowering gpu_lstm{why_no_recurrence, lower};

}  // namespace concord::gpu
