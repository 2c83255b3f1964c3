#include <algorithm>

#include "backends/reference/kernel.h"

namespace concord::reference {
namespace {

// y = x / (bias + alpha/size · Σ x²)^beta, over the channels around.
template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const Shape& shape = call.shape(0);
  const std::int64_t channels = call.extent(0, 1);
  const std::int64_t inner = host::extent_product(shape, 2, shape.size());
  const std::int64_t size = call.attrs().integer("size");
  const N factor = number<N>(call.attrs().number("alpha")) / number<N>(static_cast<double>(size));
  const N bias = number<N>(call.attrs().number("bias"));
  const N beta = number<N>(call.attrs().number("beta"));
  const double* x = call.data(0);
  Output<N> y(call, 0, shape);
  parallel_for(y.count(), grain_for(50), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t channel = i / inner % channels;
      const std::int64_t first = std::max<std::int64_t>(0, channel - (size - 1) / 2);
      const std::int64_t last = std::min(channels - 1, channel + size / 2);
      Sum<N> squares;
      for (std::int64_t c = first; c <= last; ++c) {
        const N value = number<N>(x[i + (c - channel) * inner]);
        squares.add_product(value, value);
      }
      y.set(i, number<N>(x[i]) / pow(bias + factor * squares.result(), beta));
    }
  });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_lrn{run};

}  // namespace concord::reference
