#include <algorithm>

#include "backends/host/cast.h"
#include "backends/reference/kernel.h"
#include "backends/reference/quantization.h"
#include "backends/reference/rounding.h"

namespace concord::reference {
namespace {

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const DataType to = call.attrs().dtype("to");
  const Shape& shape = call.shape(0);
  const QuantScales scales(call, shape);
  const std::vector<double> x = real_values(call.input(0));
  // x/scale + zero point, before it is rounded.
  Output<N> exact(call, 0, shape);
  Tensor rounded(DataType::f64, shape);
  const auto whole = rounded.as_mutable<double>();
  const bool integer = is_integer(to);
  const IntegerLimits limits = integer_limits(to);
  const bool saturate = call.attrs().integer("saturate", 1) != 0;
  parallel_for(exact.count(), grain_for(20), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      N quotient = number<N>(x[at]) / number<N>(scales.scale(i));
      if (integer) {
        const double zero = scales.zero_point(i);
        const double moved_by = std::nearbyint(static_cast<double>(value_of(quotient))) + zero;
        whole[at] = std::clamp(moved_by, limits.lowest, limits.highest);
        const real_t<N> moved = value_of(quotient) + static_cast<real_t<N>>(zero);
        if constexpr (kUncertain<N>) {
          quotient.value = moved;
        } else {
          quotient = moved;
        }
      } else {
        whole[at] = round_to(to, static_cast<double>(value_of(quotient)), saturate);
      }
      exact.set(i, quotient);
    }
  });
  OracleValue result = exact.finish();
  result.declared = to;
  result.overflow = false;
  result.unrounded = std::move(result.value);
  result.value = integer ? host::cast(rounded, to, true) : std::move(rounded);
  return {std::move(result)};
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_quantize{run};

}  // namespace concord::reference
