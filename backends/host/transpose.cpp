#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const std::vector<std::int64_t>& perm = call.node.attrs.integers("perm");
  if (perm.size() != x.shape().size()) {
    fail("a permutation of " + std::to_string(perm.size()) +
         " axes does not fit a tensor of shape " +
         to_string(std::span<const std::int64_t>(x.shape())));
  }
  const Shape strides = contiguous_strides(x.shape());
  Shape shape;
  Shape from;
  for (const std::int64_t axis : perm) {
    shape.push_back(x.shape().at(static_cast<std::size_t>(axis)));
    from.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  Tensor y(x.dtype(), shape);
  with_raw(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    copy_strided(raw_mutable<T>(y).data(), contiguous_strides(shape), raw<T>(x).data(), from,
                 shape);
  });
  return {std::move(y)};
}

}  // namespace

const Kernel host_transpose{nullptr, run, true};

}  // namespace concord::host
