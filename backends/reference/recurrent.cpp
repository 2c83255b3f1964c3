#include "backends/reference/recurrent.h"

#include <cctype>

#include "graph/error.h"

namespace concord::reference {
namespace {

// Names with their case and underscores taken out: "HardSigmoid", "hard_sigmoid".
std::string plain(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c != '_' && c != ' ')
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

Activation activation_of(const std::string& name) {
  using graph::UnaryFn;
  const std::string text = plain(name);
  if (text == "sigmoid") return {UnaryFn::sigmoid};
  if (text == "tanh") return {UnaryFn::tanh};
  if (text == "relu") return {UnaryFn::relu};
  if (text == "affine" || text == "identity") return {UnaryFn::identity};
  if (text == "leakyrelu") return {UnaryFn::leaky_relu, 0.01};
  if (text == "thresholdedrelu") return {UnaryFn::thresholded_relu, 1.0};
  if (text == "hardsigmoid") return {UnaryFn::hard_sigmoid, 0.2, 0.5};
  if (text == "elu") return {UnaryFn::elu, 1.0};
  if (text == "softsign") return {UnaryFn::softsign};
  if (text == "softplus") return {UnaryFn::softplus};
  throw Error(ErrorKind::unsupported, "activation '" + name + "' of a recurrent operator");
}

void require(bool fits, const char* what, const Shape& shape) {
  if (fits) return;
  throw Error(ErrorKind::invalid, std::string(what) + " of shape " +
                                      to_string(std::span<const std::int64_t>(shape)) +
                                      " does not fit the recurrent operator");
}

}  // namespace

Recurrence::Recurrence(const Call& call, std::int64_t gate_count, std::size_t first_state,
                       std::size_t states)
    : gates(gate_count) {
  const Shape& shape = call.shape(0);
  require(shape.size() == 3, "an input", shape);
  batch_first_ = call.attrs().integer("layout", 0) != 0;
  steps = batch_first_ ? shape[1] : shape[0];
  batch = batch_first_ ? shape[0] : shape[1];
  inputs = shape[2];
  hidden = call.attrs().integer("hidden_size");
  clip = call.attrs().number("clip", 0);
  const std::string direction = call.attrs().text("direction", "forward");
  directions = direction == "bidirectional" ? 2 : 1;
  reverse_ = direction == "reverse";
  require(call.shape(1) == Shape{directions, gates * hidden, inputs}, "a weight", call.shape(1));
  require(call.shape(2) == Shape{directions, gates * hidden, hidden}, "a recurrent weight",
          call.shape(2));
  if (call.has(3)) {
    require(call.shape(3) == Shape{directions, 2 * gates * hidden}, "a bias", call.shape(3));
  }
  for (std::size_t i = first_state; i < first_state + states; ++i) {
    if (call.has(i)) require(call.shape(i) == state_shape(), "an initial state", call.shape(i));
  }
  if (call.has(4)) {
    lengths_ = call.input(4).ints();
    require(static_cast<std::int64_t>(lengths_.size()) == batch, "a list of lengths",
            call.shape(4));
    for (const std::int64_t length : lengths_) {
      if (length < 0 || length > steps) {
        throw Error(ErrorKind::invalid, "sequence length " + std::to_string(length) +
                                            " is not within 0 to " + std::to_string(steps));
      }
    }
  }
  x_ = call.data(0);
  w_ = call.data(1);
  r_ = call.data(2);
  b_ = call.data(3);
  std::string name;
  for (const char c : call.attrs().text("activations") + ",") {
    if (c != ',') {
      name += c;
      continue;
    }
    activations_.push_back(activation_of(name));
    name.clear();
  }
  if (activations_.size() % static_cast<std::size_t>(directions) != 0) {
    throw Error(ErrorKind::invalid, std::to_string(activations_.size()) + " activations for " +
                                        std::to_string(directions) + " directions");
  }
}

Shape Recurrence::y_shape() const {
  return batch_first_ ? Shape{batch, steps, directions, hidden}
                      : Shape{steps, directions, batch, hidden};
}

Shape Recurrence::state_shape() const {
  return batch_first_ ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
}

}  // namespace concord::reference
