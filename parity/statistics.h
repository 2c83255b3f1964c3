#pragma once

#include <vector>

namespace concord::parity {

struct Latency {
  double median = 0, min = 0, p10 = 0, p90 = 0;  // ms
  int runs = 0;
};

// Quantiles by linear interpolation between order statistics (Hyndman and Fan's type 7).
double quantile(std::vector<double> values, double q);
Latency latency_of(const std::vector<double>& times);

}  // namespace concord::parity
