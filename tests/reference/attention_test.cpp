#include "tests/reference/oracle_case.h"

namespace concord::test {
namespace {

graph::Attributes attention(double scale = 1) {
  return {{"q_layout", std::string("bhsd")},
          {"k_layout", std::string("bhsd")},
          {"v_layout", std::string("bhsd")},
          {"y_layout", std::string("bhsd")},
          {"scale", scale}};
}

// Two queries, three keys, one head of depth 1: scores are q·k.
const Tensor kQ = f32({1, 1, 2, 1}, {0, 1});
const Tensor kK = f32({1, 1, 3, 1}, {0, 1, 2});
const Tensor kV = f32({1, 1, 3, 1}, {1, 10, 100});

double weighted(std::initializer_list<double> scores, std::initializer_list<double> values) {
  double sum = 0;
  double total = 0;
  const double* v = values.begin();
  for (const double s : scores) {
    sum += std::exp(s) * *v++;
    total += std::exp(s);
  }
  return sum / total;
}

TEST(Attention, Plain) {
  expect_oracle(OpKind::attention, {kQ, kK, kV}, attention(), {1, 1, 2, 1},
                {37, weighted({0, 1, 2}, {1, 10, 100})});
  expect_oracle(OpKind::attention, {kQ, kK, kV}, attention(0.5), {1, 1, 2, 1},
                {37, weighted({0, 0.5, 1}, {1, 10, 100})});
}

TEST(Attention, CausalBothWays) {
  auto attrs = attention();
  attrs.set("causal", std::string("top_left"));
  expect_oracle(OpKind::attention, {kQ, kK, kV}, attrs, {1, 1, 2, 1},
                {1, weighted({0, 1}, {1, 10})});
  attrs.set("causal", std::string("bottom_right"));
  expect_oracle(OpKind::attention, {kQ, kK, kV}, attrs, {1, 1, 2, 1},
                {5.5, weighted({0, 1, 2}, {1, 10, 100})});
  attrs.set("window", std::int64_t{2});
  expect_oracle(OpKind::attention, {kQ, kK, kV}, attrs, {1, 1, 2, 1},
                {5.5, weighted({1, 2}, {10, 100})});
}

TEST(Attention, MasksSoftcapAndLengths) {
  expect_oracle(OpKind::attention, {kQ, kK, kV, bools({1, 3}, {true, false, true})}, attention(),
                {1, 1, 2, 1}, {50.5, weighted({0, 2}, {1, 100})});
  expect_oracle(OpKind::attention, {kQ, kK, kV, f32({2, 3}, {0, 0, -1e30f, 1, 0, 0})}, attention(),
                {1, 1, 2, 1}, {5.5, weighted({1, 1, 2}, {1, 10, 100})});
  expect_oracle(OpKind::attention, {kQ, kK, kV, {}, i64({1}, {2})}, attention(), {1, 1, 2, 1},
                {5.5, weighted({0, 1}, {1, 10})});
  auto attrs = attention();
  attrs.set("softcap", 2.0);
  expect_oracle(OpKind::attention, {kQ, kK, kV}, attrs, {1, 1, 2, 1},
                {37, weighted({0, 2 * std::tanh(0.5), 2 * std::tanh(1.0)}, {1, 10, 100})});
}

TEST(Attention, RowsThatSeeNothing) {
  const Tensor none = bools({1, 3}, {false, false, false});
  const double nan = std::nan("");
  expect_oracle(OpKind::attention, {kQ, kK, kV, none}, attention(), {1, 1, 2, 1}, {nan, nan});
  auto attrs = attention();
  attrs.set("nan_to_zero", std::int64_t{1});
  expect_oracle(OpKind::attention, {kQ, kK, kV, none}, attrs, {1, 1, 2, 1}, {0, 0});
}

TEST(Attention, GroupedHeadsAndLayouts) {
  // Two query heads share one key head; q and y as [B, S, H, D], k as [B, H, D, S].
  const Tensor q = f32({1, 1, 2, 2}, {1, 0, 0, 1});
  const Tensor k = f32({1, 1, 2, 2}, {1, 2, 3, 4});  // depth 0: 1, 2; depth 1: 3, 4
  const Tensor v = f32({1, 2, 1, 1}, {1, 10});
  const graph::Attributes attrs{{"q_layout", std::string("bshd")},
                                {"k_layout", std::string("bhds")},
                                {"v_layout", std::string("bshd")},
                                {"y_layout", std::string("bshd")},
                                {"scale", 1.0}};
  expect_oracle(OpKind::attention, {q, k, v}, attrs, {1, 1, 2, 1},
                {weighted({1, 2}, {1, 10}), weighted({3, 4}, {1, 10})});
}

TEST(Attention, ManyQueriesAreCutIntoBlocks) {
  // 300 queries that see all alike: every row is the mean of the values.
  const std::int64_t n = 300;
  const Tensor q = Tensor::zeros(DataType::f32, {2, 1, n, 4});
  const Tensor k = Tensor::zeros(DataType::f32, {2, 1, 5, 4});
  Tensor v(DataType::f32, {2, 1, 5, 2});
  for (std::size_t i = 0; i < 20; ++i) v.as_mutable<float>()[i] = static_cast<float>(i);
  const auto y = oracle_run(OpKind::attention, {q, k, v}, attention());
  for (std::int64_t i = 0; i < 2 * n; ++i) {
    ASSERT_NEAR(y[0].value.at_double(2 * i), i < n ? 4 : 14, 1e-12);
    ASSERT_NEAR(y[0].value.at_double(2 * i + 1), i < n ? 5 : 15, 1e-12);
  }
}

TEST(Rotary, HalvesAndPairs) {
  // 90 degrees for the first pair, 0 for the second.
  const Tensor cosines = f32({1, 2}, {0, 1});
  const Tensor sines = f32({1, 2}, {1, 0});
  const Tensor x = f32({1, 1, 1, 4}, {1, 2, 3, 4});
  const auto attrs = [](std::int64_t interleaved, std::int64_t dim = 0) {
    return graph::Attributes{
        {"layout", std::string("bhsd")}, {"rotary_dim", dim}, {"interleaved", interleaved}};
  };
  const Tensor positions = i64({1, 1}, {0});
  expect_oracle(OpKind::rotary, {x, cosines, sines, positions}, attrs(0), {1, 1, 1, 4},
                {-3, 2, 1, 4});
  expect_oracle(OpKind::rotary, {x, cosines, sines, positions}, attrs(1), {1, 1, 1, 4},
                {-2, 1, 3, 4});
  expect_oracle(OpKind::rotary, {x, f32({1, 1, 1}, {0}), f32({1, 1, 1}, {1})}, attrs(0, 2),
                {1, 1, 1, 4}, {-2, 1, 3, 4});
  // Full width: element i of the tables belongs to element i of x.
  expect_oracle(OpKind::rotary, {x, f32({1, 1, 4}, {0, 1, 0, 1}), f32({1, 1, 4}, {1, 0, 1, 0})},
                attrs(0), {1, 1, 1, 4}, {-3, 2, 1, 4});
  EXPECT_THROW(oracle_run(OpKind::rotary, {x, cosines, sines, i64({1, 1}, {5})}, attrs(0)), Error);
}

}  // namespace
}  // namespace concord::test
