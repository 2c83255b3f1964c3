#include <algorithm>
#include <cmath>
#include <numeric>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

// The slices of x along an axis (or its elements) as `count` runs of `outer` pieces of `inner`
// elements: element j of slice i lies at (j / inner)·count·inner + i·inner + j % inner.
struct Slices {
  std::int64_t count;
  std::int64_t outer;
  std::int64_t inner;
  std::int64_t length() const { return outer * inner; }
  std::int64_t at(std::int64_t slice, std::int64_t j) const {
    return j / inner * count * inner + slice * inner + j % inner;
  }
};

// −1, 0, 1; NaN equals NaN and sorts last.
template <typename T>
int order(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - std::isnan(b);
  }
  return a < b ? -1 : b < a ? 1 : 0;
}

struct Groups {
  std::vector<std::int64_t> first;    // of each group, the slice met first
  std::vector<std::int64_t> inverse;  // of each slice, its group
  std::vector<std::int64_t> counts;
};

template <typename T>
Groups group(std::span<const T> x, const Slices& slices, bool sorted) {
  const auto compare = [&](std::int64_t a, std::int64_t b) {
    for (std::int64_t j = 0; j < slices.length(); ++j) {
      const int o = order(x[static_cast<std::size_t>(slices.at(a, j))],
                          x[static_cast<std::size_t>(slices.at(b, j))]);
      if (o != 0) return o;
    }
    return 0;
  };
  std::vector<std::int64_t> by_value(static_cast<std::size_t>(slices.count));
  std::iota(by_value.begin(), by_value.end(), 0);
  std::stable_sort(by_value.begin(), by_value.end(),
                   [&](std::int64_t a, std::int64_t b) { return compare(a, b) < 0; });

  std::vector<std::vector<std::int64_t>> members;  // in order of value
  for (const std::int64_t slice : by_value) {
    if (members.empty() || compare(members.back().front(), slice) != 0) members.emplace_back();
    members.back().push_back(slice);
  }
  if (!sorted) {
    std::sort(members.begin(), members.end(),
              [](const auto& a, const auto& b) { return a.front() < b.front(); });
  }
  Groups groups;
  groups.inverse.resize(static_cast<std::size_t>(slices.count));
  for (const std::vector<std::int64_t>& member : members) {
    const auto id = static_cast<std::int64_t>(groups.first.size());
    groups.first.push_back(member.front());
    groups.counts.push_back(static_cast<std::int64_t>(member.size()));
    for (const std::int64_t slice : member) groups.inverse[static_cast<std::size_t>(slice)] = id;
  }
  return groups;
}

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const bool by_axis = call.node.attrs.has("axis");
  Slices slices{x.count(), 1, 1};
  std::size_t axis = 0;
  if (by_axis) {
    axis = call.axis(x.rank());
    slices = {x.shape()[axis], extent_product(x.shape(), 0, axis),
              extent_product(x.shape(), axis + 1, x.shape().size())};
  }
  const bool sorted = call.node.attrs.integer("sorted") != 0;
  const Groups groups =
      x.dtype() == DataType::string
          ? group<std::string>(x.strings(), slices, sorted)
          : with_values(x, [&](auto values) {
              return group<typename decltype(values)::value_type>(values, slices, sorted);
            });

  Shape shape = by_axis ? x.shape() : Shape{0};
  shape[axis] = static_cast<std::int64_t>(groups.first.size());
  Tensor y(x.dtype(), shape);
  const Slices kept{shape[axis], slices.outer, slices.inner};
  with_raw(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto from = raw<T>(x);
    const auto to = raw_mutable<T>(y);
    for (std::int64_t i = 0; i < kept.count; ++i) {
      for (std::int64_t j = 0; j < kept.length(); ++j) {
        to[static_cast<std::size_t>(kept.at(i, j))] =
            from[static_cast<std::size_t>(slices.at(groups.first[static_cast<std::size_t>(i)], j))];
      }
    }
  });
  return {std::move(y), Tensor::from_ints(groups.first), Tensor::from_ints(groups.inverse),
          Tensor::from_ints(groups.counts)};
}

}  // namespace

const Kernel host_unique{nullptr, run};

}  // namespace concord::host
