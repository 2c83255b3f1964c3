#include "backends/gpu/lower/recurrent.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>

#include "backends/gpu/convert.h"
#include "backends/gpu/lower/emit.h"
#include "backends/gpu/lower/matmul_problem.h"
#include "backends/gpu/lower/strides.h"
#include "graph/error.h"

namespace concord::gpu {
namespace {

// In the order of recurrent.slang.
constexpr std::string_view kActivations[] = {
    "sigmoid",         "tanh",        "relu", "identity", "leakyrelu",
    "thresholdedrelu", "hardsigmoid", "elu",  "softsign", "softplus"};

// "HardSigmoid", "hard_sigmoid": without case and underscores.
std::string plain(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c != '_' && c != ' ') {
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return text == "affine" ? "identity" : text;
}

std::optional<std::int32_t> activation_number(const std::string& name) {
  const auto* const at = std::ranges::find(kActivations, plain(name));
  if (at == std::end(kActivations)) return std::nullopt;
  return static_cast<std::int32_t>(at - std::begin(kActivations));
}

std::vector<std::string> activation_names(const graph::Attributes& attrs) {
  std::vector<std::string> names;
  std::istringstream text(attrs.text("activations"));
  for (std::string name; std::getline(text, name, ',');) names.push_back(name);
  return names;
}

std::int64_t direction_count(const graph::Attributes& attrs) {
  return attrs.text("direction", "forward") == "bidirectional" ? 2 : 1;
}

// `count` elements of a tensor from element `first` on.
Operand part(Operand operand, std::int64_t first, Shape shape) {
  operand.offset += storage_bytes(operand.dtype, first);
  operand.shape = std::move(shape);
  return operand;
}

void require(bool fits, const char* what, const Shape& shape) {
  if (fits) return;
  throw Error(ErrorKind::invalid, std::string(what) + " of shape " + to_string(shape) +
                                      " does not fit the recurrent operator");
}

}  // namespace

std::optional<std::string> why_no_recurrence(const Query& query) {
  for (const std::string& name : activation_names(query.node.attrs)) {
    if (!activation_number(name)) return "activation " + name;
  }
  if (query.in(0) != DataType::f32 && query.in(0) != DataType::f16) return "another type";
  if (auto reason = why_no_matmul(query, DataType::f32)) return reason;
  return query.need_kernel("recurrent_lstm_f32");
}

std::int64_t Recurrence::directions(NodeLowering& node) {
  return gpu::direction_count(node.attrs());
}

Recurrence::Recurrence(NodeLowering& node, std::int64_t gate_count, std::int64_t of_direction)
    : gates(gate_count), direction(of_direction), node_(node) {
  const Shape x = node.in_shape(0);
  require(x.size() == 3, "an input", x);
  batch_first_ = node.attrs().integer("layout", 0) != 0;
  steps = x[batch_first_ ? 1 : 0];
  batch = x[batch_first_ ? 0 : 1];
  inputs = x[2];
  hidden = node.attrs().integer("hidden_size");
  direction_count = directions(node);
  clip = static_cast<float>(node.attrs().number("clip", 0.0));
  const std::int64_t rows = gates * hidden;
  require(node.in_shape(1) == Shape{direction_count, rows, inputs}, "a weight", node.in_shape(1));
  require(node.in_shape(2) == Shape{direction_count, rows, hidden}, "a recurrent weight",
          node.in_shape(2));
  if (node.has(3)) {
    require(node.in_shape(3) == Shape{direction_count, 2 * rows}, "a bias", node.in_shape(3));
  }
  if (node.has(4)) require(node.in_shape(4) == Shape{batch}, "a list of lengths", node.in_shape(4));
  pitch = batch_first_ ? steps * rows : rows;
  y_pitch = batch_first_ ? steps * direction_count * hidden : hidden;
  const std::vector<std::string> names = activation_names(node.attrs());
  const std::size_t each = names.size() / static_cast<std::size_t>(direction_count);
  for (std::size_t i = 0; i < each; ++i) {
    const std::string& name = names[static_cast<std::size_t>(direction) * each + i];
    activations_.push_back(activation_number(name).value());
  }
}

bool Recurrence::reversed() const {
  return direction == 1 || node_.attrs().text("direction", "forward") == "reverse";
}

Operand Recurrence::input(std::size_t i) {
  return emit_cast(node_, node_.in(i), DataType::f32);
}

DevicePtr Recurrence::lengths() {
  return node_.has(4) ? node_.read(node_.in(4)) : DevicePtr{};
}

Operand Recurrence::input_products(bool both_biases) {
  const std::int64_t rows = gates * hidden;
  MatmulProblem p;
  p.a = input(0);
  p.b = part(input(1), direction * rows * inputs, {rows, inputs});
  p.c = node_.temporary(DataType::f32, {steps * batch, rows});
  p.m = steps * batch;
  p.n = rows;
  p.k = inputs;
  p.a_row = inputs;
  p.b_row = 1;
  p.b_column = inputs;
  p.c_row = rows;
  if (node_.has(3)) {
    const std::int64_t first = direction * 2 * rows;
    p.bias = part(input(3), first, {rows});
    if (both_biases) {
      const Operand sum = node_.temporary(DataType::f32, {rows});
      emit_binary(node_, graph::BinaryFn::add, p.bias, part(input(3), first + rows, {rows}), sum);
      p.bias = sum;
    }
  }
  emit_matmul(node_, p);
  return p.c;
}

Operand Recurrence::at_step(const Operand& products, std::int64_t t) const {
  const std::int64_t rows = gates * hidden;
  return part(products, batch_first_ ? t * rows : t * batch * rows, {batch, rows});
}

Operand Recurrence::state_weights(std::int64_t first, std::int64_t count) {
  return part(input(2), (direction * gates * hidden + first) * hidden, {count, hidden});
}

Operand Recurrence::state_bias() {
  if (!node_.has(3)) return {};
  const std::int64_t rows = gates * hidden;
  return part(input(3), (direction * 2 + 1) * rows, {rows});
}

Operand Recurrence::initial_state(std::size_t operand) {
  Operand state = node_.temporary(DataType::f32, {batch, hidden});
  if (!node_.has(operand)) {
    node_.fill(state, 0);
    return state;
  }
  const Operand given = input(operand);
  require(given.count() == batch * direction_count * hidden, "an initial state", given.shape);
  const std::int64_t row = batch_first_ ? direction_count * hidden : hidden;
  const std::int64_t first = direction * (batch_first_ ? hidden : batch * hidden);
  emit_copy(node_, given, state, {{batch, hidden}, {row, 1}, {hidden, 1}, first, 0});
  return state;
}

void Recurrence::finish_state(std::size_t i, const Operand& state) {
  if (!node_.has_out(i)) return;
  const Operand from = emit_cast(node_, state, node_.out_type(i));
  const std::int64_t row = batch_first_ ? direction_count * hidden : hidden;
  const std::int64_t first = direction * (batch_first_ ? hidden : batch * hidden);
  emit_copy(node_, from, node_.out(i), {{batch, hidden}, {hidden, 1}, {row, 1}, 0, first});
}

DevicePtr Recurrence::y_at(const Operand& y, std::int64_t t) const {
  if (!y.defined()) return {};
  const std::int64_t row = t * direction_count + direction;
  return NodeLowering::write(part(y, row * (batch_first_ ? hidden : batch * hidden), {hidden}));
}

Operand recurrent_y(NodeLowering& node) {
  if (!node.has_out(0)) return {};
  if (node.out_type(0) == DataType::f32) return node.out(0);
  return node.temporary(DataType::f32, node.out_shape(0));
}

void finish_recurrent_y(NodeLowering& node, const Operand& y) {
  if (y.defined() && y.dtype != node.out_type(0)) emit_cast(node, y, node.out(0), false);
}

void Recurrence::for_each_step(const std::function<void(std::int64_t)>& step) const {
  for (std::int64_t i = 0; i < steps; ++i) step(reversed() ? steps - 1 - i : i);
}

void add_state_products(NodeLowering& node, const Operand& state, const Operand& weights,
                        const Operand& gates, std::int64_t pitch) {
  MatmulProblem p;
  p.a = state;
  p.b = weights;
  p.c = gates;
  p.residual = gates;
  p.m = state.shape[0];
  p.n = weights.shape[0];
  p.k = state.shape[1];
  p.a_row = p.k;
  p.b_row = 1;
  p.b_column = p.k;
  p.c_row = pitch;
  emit_matmul(node, p);
}

}  // namespace concord::gpu
