#include <gtest/gtest.h>

#include "backends/cpu/planner.h"

namespace concord::cpu {
namespace {

TEST(ReshapeStrides, DenseStaysDense) {
  const auto strides = reshape_strides({2, 3, 4}, {12, 4, 1}, {6, 2, 2});
  ASSERT_TRUE(strides);
  EXPECT_EQ(*strides, (Dims{4, 2, 1}));
}

TEST(ReshapeStrides, SplitsTheColumnsOfAWiderMatrix) {
  // [2, 5, 24] out of rows of 72, as heads.
  const auto strides = reshape_strides({2, 5, 24}, {360, 72, 1}, {2, 5, 3, 8});
  ASSERT_TRUE(strides);
  EXPECT_EQ(*strides, (Dims{360, 72, 8, 1}));
}

TEST(ReshapeStrides, MergesRowsOfAWiderMatrix) {
  const auto strides = reshape_strides({2, 5, 24}, {360, 72, 1}, {10, 24});
  ASSERT_TRUE(strides);
  EXPECT_EQ(*strides, (Dims{72, 1}));
}

TEST(ReshapeStrides, RefusesWhatMemoryDoesNotAllow) {
  EXPECT_FALSE(reshape_strides({2, 5, 24}, {360, 72, 1}, {240}));
  EXPECT_FALSE(reshape_strides({3, 4}, {1, 3}, {12}));
}

TEST(ReshapeStrides, AxesOfOne) {
  const auto strides = reshape_strides({1, 3, 1, 4}, {7, 8, 9, 1}, {3, 1, 4, 1});
  ASSERT_TRUE(strides);
  EXPECT_EQ((*strides)[0], 8);
  EXPECT_EQ((*strides)[2], 1);
}

TEST(ReshapeStrides, Broadcast) {
  const auto strides = reshape_strides({4, 6}, {0, 1}, {2, 2, 6});
  ASSERT_TRUE(strides);
  EXPECT_EQ(*strides, (Dims{0, 0, 1}));
}

TEST(Dims, RefusesMoreThanEightAxes) {
  EXPECT_THROW((Dims{1, 1, 1, 1, 1, 1, 1, 1, 1}), Error);
}

}  // namespace
}  // namespace concord::cpu
