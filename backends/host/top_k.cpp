#include <algorithm>
#include <cmath>
#include <numeric>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

// A strict order, NaN above every number.
template <typename T>
bool above(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return !std::isnan(b);
  }
  return b < a;
}
template <typename T>
bool below(const T& a, const T& b) {
  return above(b, a);
}

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const std::size_t axis = call.axis(x.rank());
  const std::int64_t k = call.integer("k", 1);
  const std::int64_t extent = x.shape()[axis];
  if (k < 0 || k > extent) {
    fail(call.name_of(1) + ", k = " + std::to_string(k) + ", is not within the " +
         std::to_string(extent) + " elements of the axis");
  }
  const bool largest = call.node.attrs.integer("largest") != 0;
  const std::int64_t inner = extent_product(x.shape(), axis + 1, x.shape().size());
  Shape shape = x.shape();
  shape[axis] = k;
  Tensor values(x.dtype(), shape);
  Tensor indices(DataType::i64, shape);
  const std::int64_t lines = extent == 0 ? 0 : x.count() / extent;
  std::vector<std::int64_t> sources(static_cast<std::size_t>(values.count()));
  const auto chosen = indices.as_mutable<std::int64_t>();
  with_values(x, [&](auto numbers) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(extent));
    for (std::int64_t line = 0; line < lines; ++line) {
      const std::int64_t base = line / inner * extent * inner + line % inner;
      const auto at = [&](std::int64_t i) {
        return numbers[static_cast<std::size_t>(base + i * inner)];
      };
      std::iota(order.begin(), order.end(), 0);
      // Of equal elements the one with the lower index comes first. Always sorted, whether asked
      // or not: an order that is nobody's choice cannot be compared.
      std::partial_sort(order.begin(), order.begin() + k, order.end(),
                        [&](std::int64_t a, std::int64_t b) {
                          const auto first = at(a);
                          const auto second = at(b);
                          if (largest ? above(first, second) : below(first, second)) return true;
                          if (largest ? above(second, first) : below(second, first)) return false;
                          return a < b;
                        });
      for (std::int64_t i = 0; i < k; ++i) {
        const std::int64_t to = line / inner * k * inner + i * inner + line % inner;
        chosen[static_cast<std::size_t>(to)] = order[static_cast<std::size_t>(i)];
        sources[static_cast<std::size_t>(to)] = base + order[static_cast<std::size_t>(i)] * inner;
      }
    }
  });
  with_raw(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto from = raw<T>(x);
    const auto to = raw_mutable<T>(values);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[static_cast<std::size_t>(sources[i])];
  });
  return {std::move(values), std::move(indices)};
}

}  // namespace

const Kernel host_top_k{nullptr, run};

}  // namespace concord::host
