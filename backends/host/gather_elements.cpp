#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const std::vector<std::int64_t> from = element_targets(call);
  Tensor y(x.dtype(), call.input(1).shape());
  with_raw(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto data = raw<T>(x);
    const auto to = raw_mutable<T>(y);
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = data[static_cast<std::size_t>(from[i])];
  });
  return {std::move(y)};
}

}  // namespace

std::vector<std::int64_t> element_targets(const Call& call) {
  const Shape& shape = call.input(0).shape();
  const Tensor& indices = call.input(1);
  const std::size_t axis = call.axis(call.input(0).rank());
  bool fits = indices.shape().size() == shape.size();
  for (std::size_t d = 0; d < shape.size() && fits; ++d) {
    fits = d == axis || indices.shape()[d] <= shape[d];
  }
  if (!fits) {
    fail(call.name_of(1) + " of shape " +
         to_string(std::span<const std::int64_t>(indices.shape())) +
         " does not fit data of shape " + to_string(std::span<const std::int64_t>(shape)) +
         " outside axis " + std::to_string(axis));
  }
  const Shape strides = contiguous_strides(shape);
  std::vector<std::int64_t> targets = indices.ints();
  Shape position(shape.size(), 0);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    std::int64_t flat =
        checked_index(call, 1, static_cast<std::int64_t>(i), targets[i], shape[axis]) *
        strides[axis];
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (d != axis) flat += position[d] * strides[d];
    }
    targets[i] = flat;
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++position[d] < indices.shape()[d]) break;
      position[d] = 0;
    }
  }
  return targets;
}

const Kernel host_gather_elements{nullptr, run, true};

}  // namespace concord::host
