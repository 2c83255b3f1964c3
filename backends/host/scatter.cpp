#include "backends/host/scatter.h"

#include <algorithm>
#include <cmath>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

template <typename T>
T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  }
  return a < b ? b : a;
}
template <typename T>
T smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  }
  return b < a ? b : a;
}

// Unsigned, so that sums and products wrap around.
template <typename T>
T wrapped(std::uint64_t value) {
  return static_cast<T>(value);
}

template <typename T>
void combine(std::span<T> to, const std::vector<std::int64_t>& offsets, std::int64_t length,
             std::span<const T> updates, const std::string& reduction) {
  std::size_t at = 0;
  for (const std::int64_t offset : offsets) {
    for (std::int64_t i = 0; i < length; ++i) {
      T& old = to[static_cast<std::size_t>(offset + i)];
      const T update = updates[at++];
      if (reduction == "max") {
        old = larger(old, update);
      } else if (reduction == "min") {
        old = smaller(old, update);
      } else if constexpr (std::is_integral_v<T>) {
        const auto a = static_cast<std::uint64_t>(old);
        const auto b = static_cast<std::uint64_t>(update);
        old = wrapped<T>(reduction == "add" ? a + b : a * b);
      }
    }
  }
}

}  // namespace

std::optional<std::string> why_no_scatter(const graph::Graph& graph, const graph::Node& node) {
  const std::string reduction = node.attrs.text("reduction", "none");
  const bool sums = reduction == "add" || reduction == "mul";
  if (sums && is_float(operand_type(graph, node))) {
    return "computes in " + std::string(to_string(operand_type(graph, node))) +
           ", which the host does not";
  }
  return std::nullopt;
}

Tensor scatter(const Tensor& data, const std::vector<std::int64_t>& offsets, std::int64_t length,
               const Tensor& updates, const std::string& reduction) {
  Tensor y = data.clone();
  if (reduction == "none") {
    with_raw(data.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto from = raw<T>(updates);
      const auto to = raw_mutable<T>(y);
      for (std::size_t i = 0; i < offsets.size(); ++i) {
        std::copy_n(from.begin() + static_cast<std::int64_t>(i) * length, length,
                    to.begin() + offsets[i]);
      }
    });
    return y;
  }
  if (is_float(data.dtype())) {
    std::vector<double> values = doubles(data);
    combine<double>(values, offsets, length, doubles(updates), reduction);
    return from_doubles(data.dtype(), data.shape(), values);
  }
  const bool boolean = data.dtype() == DataType::boolean;
  with_integer(data.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    combine<T>(raw_mutable<T>(y), offsets, length, raw<T>(updates), reduction);
    if (boolean) {
      for (T& b : raw_mutable<T>(y)) b = static_cast<T>(b != 0);
    }
  });
  return y;
}

}  // namespace concord::host
