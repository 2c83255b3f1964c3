#include "backends/host/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

using graph::ReduceFn;

std::vector<std::int64_t> offsets_of(const Shape& shape, const Shape& strides,
                                     const std::vector<bool>& wanted) {
  std::vector<std::int64_t> offsets{0};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!wanted[d]) continue;
    std::vector<std::int64_t> next;
    next.reserve(offsets.size() * static_cast<std::size_t>(shape[d]));
    for (const std::int64_t offset : offsets) {
      for (std::int64_t i = 0; i < shape[d]; ++i) next.push_back(offset + i * strides[d]);
    }
    offsets = std::move(next);
  }
  return offsets;
}

template <typename T>
T truncated(double value) {
  if (std::isnan(value)) return T{0};
  const auto lowest = static_cast<double>(std::numeric_limits<T>::min());
  const auto highest = static_cast<double>(std::numeric_limits<T>::max());
  if (value >= highest) return std::numeric_limits<T>::max();
  return value <= lowest ? std::numeric_limits<T>::min() : static_cast<T>(value);
}

template <typename T>
T combine(ReduceFn fn, const T* x, std::span<const std::int64_t> inner) {
  std::uint64_t sum = 0;
  std::uint64_t product = 1;
  std::uint64_t sum_abs = 0;
  std::uint64_t squares = 0;
  double real_squares = 0;
  double exponentials = 0;
  T largest = std::numeric_limits<T>::lowest();
  T smallest = std::numeric_limits<T>::max();
  for (const std::int64_t at : inner) {
    const T value = x[at];
    const auto wide = static_cast<std::uint64_t>(value);
    sum += wide;
    product *= wide;
    sum_abs += value < 0 ? 0 - wide : wide;
    squares += wide * wide;
    if (fn == ReduceFn::l2) real_squares += static_cast<double>(value) * static_cast<double>(value);
    if (fn == ReduceFn::log_sum_exp) exponentials += std::exp(static_cast<double>(value));
    largest = std::max(largest, value);
    smallest = std::min(smallest, value);
  }
  switch (fn) {
    case ReduceFn::sum:
      return static_cast<T>(sum);
    case ReduceFn::mean:
      if constexpr (std::is_signed_v<T>) {
        return static_cast<T>(static_cast<std::int64_t>(sum) /
                              static_cast<std::int64_t>(inner.size()));
      } else {
        return static_cast<T>(sum / inner.size());
      }
    case ReduceFn::prod:
      return static_cast<T>(product);
    case ReduceFn::max:
      return largest;
    case ReduceFn::min:
      return smallest;
    case ReduceFn::l1:
      return static_cast<T>(sum_abs);
    case ReduceFn::sum_square:
      return static_cast<T>(squares);
    case ReduceFn::l2:
      return truncated<T>(std::sqrt(real_squares));
    case ReduceFn::log_sum:
      return truncated<T>(std::log(static_cast<double>(static_cast<std::int64_t>(sum))));
    case ReduceFn::log_sum_exp:
      return truncated<T>(std::log(exponentials));
  }
  return T{0};
}

std::vector<Tensor> run(const Call& call) {
  return {reduce_integers(call.input(0), reduce_function(call.node.attrs.text("fn")),
                          call.node.attrs.integers("axes"),
                          call.node.attrs.integer("keepdims") != 0)};
}

}  // namespace

ReduceFn reduce_function(const std::string& name) {
  const auto fn = graph::parse_reduce(name);
  if (!fn) throw Error(ErrorKind::failed, "internal: unknown reduction " + name);
  return *fn;
}

ReduceWalk walk_reduction(const Shape& shape, std::span<const std::int64_t> axes, bool keepdims) {
  std::vector<bool> reduced(shape.size(), false);
  for (const std::int64_t axis : axes) {
    const std::int64_t rank = static_cast<std::int64_t>(shape.size());
    const std::int64_t d = axis < 0 ? axis + rank : axis;
    if (d < 0 || d >= rank) {
      fail("axis " + std::to_string(axis) + " does not exist in a tensor of rank " +
           std::to_string(rank));
    }
    reduced[static_cast<std::size_t>(d)] = true;
  }
  ReduceWalk walk;
  std::vector<bool> kept;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    kept.push_back(!reduced[d]);
    if (!reduced[d]) walk.shape.push_back(shape[d]);
    if (reduced[d] && keepdims) walk.shape.push_back(1);
  }
  const Shape strides = contiguous_strides(shape);
  walk.outer = offsets_of(shape, strides, kept);
  walk.inner = offsets_of(shape, strides, reduced);
  return walk;
}

Tensor reduce_integers(const Tensor& x, ReduceFn fn, std::span<const std::int64_t> axes,
                       bool keepdims) {
  const ReduceWalk walk = walk_reduction(x.shape(), axes, keepdims);
  const bool needs_elements = fn == ReduceFn::max || fn == ReduceFn::min || fn == ReduceFn::mean;
  if (walk.inner.empty() && !walk.outer.empty() && needs_elements) {
    fail("the " + std::string(to_string(fn)) + " of no elements: shape " +
         to_string(std::span<const std::int64_t>(x.shape())));
  }
  Tensor y(x.dtype(), walk.shape);
  with_integer(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = raw<T>(x).data();
    const auto to = raw_mutable<T>(y);
    for (std::size_t o = 0; o < to.size(); ++o) {
      to[o] = combine<T>(fn, from + walk.outer[o], walk.inner);
    }
  });
  return y;
}

const Kernel host_reduce{only_exact_types, run};

}  // namespace concord::host
