#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  if (x.rank() < 2)
    fail("a triangle is taken of matrices, not of rank " + std::to_string(x.rank()));
  const auto given = call.node.attrs.has("k") || call.has(1);
  const std::int64_t k = given ? call.integer("k", 1) : 0;
  const bool upper = call.node.attrs.integer("upper") != 0;
  const std::int64_t columns = x.shape().back();
  const std::int64_t rows = x.shape()[x.shape().size() - 2];
  Tensor y(x.dtype(), x.shape());
  with_raw(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto from = raw<T>(x);
    const auto to = raw_mutable<T>(y);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::int64_t column = static_cast<std::int64_t>(i) % columns;
      const std::int64_t row = static_cast<std::int64_t>(i) / columns % rows;
      const bool kept = upper ? column - row >= k : column - row <= k;
      to[i] = kept ? from[i] : T{};
    }
  });
  return {std::move(y)};
}

}  // namespace

const Kernel host_trilu{nullptr, run, true};

}  // namespace concord::host
