#pragma once

#include <cstdint>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {

// y[i] = x[0] ∘ … ∘ x[i] along the axis (without x[i] if exclusive, from the end if reverse) of an
// integer tensor. `join` works on 64 bits without a sign: it wraps, as integer tensors do.
template <typename Join>
std::vector<Tensor> cumulate(const Call& call, std::uint64_t neutral, Join join) {
  const Tensor& x = call.input(0);
  std::int64_t axis = call.integer("axis", 1);
  if (axis < 0) axis += x.rank();
  if (axis < 0 || axis >= x.rank()) {
    fail(call.name_of(1) + ", the axis, does not exist in a tensor of rank " +
         std::to_string(x.rank()));
  }
  const auto d = static_cast<std::size_t>(axis);
  const bool exclusive = call.node.attrs.integer("exclusive", 0) != 0;
  const bool reverse = call.node.attrs.integer("reverse", 0) != 0;
  const std::int64_t extent = x.shape()[d];
  const std::int64_t inner = extent_product(x.shape(), d + 1, x.shape().size());
  Tensor y(x.dtype(), x.shape());
  with_integer(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto from = raw<T>(x);
    const auto to = raw_mutable<T>(y);
    const std::int64_t lines = extent == 0 ? 0 : x.count() / extent;
    for (std::int64_t line = 0; line < lines; ++line) {
      const std::int64_t base = line / inner * extent * inner + line % inner;
      std::uint64_t joined = neutral;
      for (std::int64_t i = 0; i < extent; ++i) {
        const std::int64_t step = reverse ? extent - 1 - i : i;
        const auto at = static_cast<std::size_t>(base + step * inner);
        const std::uint64_t next = join(joined, static_cast<std::uint64_t>(from[at]));
        to[at] = static_cast<T>(exclusive ? joined : next);
        joined = next;
      }
    }
  });
  return {std::move(y)};
}

}  // namespace concord::host
