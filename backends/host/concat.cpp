#include <algorithm>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& first = call.input(0);
  const std::size_t axis = call.axis(first.rank());
  Shape shape = first.shape();
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    const Tensor& t = call.input(i);
    bool fits = t.rank() == first.rank() && t.dtype() == first.dtype();
    for (std::size_t d = 0; d < shape.size() && fits; ++d) {
      fits = d == axis || t.shape()[d] == shape[d];
    }
    if (!fits) {
      fail(call.name_of(i) + " of " + std::string(to_string(t.dtype())) +
           to_string(std::span<const std::int64_t>(t.shape())) + " cannot be joined to " +
           std::string(to_string(first.dtype())) +
           to_string(std::span<const std::int64_t>(first.shape())) + " along axis " +
           std::to_string(axis));
    }
    shape[axis] += t.shape()[axis];
  }
  Tensor y(first.dtype(), shape);
  const std::int64_t outer = extent_product(shape, 0, axis);
  const std::int64_t row = extent_product(shape, axis, shape.size());
  with_raw(first.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::int64_t at = 0;
    for (const Tensor& t : call.inputs) {
      const std::int64_t part = extent_product(t.shape(), axis, shape.size());
      const auto from = raw<T>(t);
      const auto to = raw_mutable<T>(y);
      for (std::int64_t o = 0; o < outer; ++o) {
        std::copy_n(from.begin() + o * part, part, to.begin() + o * row + at);
      }
      at += part;
    }
  });
  return {std::move(y)};
}

}  // namespace

const Kernel host_concat{nullptr, run, true};

}  // namespace concord::host
