#include <limits>

#include "tests/ops/op_case.h"

namespace concord::ops_test {
namespace {

template <typename T>
Tensor list(std::vector<T> elements) {
  const auto count = static_cast<std::int64_t>(elements.size());
  return Tensor::of<T>({count}, std::span<const T>(elements));
}

}  // namespace

OpCases cases_lookup() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr float nan32 = std::numeric_limits<float>::quiet_NaN();
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const Tensor ints = list<std::int64_t>({4, -1, 7, 4});
  const Tensor numbers = list<float>({0.5F, -2.0F, nan32, 3.0F});
  return {
      OpCase("integers to floats")
          .in(DataType::i64, {3, 5}, integers(-2, 8))
          .set("keys", ints)
          .set("values", numbers)
          .set("default", list<float>({-1.0F})),
      OpCase("largest integers")
          .in(DataType::i64, {4}, values({9.2233720368547758e18, -1, 0, 7}))
          .set("keys", list<std::int64_t>({largest, 0}))
          .set("values", list<std::int64_t>({1, largest}))
          .set("default", list<std::int64_t>({-largest})),
      OpCase("special floats to integers")
          .in(DataType::f32, {6}, values({nan, inf, -inf, -0.0, 1e-40, 0.1F}))
          .set("keys", list<float>({nan32, static_cast<float>(inf), 0.0F, 0.1F}))
          .set("values", list<std::int64_t>({1, 2, 3, 4}))
          .set("default", list<std::int64_t>({0})),
      OpCase("scalar")
          .in(DataType::i64, {}, values({7}))
          .set("keys", ints)
          .set("values", numbers)
          .set("default", list<float>({-1.0F})),
      OpCase("empty")
          .in(DataType::i64, {0, 3}, integers(0, 1))
          .set("keys", ints)
          .set("values", numbers)
          .set("default", list<float>({-1.0F})),
  };
}

}  // namespace concord::ops_test
