#include "backends/gpu/kernels/recurrent.h"
#include "backends/gpu/lower/recurrent.h"
#include "backends/gpu/lower/strides.h"

namespace concord::gpu {
namespace {

void lower_direction(NodeLowering& node, std::int64_t direction, const Operand& y) {
  Recurrence cell(node, 1, direction);
  const Operand products = cell.input_products(true);
  const Operand weights = cell.state_weights(0, cell.hidden);
  const Operand h = cell.initial_state(5);
  cell.for_each_step([&](std::int64_t t) {
    const Operand gates = cell.at_step(products, t);
    add_state_products(node, h, weights, gates, cell.pitch);
    kernels::RecurrentRnnParams params{node.read(gates), cell.lengths(), node.update(h),
                                       cell.y_at(y, t)};
    params.n = to_i32(cell.batch * cell.hidden);
    params.hidden = to_i32(cell.hidden);
    params.pitch = to_i32(cell.pitch);
    params.y_pitch = to_i32(cell.y_pitch);
    params.step = to_i32(t);
    params.f = cell.activation(0);
    params.clip = cell.clip;
    node.dispatch(kernels::recurrent_rnn_f32, flat_groups(params.n, 64), params);
  });
  cell.finish_state(1, h);
}

void lower(NodeLowering& node) {
  const Operand y = recurrent_y(node);
  for (std::int64_t d = 0; d < Recurrence::directions(node); ++d) lower_direction(node, d, y);
  finish_recurrent_y(node, y);
}

}  // namespace

const Lowering gpu_rnn{why_no_recurrence, lower};

}  // namespace concord::gpu
