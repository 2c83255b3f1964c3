#include <cmath>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& indices = call.input(0);
  const Tensor& values = call.input(2);  // [off, on]
  if (values.count() != 2) {
    fail(call.name_of(2) + " holds " + std::to_string(values.count()) +
         " values instead of off and on");
  }
  const std::int64_t depth = call.integer("depth", 1);
  if (depth < 0) fail(call.name_of(1) + ", the depth, is " + std::to_string(depth));
  const std::size_t axis = call.axis(indices.rank() + 1);
  Shape shape = indices.shape();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  const std::int64_t inner = extent_product(shape, axis + 1, shape.size());
  const std::vector<std::int64_t> hot = indices.ints();
  Tensor y(values.dtype(), shape);
  with_raw(values.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto off_on = raw<T>(values);
    const auto to = raw_mutable<T>(y);
    std::fill(to.begin(), to.end(), off_on[0]);
    for (std::size_t i = 0; i < hot.size(); ++i) {
      // Outside [−depth, depth) all are off.
      if (hot[i] < -depth || hot[i] >= depth) continue;
      const std::int64_t at = hot[i] < 0 ? hot[i] + depth : hot[i];
      const auto flat = static_cast<std::int64_t>(i);
      to[static_cast<std::size_t>((flat / inner * depth + at) * inner + flat % inner)] = off_on[1];
    }
  });
  return {std::move(y)};
}

}  // namespace

const Kernel host_one_hot{nullptr, run};

}  // namespace concord::host
