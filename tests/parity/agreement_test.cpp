#include "parity/agreement.h"

#include <cmath>

#include <gtest/gtest.h>

namespace concord::parity {
namespace {

Answers answers(const std::string& spec, std::vector<float> values,
                std::optional<double> noise = 0.01) {
  Answers result;
  result.spec = spec;
  result.outputs = {Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values)};
  result.expected_rms = {noise};
  return result;
}

TEST(Agreement, ClassesAreOfEqualBits) {
  const std::vector<Answers> all = {answers("a", {1, 2}), answers("b", {1, 2.02F}),
                                    answers("c", {1, 2})};
  const Agreement agreement = agreement_of(all);
  EXPECT_EQ(agreement.classes, (std::vector<int>{0, 1, 0}));
  ASSERT_EQ(agreement.pairs.size(), 3u);
}

TEST(Agreement, BudgetOfAPairIsTheNoiseOfBoth) {
  const std::vector<Answers> all = {answers("a", {1, 1, 1, 1}, 0.03),
                                    answers("b", {1.1F, 1.1F, 1.1F, 1.1F}, 0.04)};
  const Agreement agreement = agreement_of(all);
  ASSERT_EQ(agreement.pairs.size(), 1u);
  ASSERT_TRUE(agreement.pairs[0].ratio.has_value());
  EXPECT_NEAR(*agreement.pairs[0].ratio, 0.1 / (4 * 0.05), 1e-6);
  EXPECT_TRUE(agreement.pairs[0].within());
}

TEST(Agreement, WhatHasNoNoiseIsNotJudged) {
  const std::vector<Answers> all = {answers("a", {1, 2}), answers("b", {1, 3}, std::nullopt)};
  EXPECT_FALSE(agreement_of(all).pairs[0].ratio.has_value());
  EXPECT_FALSE(agreement_of(all).pairs[0].within());
}

TEST(Agreement, NumbersShapesAndTypesApart) {
  const float nan = std::nanf("");
  const float infinite = INFINITY;
  EXPECT_TRUE(
      std::isinf(*agreement_of(std::vector<Answers>{answers("a", {1, nan}), answers("b", {1, 2})})
                      .pairs[0]
                      .ratio));
  EXPECT_TRUE(std::isinf(
      *agreement_of(std::vector<Answers>{answers("a", {1, infinite}), answers("b", {1, -infinite})})
           .pairs[0]
           .ratio));
  EXPECT_TRUE(
      std::isinf(*agreement_of(std::vector<Answers>{answers("a", {1, 2}), answers("b", {1, 2, 3})})
                      .pairs[0]
                      .ratio));
  Answers integers = answers("b", {1, 2});
  integers.outputs = {Tensor::from_ints(std::vector<std::int64_t>{1, 2})};
  EXPECT_TRUE(std::isinf(
      *agreement_of(std::vector<Answers>{answers("a", {1, 2}), integers}).pairs[0].ratio));
}

TEST(Agreement, OutputsThatADataSetLeavesOutAreNoDifference) {
  Answers some = answers("expected", {1, 2});
  some.outputs.emplace_back();
  some.expected_rms.emplace_back();
  Answers all = answers("cpu", {1, 2});
  all.outputs.push_back(Tensor::of<float>({1}, std::vector<float>{5}));
  all.expected_rms.emplace_back(0.01);
  const Agreement agreement = agreement_of(std::vector<Answers>{some, all});
  EXPECT_FALSE(agreement.pairs[0].identical);
  EXPECT_EQ(agreement.pairs[0].ratio, 0);
}

}  // namespace
}  // namespace concord::parity
