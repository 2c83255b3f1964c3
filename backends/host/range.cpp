#include <cmath>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

constexpr double kMostElements = 1e12;

template <typename T>
std::int64_t length_of(const Call& call, T start, T limit, T delta) {
  if (delta == T{0}) fail(call.name_of(2) + ", the step of a range, is 0");
  if constexpr (std::is_floating_point_v<T>) {
    const double count = std::ceil((limit - start) / delta);
    if (!(count < kMostElements)) {
      fail("a range from " + std::to_string(start) + " to " + std::to_string(limit) + " by " +
           std::to_string(delta) + " has no usable length");
    }
    return count > 0 ? static_cast<std::int64_t>(count) : 0;
  } else {
    if (delta > 0 ? start >= limit : start <= limit) return 0;
    const auto span = delta > 0
                          ? static_cast<std::uint64_t>(limit) - static_cast<std::uint64_t>(start)
                          : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(limit);
    const auto step = delta > 0 ? static_cast<std::uint64_t>(delta)
                                : 0 - static_cast<std::uint64_t>(static_cast<std::int64_t>(delta));
    const std::uint64_t count = (span - 1) / step + 1;
    if (static_cast<double>(count) > kMostElements) {
      fail("a range from " + std::to_string(start) + " to " + std::to_string(limit) +
           " has too many elements");
    }
    return static_cast<std::int64_t>(count);
  }
}

template <typename T>
void count_up(std::span<T> to, T start, T delta) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      to[i] = start + static_cast<T>(i) * delta;
    } else {
      to[i] =
          static_cast<T>(static_cast<std::uint64_t>(start) + i * static_cast<std::uint64_t>(delta));
    }
  }
}

std::vector<Tensor> run(const Call& call) {
  const Tensor& start = call.input(0);
  const DataType dtype = start.dtype();
  for (std::size_t i = 0; i < 3; ++i) {
    if (!call.has(i) && i == 1 && call.node.attrs.has("length")) continue;
    if (call.input(i).count() != 1 || call.input(i).dtype() != dtype) {
      fail(call.name_of(i) + " of a range must be one " + std::string(to_string(dtype)));
    }
  }
  const auto known = call.find_list("length", call.node.inputs.size());
  const auto length = [&](auto from, auto to, auto by) {
    return known ? known->at(0) : length_of(call, from, to, by);
  };
  if (is_float(dtype)) {
    const double from = start.at_double(0);
    const double by = call.input(2).at_double(0);
    const std::int64_t count =
        known ? known->at(0) : length_of(call, from, call.input(1).at_double(0), by);
    std::vector<double> values(static_cast<std::size_t>(count));
    count_up<double>(values, from, by);
    return {from_doubles(dtype, {count}, values)};
  }
  return with_integer(dtype, [&](auto tag) -> std::vector<Tensor> {
    using T = typename decltype(tag)::type;
    const T from = raw<T>(start)[0];
    const T by = raw<T>(call.input(2))[0];
    const T limit = call.has(1) ? raw<T>(call.input(1))[0] : from;
    Tensor y(dtype, {length(from, limit, by)});
    count_up<T>(raw_mutable<T>(y), from, by);
    return {std::move(y)};
  });
}

}  // namespace

const Kernel host_range{nullptr, run};

}  // namespace concord::host
