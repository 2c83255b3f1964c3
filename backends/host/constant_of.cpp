#include <algorithm>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& value = call.node.attrs.tensor("value");
  if (value.count() != 1) {
    fail("the value of a constant tensor has " + std::to_string(value.count()) + " elements");
  }
  const Shape shape = call.list("shape", 0);
  const bool packed = is_sub_byte(value.dtype());
  const Tensor one = packed ? unpacked(value) : value;
  Tensor y(one.dtype(), shape);
  with_raw(one.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto to = raw_mutable<T>(y);
    std::fill(to.begin(), to.end(), raw<T>(one)[0]);
  });
  if (packed) return {packed_as(value.dtype(), y)};
  return {std::move(y)};
}

}  // namespace

const Kernel host_constant_of{nullptr, run};

}  // namespace concord::host
