#include "backends/gpu/lower/strides.h"

#include <vector>

#include <gtest/gtest.h>

#include "graph/error.h"

namespace concord::gpu {
namespace {

// Offsets of operand `which` in the order of the walk.
std::vector<std::int64_t> offsets(const Walk& walk, std::size_t which) {
  std::vector<std::int64_t> result;
  for (std::int32_t i = 0; i < walk.count; ++i) {
    std::int32_t rest = i;
    std::int64_t offset = 0;
    for (std::size_t axis = kMaxAxes; axis-- > 0;) {
      offset += std::int64_t{rest % walk.extents[axis]} * walk.strides[which][axis];
      rest /= walk.extents[axis];
    }
    result.push_back(offset);
  }
  return result;
}

TEST(Walk, joins_contiguous_axes) {
  const Shape shape{2, 3, 1, 4};
  const std::vector<Shape> strides{contiguous_strides(shape)};
  const Walk walk = make_walk(shape, strides);
  EXPECT_EQ(walk.rank, 1);
  EXPECT_EQ(walk.count, 24);
  EXPECT_EQ(walk.extents[5], 24);
  EXPECT_EQ(walk.strides[0][5], 1);
}

TEST(Walk, keeps_the_order_of_a_transposition) {
  const Shape extents{4, 2, 3};  // of x [2, 3, 4] with axes (2, 0, 1)
  const std::vector<Shape> strides{{1, 12, 4}, contiguous_strides(extents)};
  const Walk walk = make_walk(extents, strides);
  EXPECT_EQ(walk.rank, 2);  // 2 and 3 join in both
  EXPECT_EQ(offsets(walk, 0)[0], 0);
  EXPECT_EQ(offsets(walk, 0)[1], 4);
  EXPECT_EQ(offsets(walk, 0)[6], 1);
  for (std::int64_t i = 0; i < 24; ++i) {
    EXPECT_EQ(offsets(walk, 1)[static_cast<std::size_t>(i)], i);
  }
}

TEST(Walk, repeats_broadcast_operands) {
  const Shape target{2, 3, 2};
  const std::vector<Shape> strides{broadcast_strides({3, 1}, target)};
  const Walk walk = make_walk(target, strides);
  EXPECT_EQ(offsets(walk, 0), (std::vector<std::int64_t>{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}));
}

TEST(Walk, counts_nothing_where_an_axis_is_empty) {
  const std::vector<Shape> strides{contiguous_strides(Shape{2, 0, 3})};
  EXPECT_EQ(make_walk({2, 0, 3}, strides).count, 0);
}

TEST(Walk, refuses_too_many_axes) {
  const Shape extents{2, 2, 2, 2, 2, 2, 2};
  const std::vector<Shape> strides{{1, 2, 4, 8, 16, 32, 64}};
  EXPECT_THROW(make_walk(extents, strides), Error);
}

TEST(Period, tells_leading_broadcasts) {
  EXPECT_EQ(period({2, 3, 4}, {2, 3, 4}), 24);
  EXPECT_EQ(period({}, {2, 3, 4}), 1);
  EXPECT_EQ(period({1, 1, 1}, {2, 3, 4}), 1);
  EXPECT_EQ(period({4}, {2, 3, 4}), 4);
  EXPECT_EQ(period({1, 3, 4}, {2, 3, 4}), 12);
  EXPECT_EQ(period({3, 1}, {2, 3, 4}), std::nullopt);
  EXPECT_EQ(period({2, 1, 4}, {2, 3, 4}), std::nullopt);
  EXPECT_EQ(period({1, 3, 1}, {2, 3, 1}), 3);
  EXPECT_EQ(period({2, 1, 4}, {2, 1, 4}), 8);
}

TEST(Groups, form_rows) {
  using Groups = std::array<std::uint32_t, 3>;
  EXPECT_EQ(flat_groups(1), (Groups{1, 1, 1}));
  EXPECT_EQ(flat_groups(1025), (Groups{2, 1, 1}));
  EXPECT_EQ(flat_groups(1024LL * 32768), (Groups{32768, 1, 1}));
  EXPECT_EQ(flat_groups(1024LL * 32768 + 1), (Groups{32768, 2, 1}));
}

}  // namespace
}  // namespace concord::gpu
