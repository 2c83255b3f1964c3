#include "backends/reference/kernel.h"
#include "backends/reference/quantization.h"

namespace concord::reference {
namespace {

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const DataType to = call.attrs().dtype("to");
  const Shape& shape = call.shape(0);
  const QuantScales scales(call, shape);
  const std::vector<double> x = real_values(call.input(0));
  QuantisedOutput<N> y(call, shape, to, call.attrs().integer("saturate", 1) != 0);
  parallel_for(y.count(), grain_for(20), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      y.set(i, number<N>(x[static_cast<std::size_t>(i)]), scales.scale(i), scales.zero_point(i));
    }
  });
  return {y.finish()};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_quantize{run};

}  // namespace concord::reference
