#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/host/cast.h"
#include "backends/reference/kernel.h"
#include "backends/reference/rounding.h"

namespace concord::reference {

// Scales and zero points of quantize and dequantize: one for all, one per index of an axis, or one
// per block along it.
class QuantScales {
 public:
  // Operands 1 (scale) and 2 (zero point) beside x. Throws Error(invalid) if they do not fit.
  QuantScales(const Call& call, const Shape& x);

  double scale(std::int64_t element) const { return scales_[place(element)]; }
  double zero_point(std::int64_t element) const {
    return zeros_.empty() ? 0 : zeros_[place(element)];
  }

 private:
  std::size_t place(std::int64_t element) const;

  std::vector<double> scales_;
  std::vector<double> zeros_;
  std::int64_t axis_extent_ = 1;
  std::int64_t inner_ = 1;
  std::int64_t block_ = 0;   // elements of the axis that share a scale; 0: one scale for all
  std::int64_t blocks_ = 1;  // along the axis
  bool blocked_ = false;
};

// Elements of any real type as float64.
std::vector<double> real_values(const Tensor& t);

// What quantising gives: x / scale + zero point, and the number of the type that it is rounded to.
template <typename N>
class QuantisedOutput {
 public:
  QuantisedOutput(const Call& call, Shape shape, DataType to, bool saturate)
      : exact_(call, 0, shape),
        rounded_(DataType::f64, std::move(shape)),
        to_(to),
        saturate_(saturate),
        whole_(rounded_.template as_mutable<double>()) {
    if (is_integer(to)) limits_ = integer_limits(to);
  }

  std::int64_t count() const { return exact_.count(); }

  void set(std::int64_t i, const N& x, double scale, double zero) {
    const auto at = static_cast<std::size_t>(i);
    N quotient = x / number<N>(scale);
    if (is_integer(to_)) {
      const double moved_by = std::nearbyint(static_cast<double>(value_of(quotient))) + zero;
      whole_[at] = std::clamp(moved_by, limits_.lowest, limits_.highest);
      const real_t<N> moved = value_of(quotient) + static_cast<real_t<N>>(zero);
      if constexpr (kUncertain<N>) {
        quotient.value = moved;
      } else {
        quotient = moved;
      }
    } else {
      whole_[at] = round_to(to_, static_cast<double>(value_of(quotient)), saturate_);
    }
    exact_.set(i, quotient);
  }

  OracleValue finish() {
    OracleValue result = exact_.finish();
    result.declared = to_;
    result.overflow = false;
    result.unrounded = std::move(result.value);
    result.value = is_integer(to_) ? host::cast(rounded_, to_, true) : std::move(rounded_);
    return result;
  }

 private:
  Output<N> exact_;
  Tensor rounded_;
  DataType to_;
  bool saturate_;
  std::span<double> whole_;
  IntegerLimits limits_{};
};

}  // namespace concord::reference
