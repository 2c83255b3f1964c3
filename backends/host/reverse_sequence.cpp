#include <algorithm>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const auto batch_axis = static_cast<std::size_t>(call.node.attrs.integer("batch_axis"));
  const auto time_axis = static_cast<std::size_t>(call.node.attrs.integer("time_axis"));
  if (batch_axis + time_axis != 1 || x.rank() < 2) {
    fail("batch and time are the first two axes of a sequence of rank 2 or more");
  }
  const std::vector<std::int64_t> lengths = call.input(1).ints();
  const std::int64_t batch = x.shape()[batch_axis];
  const std::int64_t time = x.shape()[time_axis];
  if (static_cast<std::int64_t>(lengths.size()) != batch) {
    fail(call.name_of(1) + " holds " + std::to_string(lengths.size()) + " lengths for a batch of " +
         std::to_string(batch));
  }
  const Shape strides = contiguous_strides(x.shape());
  const std::int64_t inner = extent_product(x.shape(), 2, x.shape().size());
  Tensor y(x.dtype(), x.shape());
  with_raw(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto from = raw<T>(x);
    const auto to = raw_mutable<T>(y);
    for (std::int64_t b = 0; b < batch; ++b) {
      const std::int64_t length = lengths[static_cast<std::size_t>(b)];
      if (length < 0 || length > time) {
        fail("length " + std::to_string(length) + " at [" + std::to_string(b) + "] of " +
             call.name_of(1) + " is not within 0 to " + std::to_string(time));
      }
      for (std::int64_t t = 0; t < time; ++t) {
        const std::int64_t source = t < length ? length - 1 - t : t;
        const std::int64_t row = b * strides[batch_axis];
        std::copy_n(from.begin() + row + source * strides[time_axis], inner,
                    to.begin() + row + t * strides[time_axis]);
      }
    }
  });
  return {std::move(y)};
}

}  // namespace

const Kernel host_reverse_sequence{nullptr, run, true};

}  // namespace concord::host
