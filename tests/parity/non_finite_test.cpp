#include "parity/non_finite.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace concord::parity {
namespace {

Tensor floats(const Shape& shape, const std::vector<float>& values) {
  return Tensor::of<float>(shape, std::span<const float>(values));
}

TEST(NonFinite, ArisesWithTheValuesThatMadeIt) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor a = floats({2, 2}, {1, 2, 3, 0});
  const Tensor b = floats({2}, {4, 0});
  const auto origin = origin_of_non_finite({a, b}, floats({2, 2}, {0.25F, inf, 0.75F, 1}),
                                           floats({2, 2}, {1, 7, 1, 1}));
  ASSERT_TRUE(origin.has_value());
  EXPECT_EQ(origin->element, "inf at [0, 1]");
  EXPECT_EQ(origin->oracle, 7);
  ASSERT_EQ(origin->operands.size(), 2u);
  EXPECT_EQ(origin->operands[0], "float32[2, 2]: 2");  // beside the element
  EXPECT_EQ(origin->operands[1], "float32[2]: 0");     // by broadcasting
}

TEST(NonFinite, OperandsOfOtherShapesAreToldByTheirRange) {
  const auto origin = origin_of_non_finite({floats({3}, {-1, 5, 2}), Tensor()},
                                           floats({2}, {1, std::nanf("")}), floats({2}, {1, 2}));
  ASSERT_TRUE(origin.has_value());
  EXPECT_EQ(origin->element, "NaN at [1]");
  ASSERT_EQ(origin->operands.size(), 1u);  // omitted ones are left out
  EXPECT_EQ(origin->operands[0], "float32[3]: -1 to 5");
}

TEST(NonFinite, InheritedOrAbsentIsNoOrigin) {
  const Tensor bad = floats({2}, {1, std::nanf("")});
  const Tensor good = floats({2}, {1, 2});
  EXPECT_FALSE(origin_of_non_finite({bad}, bad, good).has_value());
  EXPECT_FALSE(origin_of_non_finite({good}, good, good).has_value());
  const Tensor integers = Tensor::zeros(DataType::i64, {2});
  EXPECT_FALSE(origin_of_non_finite({good}, integers, integers).has_value());
}

}  // namespace
}  // namespace concord::parity
