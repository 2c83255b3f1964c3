#include "backends/host/cast.h"

#include "backends/reference/kernel.h"
#include "backends/reference/rounding.h"

namespace concord::reference {
namespace {

// One of the places where the model says that it rounds.
std::vector<OracleValue> run(const Call& call) {
  const DataType to = call.attrs().dtype("to");
  const bool saturate = call.attrs().integer("saturate", 1) != 0;
  const Tensor& x = call.input(0);
  if (!is_float(x.dtype()) || !is_float(to)) {
    return {exact_output(call, 0, host::cast(x, to, saturate))};
  }
  Tensor y(DataType::f64, x.shape());
  const double* from = call.data(0);
  const auto values = y.as_mutable<double>();
  parallel_for(y.count(), grain_for(10), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      values[static_cast<std::size_t>(i)] = round_to(to, from[i], saturate);
    }
  });
  return {exact_output(call, 0, std::move(y))};
}

}  // namespace

const Kernel reference_cast{run};

}  // namespace concord::reference
