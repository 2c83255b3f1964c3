#pragma once

#include <string>
#include <vector>

#include "backends/reference/functions.h"
#include "backends/reference/kernel.h"

namespace concord::reference {

// An activation with its constants (alpha and beta) as ONNX's recurrent operators give them by
// default.
struct Activation {
  graph::UnaryFn fn = graph::UnaryFn::tanh;
  double alpha = 0;
  double beta = 0;

  template <typename N>
  N operator()(const N& x, double unit) const {
    return unary(fn, x, alpha, beta, unit);
  }
};

// What lstm, gru and rnn have in common: x [S, B, I] (layout 0) or [B, S, I], w [D, G·H, I],
// r [D, G·H, H], b [D, 2·G·H], lengths [B], states [D, B, H] or [B, D, H].
class Recurrence {
 public:
  // `gates`: G. Operands of states begin at `first_state`. Throws Error(invalid) if shapes do not
  // fit.
  Recurrence(const Call& call, std::int64_t gates, std::size_t first_state, std::size_t states);

  std::int64_t steps, batch, inputs, hidden, gates, directions;
  double clip;

  bool reversed(std::int64_t direction) const { return direction == 1 || reverse_; }
  std::int64_t length(std::int64_t b) const {
    return lengths_.empty() ? steps : lengths_[static_cast<std::size_t>(b)];
  }
  // Activation number i of a direction.
  const Activation& activation(std::int64_t direction, std::size_t i) const {
    const std::size_t per = activations_.size() / static_cast<std::size_t>(directions);
    return activations_[static_cast<std::size_t>(direction) * per + i];
  }
  // Elements of x at a step, of a row of a weight, and places in y and in a state.
  const double* x(std::int64_t t, std::int64_t b) const {
    return x_ + (batch_first_ ? b * steps + t : t * batch + b) * inputs;
  }
  const double* w(std::int64_t d, std::int64_t row) const {
    return w_ + (d * gates * hidden + row) * inputs;
  }
  const double* r(std::int64_t d, std::int64_t row) const {
    return r_ + (d * gates * hidden + row) * hidden;
  }
  // Bias of the input's product and of the state's; 0 without one.
  double input_bias(std::int64_t d, std::int64_t row) const {
    return b_ == nullptr ? 0 : b_[d * 2 * gates * hidden + row];
  }
  double state_bias(std::int64_t d, std::int64_t row) const {
    return b_ == nullptr ? 0 : b_[(d * 2 * gates + gates) * hidden + row];
  }
  bool has_bias() const { return b_ != nullptr; }
  std::int64_t y_place(std::int64_t t, std::int64_t d, std::int64_t b) const {
    return (batch_first_ ? (b * steps + t) * directions + d : (t * directions + d) * batch + b) *
           hidden;
  }
  std::int64_t state_place(std::int64_t d, std::int64_t b) const {
    return (batch_first_ ? b * directions + d : d * batch + b) * hidden;
  }
  Shape y_shape() const;
  Shape state_shape() const;

  // A state before the first step.
  template <typename N>
  std::vector<N> initial(const Call& call, std::size_t operand, std::int64_t d,
                         std::int64_t b) const {
    std::vector<N> state(static_cast<std::size_t>(hidden), number<N>(0));
    if (const double* given = call.data(operand)) {
      for (std::size_t i = 0; i < state.size(); ++i) {
        state[i] = number<N>(given[state_place(d, b) + static_cast<std::int64_t>(i)]);
      }
    }
    return state;
  }

  // Σ w·x + Σ r·h + biases, clipped: one gate before its activation.
  template <typename N>
  N gate(const Call& call, std::int64_t d, std::int64_t b, std::int64_t t, std::int64_t row,
         const std::vector<N>& h) const {
    Sum<N> sum;
    add_input(sum, d, b, t, row);
    add_state(sum, d, row, h);
    return clipped(
        with_bias(sum.result(conversions<N>(call)), input_bias(d, row), state_bias(d, row)));
  }
  template <typename N>
  void add_input(Sum<N>& sum, std::int64_t d, std::int64_t b, std::int64_t t,
                 std::int64_t row) const {
    const double* from = x(t, b);
    const double* weights = w(d, row);
    for (std::int64_t i = 0; i < inputs; ++i) {
      sum.add_product(number<N>(weights[i]), number<N>(from[i]));
    }
  }
  template <typename N>
  void add_state(Sum<N>& sum, std::int64_t d, std::int64_t row, const std::vector<N>& h) const {
    const double* weights = r(d, row);
    for (std::int64_t i = 0; i < hidden; ++i) {
      sum.add_product(number<N>(weights[i]), h[static_cast<std::size_t>(i)]);
    }
  }
  template <typename N>
  N with_bias(N value, double first, double second) const {
    if (!has_bias()) return value;
    return value + number<N>(first) + number<N>(second);
  }
  template <typename N>
  N clipped(const N& x) const {
    if (clip == 0) return x;
    return larger(number<N>(-clip), smaller(number<N>(clip), x));
  }
  template <typename N>
  static real_t<N> conversions(const Call& call) {
    return static_cast<real_t<N>>(call.conversions(0, 1));
  }

 private:
  bool batch_first_;
  bool reverse_;
  const double* x_;
  const double* w_;
  const double* r_;
  const double* b_;
  std::vector<std::int64_t> lengths_;
  std::vector<Activation> activations_;
};

// Runs step(direction, batch, time) for every sequence in the order of its direction; steps behind
// a sequence's end are left out.
template <typename F>
void for_each_step(const Recurrence& cell, std::int64_t d, std::int64_t b, F&& step) {
  const std::int64_t length = cell.length(b);
  for (std::int64_t i = 0; i < length; ++i) step(cell.reversed(d) ? length - 1 - i : i);
}

}  // namespace concord::reference
