#include "backends/reference/kernel.h"
#include "backends/reference/quantization.h"

namespace concord::reference {
namespace {

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const Shape& shape = call.shape(0);
  const QuantScales scales(call, shape);
  const std::vector<double> x = real_values(call.input(0));
  Output<N> y(call, 0, shape);
  parallel_for(y.count(), grain_for(10), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double q = x[static_cast<std::size_t>(i)] - scales.zero_point(i);
      y.set(i, number<N>(q) * number<N>(scales.scale(i)));
    }
  });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_dequantize{run};

}  // namespace concord::reference
