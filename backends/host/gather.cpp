#include <algorithm>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const Tensor& indices = call.input(1);
  const std::size_t axis = call.axis(x.rank());
  const std::int64_t extent = x.shape()[axis];
  const std::int64_t outer = extent_product(x.shape(), 0, axis);
  const std::int64_t inner = extent_product(x.shape(), axis + 1, x.shape().size());
  std::vector<std::int64_t> rows = indices.ints();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = checked_index(call, 1, static_cast<std::int64_t>(i), rows[i], extent);
  }
  Shape shape(x.shape().begin(), x.shape().begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), indices.shape().begin(), indices.shape().end());
  shape.insert(shape.end(), x.shape().begin() + static_cast<std::ptrdiff_t>(axis) + 1,
               x.shape().end());
  Tensor y(x.dtype(), shape);
  with_raw(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto from = raw<T>(x);
    auto to = raw_mutable<T>(y).begin();
    for (std::int64_t o = 0; o < outer; ++o) {
      for (const std::int64_t row : rows) {
        to = std::copy_n(from.begin() + (o * extent + row) * inner, inner, to);
      }
    }
  });
  return {std::move(y)};
}

}  // namespace

const Kernel host_gather{nullptr, run, true};

}  // namespace concord::host
