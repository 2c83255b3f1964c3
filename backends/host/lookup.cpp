#include <cmath>
#include <unordered_map>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

// Of each element its key's position, or −1.
template <typename T>
std::vector<std::int64_t> positions(std::span<const T> x, std::span<const T> keys) {
  std::unordered_map<T, std::int64_t> places;
  std::int64_t of_nan = -1;
  const auto is_nan = [](const T& value) {
    if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
    return false;
  };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    if (!is_nan(keys[i])) {
      places.emplace(keys[i], place);
    } else if (of_nan < 0) {
      of_nan = place;
    }
  }
  std::vector<std::int64_t> found;
  found.reserve(x.size());
  for (const T& value : x) {
    const auto it = is_nan(value) ? places.end() : places.find(value);
    found.push_back(is_nan(value) ? of_nan : it == places.end() ? -1 : it->second);
  }
  return found;
}

std::vector<std::int64_t> positions(const Tensor& x, const Tensor& keys) {
  if (x.dtype() == DataType::string) return positions(x.strings(), keys.strings());
  if (is_float(keys.dtype())) {
    const std::vector<double> wide = doubles(x);
    const std::vector<double> wide_keys = doubles(keys);
    return positions(std::span<const double>(wide), std::span<const double>(wide_keys));
  }
  const std::vector<std::int64_t> wide = x.ints();
  const std::vector<std::int64_t> wide_keys = keys.ints();
  return positions(std::span<const std::int64_t>(wide), std::span<const std::int64_t>(wide_keys));
}

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const Tensor& values = call.node.attrs.tensor("values");
  const Tensor& otherwise = call.node.attrs.tensor("default");
  const std::vector<std::int64_t> found = positions(x, call.node.attrs.tensor("keys"));
  Tensor y(values.dtype(), x.shape());
  with_raw(values.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto from = raw<T>(values);
    const auto to = raw_mutable<T>(y);
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = found[i] < 0 ? raw<T>(otherwise).front() : from[static_cast<std::size_t>(found[i])];
    }
  });
  return {std::move(y)};
}

}  // namespace

const Kernel host_lookup{nullptr, run};

}  // namespace concord::host
