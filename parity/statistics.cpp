#include "parity/statistics.h"

#include <algorithm>
#include <cmath>

namespace concord::parity {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

Latency latency_of(const std::vector<double>& times) {
  if (times.empty()) return {};
  return {quantile(times, 0.5), *std::min_element(times.begin(), times.end()), quantile(times, 0.1),
          quantile(times, 0.9), static_cast<int>(times.size())};
}

}  // namespace concord::parity
