#include "tests/reference/oracle_case.h"

namespace concord::test {
namespace {

TEST(LayerNorm, ByHand) {
  // 1, 3: mean 2, variance 1. 2, 2: variance 0.
  const Tensor x = f32({2, 2}, {1, 3, 2, 2});
  const double r = 1 / std::sqrt(1.5);
  expect_oracle(OpKind::layer_norm, {x}, {{"axis", 1L}, {"epsilon", 0.5}}, {2, 2}, {-r, r, 0, 0});
  expect_oracle(OpKind::layer_norm, {x, f32({2}, {2, 3}), f32({2}, {10, 20})},
                {{"axis", 1L}, {"epsilon", 0.5}}, {2, 2}, {10 - 2 * r, 20 + 3 * r, 10, 20});
}

TEST(LayerNorm, OverSeveralAxesWithResidual) {
  const Tensor x = f32({1, 2, 2}, {0, 1, 2, 3});
  const Tensor residual = f32({1, 2, 2}, {1, 1, 1, 1});
  const auto y = oracle_run(OpKind::layer_norm, {x, {}, {}, residual},
                            {{"axis", 1L}, {"epsilon", 0.0}}, {DataType::f32, DataType::f32});
  const double s = std::sqrt(1.25);
  expect_values(y[0], {1, 2, 2}, {-1.5 / s, -0.5 / s, 0.5 / s, 1.5 / s});
  expect_values(y[1], {1, 2, 2}, {1, 2, 3, 4});
}

TEST(RmsNorm, ByHand) {
  const Tensor x = f32({1, 2}, {3, 4});
  const double r = 1 / std::sqrt(12.5);
  expect_oracle(OpKind::rms_norm, {x, f32({2}, {1, 2})}, {{"axis", 1L}, {"epsilon", 0.0}}, {1, 2},
                {3 * r, 8 * r});
  const auto y = oracle_run(OpKind::rms_norm, {x, {}, f32({1, 2}, {-3, 0})},
                            {{"axis", 1L}, {"epsilon", 8.0}}, {DataType::f32, DataType::f32});
  expect_values(y[0], {1, 2}, {0, 1});
  expect_values(y[1], {1, 2}, {0, 4});
}

TEST(GroupNorm, GroupsAndInstances) {
  const Tensor x = f32({1, 2, 2}, {1, 3, 5, 9});
  expect_oracle(OpKind::group_norm, {x, f32({2}, {1, 2}), f32({2}, {0, 1})},
                {{"groups", 0L}, {"epsilon", 0.0}}, {1, 2, 2}, {-1, 1, -1, 3});
  const double s = std::sqrt(8.75);
  expect_oracle(OpKind::group_norm, {x}, {{"groups", 1L}, {"epsilon", 0.0}}, {1, 2, 2},
                {-3.5 / s, -1.5 / s, 0.5 / s, 4.5 / s});
}

TEST(Lrn, ByHand) {
  // Three channels of one element, windows of 3 (cut at the edges).
  expect_oracle(OpKind::lrn, {f32({1, 3, 1}, {1, 2, 3})},
                {{"size", 3L}, {"alpha", 3.0}, {"beta", 1.0}, {"bias", 1.0}}, {1, 3, 1},
                {1.0 / 6, 2.0 / 15, 3.0 / 14});
}

}  // namespace
}  // namespace concord::test
