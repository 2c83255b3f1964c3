#include "tests/reference/oracle_case.h"

namespace concord::test {
namespace {

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

graph::Attributes recurrent(const char* activations, const char* direction = "forward") {
  return {{"hidden_size", 1L},
          {"direction", std::string(direction)},
          {"activations", std::string(activations)},
          {"layout", 0L},
          {"clip", 0.0}};
}

TEST(Rnn, TwoSteps) {
  const Tensor x = f32({2, 1, 1}, {1, 2});
  const Tensor w = f32({1, 1, 1}, {0.5f});
  const Tensor r = f32({1, 1, 1}, {0.25f});
  const double h1 = std::tanh(0.5);
  const double h2 = std::tanh(1 + 0.25 * h1);
  auto y = oracle_run(OpKind::rnn, {x, w, r}, recurrent("Tanh"), {DataType::f32, DataType::f32});
  expect_values(y[0], {2, 1, 1, 1}, {h1, h2});
  expect_values(y[1], {1, 1, 1}, {h2});
  // The other way round, and only the first step of the sequence.
  y = oracle_run(OpKind::rnn, {x, w, r, f32({1, 2}, {0.125f, 0.125f}), i64({1}, {1})},
                 recurrent("Tanh", "reverse"), {DataType::f32, DataType::f32});
  expect_values(y[0], {2, 1, 1, 1}, {std::tanh(0.75), 0});
  expect_values(y[1], {1, 1, 1}, {std::tanh(0.75)});
}

TEST(Lstm, OneStepByHand) {
  // Gates in the order input, output, forget, cell; h0 = 0.5, c0 = 2.
  const Tensor x = f32({1, 1, 1}, {1});
  const Tensor w = f32({1, 4, 1}, {1, 2, 3, 4});
  const Tensor r = f32({1, 4, 1}, {0.1f, 0.2f, 0.3f, 0.4f});
  const double h = 0.5;
  const auto pre = [&](std::size_t gate) {
    return static_cast<double>(w.as<float>()[gate]) + static_cast<double>(r.as<float>()[gate]) * h;
  };
  const double c = sigmoid(pre(2)) * 2 + sigmoid(pre(0)) * std::tanh(pre(3));
  const double y = sigmoid(pre(1)) * std::tanh(c);
  auto attrs = recurrent("Sigmoid,Tanh,Tanh");
  attrs.set("input_forget", std::int64_t{0});
  const auto out =
      oracle_run(OpKind::lstm, {x, w, r, {}, {}, f32({1, 1, 1}, {0.5f}), f32({1, 1, 1}, {2})},
                 attrs, {DataType::f32, DataType::f32, DataType::f32});
  expect_values(out[0], {1, 1, 1, 1}, {y});
  expect_values(out[1], {1, 1, 1}, {y});
  expect_values(out[2], {1, 1, 1}, {c});
  // Peepholes see the old cell, the output gate the new one.
  const double i = sigmoid(pre(0) + 1 * 2);
  const double f = sigmoid(pre(2) + 3 * 2);
  const double c2 = f * 2 + i * std::tanh(pre(3));
  const auto peeped = oracle_run(
      OpKind::lstm,
      {x, w, r, {}, {}, f32({1, 1, 1}, {0.5f}), f32({1, 1, 1}, {2}), f32({1, 3}, {1, 2, 3})}, attrs,
      {DataType::f32, DataType::f32, DataType::f32});
  expect_values(peeped[2], {1, 1, 1}, {c2});
  expect_values(peeped[1], {1, 1, 1}, {sigmoid(pre(1) + 2 * c2) * std::tanh(c2)});
}

TEST(Gru, BothPlacesOfTheReset) {
  // Gates in the order update, reset, hidden; h0 = 2.
  const Tensor x = f32({1, 1, 1}, {1});
  const Tensor w = f32({1, 3, 1}, {0.5f, 1, -1});
  const Tensor r = f32({1, 3, 1}, {0.25f, 0.5f, 2});
  const Tensor b = f32({1, 6}, {0, 0, 0.5f, 0, 0, 3});
  const Tensor h0 = f32({1, 1, 1}, {2});
  const double z = sigmoid(0.5 + 0.5);
  const double reset = sigmoid(1 + 1);
  const double before = std::tanh(-1 + 2 * (reset * 2) + 0.5 + 3);
  const double after = std::tanh(-1 + 0.5 + reset * (2 * 2 + 3));
  auto attrs = recurrent("Sigmoid,Tanh");
  attrs.set("linear_before_reset", std::int64_t{0});
  expect_oracle(OpKind::gru, {x, w, r, b, {}, h0}, attrs, {1, 1, 1, 1}, {(1 - z) * before + z * 2});
  attrs.set("linear_before_reset", std::int64_t{1});
  expect_oracle(OpKind::gru, {x, w, r, b, {}, h0}, attrs, {1, 1, 1, 1}, {(1 - z) * after + z * 2});
}

TEST(Rnn, BothDirectionsAndBatchFirst) {
  const Tensor x = f32({2, 2, 1}, {1, 2, 3, 4});  // [batch, seq, 1]
  const Tensor w = f32({2, 1, 1}, {1, 10});
  const Tensor r = f32({2, 1, 1}, {0, 1});
  auto attrs = recurrent("Relu,Relu", "bidirectional");
  attrs.set("layout", std::int64_t{1});
  const auto y = oracle_run(OpKind::rnn, {x, w, r}, attrs, {DataType::f32, DataType::f32});
  expect_values(y[0], {2, 2, 2, 1}, {1, 30, 2, 20, 3, 70, 4, 40});
  expect_values(y[1], {2, 2, 1}, {2, 30, 4, 70});
}

TEST(Rnn, ShapesThatDoNotFit) {
  EXPECT_THROW(
      oracle_run(OpKind::rnn, {f32({1, 1, 1}, {1}), f32({1, 1, 2}, {1, 2}), f32({1, 1, 1}, {1})},
                 recurrent("Tanh")),
      Error);
}

}  // namespace
}  // namespace concord::test
