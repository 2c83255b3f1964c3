#include "parity/non_finite.h"

#include <algorithm>
#include <cmath>

#include "graph/complex.h"
#include "parity/metrics.h"

namespace concord::parity {
namespace {

std::string text(double v) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", v);
  return buffer;
}

bool has_non_finite(const Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    if (!std::isfinite(tensor.at_double(i))) return true;
  }
  return false;
}

// The element of an operand that numpy's broadcasting puts beside one of the result; -1 if the
// shapes do not broadcast.
std::int64_t beside(const Shape& operand, const Shape& result, std::int64_t element) {
  if (operand.size() > result.size()) return -1;
  const std::size_t offset = result.size() - operand.size();
  const Shape strides = contiguous_strides(operand);
  std::int64_t place = 0;
  for (std::size_t axis = result.size(); axis-- > 0;) {
    const std::int64_t index = element % result[axis];
    element /= result[axis];
    if (axis < offset) continue;
    const std::int64_t extent = operand[axis - offset];
    if (extent != result[axis] && extent != 1) return -1;
    if (extent != 1) place += index * strides[axis - offset];
  }
  return place;
}

std::string describe(const Tensor& operand, const Shape& result, std::int64_t element) {
  std::string line =
      std::string(to_string(operand.dtype())) + concord::to_string(operand.shape()) + ": ";
  const std::int64_t place = beside(operand.shape(), result, element);
  if (place >= 0) return line + text(operand.at_double(place));
  double low = INFINITY;
  double high = -INFINITY;
  for (std::int64_t i = 0; i < operand.count(); ++i) {
    low = std::min(low, operand.at_double(i));
    high = std::max(high, operand.at_double(i));
  }
  return line + text(low) + " to " + text(high);
}

}  // namespace

std::optional<NonFiniteOrigin> origin_of_non_finite(const std::vector<Tensor>& operands,
                                                    const Tensor& result, const Tensor& oracle) {
  if (!is_float(result.dtype())) return std::nullopt;
  std::int64_t first = 0;
  while (first < result.count() && std::isfinite(result.at_double(first))) ++first;
  if (first == result.count()) return std::nullopt;
  for (const Tensor& operand : operands) {
    if (operand.defined() && is_float(operand.dtype()) && has_non_finite(operand)) {
      return std::nullopt;
    }
  }
  NonFiniteOrigin origin;
  const double v = result.at_double(first);
  origin.element = std::string(std::isnan(v) ? "NaN"
                               : v > 0       ? "inf"
                                             : "-inf") +
                   " at " + index_text(result, first);
  origin.oracle = first < oracle.count() ? oracle.at_double(first) : std::nan("");
  for (const Tensor& operand : operands) {
    if (!operand.defined() || operand.count() == 0) continue;
    if (operand.dtype() == DataType::string || is_complex(operand.dtype())) continue;
    origin.operands.push_back(describe(operand, result.shape(), first));
  }
  return origin;
}

}  // namespace concord::parity
