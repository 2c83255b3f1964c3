#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

std::vector<Tensor> run(const Call& call) {
  const Shape& shape = call.input(0).shape();
  if (shape.size() != 2) {
    fail("an identity matrix has rank 2, not " + std::to_string(shape.size()));
  }
  const DataType to = call.node.attrs.dtype("to");
  const std::int64_t k = call.node.attrs.integer("k", 0);
  Tensor y = Tensor::zeros(to, shape);
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    const std::int64_t column = row + k;
    if (column < 0 || column >= shape[1]) continue;
    const auto at = static_cast<std::size_t>(row * shape[1] + column);
    with_raw(to, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_integral_v<T>) {
        raw_mutable<T>(y)[at] = static_cast<T>(is_float(to) ? float_to_bits(to, 1.0) : 1u);
      }
    });
  }
  return {std::move(y)};
}

}  // namespace

const Kernel host_eye_like{nullptr, run};

}  // namespace concord::host
