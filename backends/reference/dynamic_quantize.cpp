#include <algorithm>

#include "backends/host/cast.h"
#include "backends/reference/kernel.h"

namespace concord::reference {
namespace {

constexpr double kHighest = 255;  // of u8

// A value that is rounded to u8: what it was before goes along.
template <typename N>
OracleValue rounded_to_u8(Output<N>& exact, const Tensor& whole) {
  OracleValue result = exact.finish();
  result.declared = DataType::u8;
  result.overflow = false;
  result.unrounded = std::move(result.value);
  result.value = host::cast(whole, DataType::u8, true);
  return result;
}

template <typename N>
std::vector<OracleValue> compute(const Call& call) {
  const Shape& shape = call.shape(0);
  const double* x = call.data(0);
  N lowest = number<N>(0);
  N highest = number<N>(0);
  for (std::int64_t i = 0; i < call.input(0).count(); ++i) {
    lowest = smaller(lowest, number<N>(x[i]));
    highest = larger(highest, number<N>(x[i]));
  }
  // A tensor of zeros needs no scale; 1 avoids dividing by 0.
  const bool empty = value_of(highest) == value_of(lowest);
  const N scale = empty ? number<N>(1) : (highest - lowest) / number<N>(kHighest);
  const N exact_zero = -lowest / scale;
  const double zero =
      std::clamp(std::nearbyint(static_cast<double>(value_of(exact_zero))), 0.0, kHighest);

  Output<N> y(call, 0, shape);
  Tensor whole(DataType::f64, shape);
  const auto to = whole.as_mutable<double>();
  for (std::int64_t i = 0; i < y.count(); ++i) {
    N quotient = number<N>(x[i]) / scale;
    to[static_cast<std::size_t>(i)] =
        std::nearbyint(static_cast<double>(value_of(quotient))) + zero;
    if constexpr (kUncertain<N>) {
      quotient.value += static_cast<real_t<N>>(zero);
    } else {
      quotient += static_cast<real_t<N>>(zero);
    }
    y.set(i, quotient);
  }
  Output<N> scale_output(call, 1, {});
  scale_output.set(0, scale);
  Output<N> zero_output(call, 2, {});
  zero_output.set(0, exact_zero);
  std::vector<OracleValue> results;
  results.push_back(rounded_to_u8(y, whole));
  results.push_back(scale_output.finish());
  results.push_back(rounded_to_u8(zero_output, Tensor::scalar(zero)));
  return results;
}

std::vector<OracleValue> run(const Call& call) {
  return with_number(call, [&](auto tag) { return compute<typename decltype(tag)::type>(call); });
}

}  // namespace

const Kernel reference_dynamic_quantize{run};

}  // namespace concord::reference
