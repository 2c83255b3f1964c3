#pragma once

#include <cstdint>
#include <vector>

#include "backends/reference/kernel.h"

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

}  // namespace concord::reference
