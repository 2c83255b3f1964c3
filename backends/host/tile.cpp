#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const std::vector<std::int64_t> repeats = call.list("repeats", 1);
  if (repeats.size() != x.shape().size()) {
    fail(std::to_string(repeats.size()) + " repeats do not fit a tensor of rank " +
         std::to_string(x.rank()));
  }
  // Each axis becomes two: [repeat, extent], the first with stride 0.
  Shape shape;
  Shape wide;
  Shape from;
  const Shape dense = contiguous_strides(x.shape());
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    std::int64_t extent = 0;
    if (repeats[d] < 0 || __builtin_mul_overflow(repeats[d], x.shape()[d], &extent)) {
      fail("an axis of " + std::to_string(x.shape()[d]) + " elements cannot be repeated " +
           std::to_string(repeats[d]) + " times");
    }
    shape.push_back(extent);
    wide.insert(wide.end(), {repeats[d], x.shape()[d]});
    from.insert(from.end(), {0, dense[d]});
  }
  Tensor y(x.dtype(), shape);
  with_raw(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    copy_strided(raw_mutable<T>(y).data(), contiguous_strides(wide), raw<T>(x).data(), from, wide);
  });
  return {std::move(y)};
}

}  // namespace

const Kernel host_tile{nullptr, run, true};

}  // namespace concord::host
