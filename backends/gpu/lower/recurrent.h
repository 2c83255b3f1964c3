#pragma once

// What lstm, gru and rnn have in common: x [S, B, I] (layout 1: [B, S, I]), w [D, G·H, I],
// r [D, G·H, H], b [D, 2·G·H], lengths [B], states [D, B, H] (layout 1: [B, D, H]). The products of
// all steps' inputs are one matrix product; each step adds that of the state and runs a kernel of
// the cell. Arithmetic is in f32.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/gpu/lowering.h"

namespace concord::gpu {

std::optional<std::string> why_no_recurrence(const Query& query);

// One direction of a node that is being lowered.
class Recurrence {
 public:
  Recurrence(NodeLowering& node, std::int64_t gate_count, std::int64_t direction);

  static std::int64_t directions(NodeLowering& node);

  std::int64_t steps, batch, inputs, hidden, gates, direction, direction_count;
  std::int64_t pitch;    // elements between rows of a step's gates
  std::int64_t y_pitch;  // the same of y
  float clip;

  // The number by which kernels know activation i of this direction.
  std::int32_t activation(std::size_t i) const { return activations_.at(i); }
  // Input i as f32.
  Operand input(std::size_t i);
  DevicePtr lengths();  // null without

  // Σ w·x of all steps, plus the bias of the input's product, and of the state's with
  // `both_biases`.
  Operand input_products(bool both_biases);
  // Rows of step t in what input_products gave.
  Operand at_step(const Operand& products, std::int64_t t) const;
  // Rows [first, first + count) of r, of which a gate has H; and of the state's bias, undefined
  // without one.
  Operand state_weights(std::int64_t first, std::int64_t count);
  Operand state_bias();
  // The state of `operand` before the first step, [B, H]; zeros without one.
  Operand initial_state(std::size_t operand);
  // Writes the state behind the last step to output i, if that is wanted.
  void finish_state(std::size_t i, const Operand& state);
  // Where step t writes its part of y, null if nobody wants it.
  DevicePtr y_at(const Operand& y, std::int64_t t) const;
  // Runs `step` in the order of this direction.
  void for_each_step(const std::function<void(std::int64_t)>& step) const;

 private:
  bool reversed() const;

  NodeLowering& node_;
  bool batch_first_;
  std::vector<std::int32_t> activations_;
};

// y in f32, undefined if nobody wants it; and what brings it to its own type in the end.
Operand recurrent_y(NodeLowering& node);
void finish_recurrent_y(NodeLowering& node, const Operand& y);

// gates [B, count] += state [B, H] · weights [count, H]ᵀ, with rows `pitch` apart.
void add_state_products(NodeLowering& node, const Operand& state, const Operand& weights,
                        const Operand& gates, std::int64_t pitch);

}  // namespace concord::gpu
