#include "parity/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace concord::parity {
namespace {

double between(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// The interval between order statistics k and n + 1 − k, where `tail(k)` is the probability that
// the true median lies below the k-th (rising in k).
template <class Tail>
Interval between_order_statistics(std::vector<double> values, double confidence, Tail tail) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  std::size_t k = 1;
  while (k < (n + 1) / 2 && 1 - 2 * tail(k + 1) >= confidence) ++k;
  return {between(values, 0.5), values[k - 1], values[n - k], std::max(0.0, 1 - 2 * tail(k))};
}

// P(U < k) for k = 0 … a·b + 1, where U counts the pairs of two samples of sizes a and b that are
// out of order, all orders being equally likely: counts by Mann and Whitney's recurrence.
std::vector<double> mann_whitney(std::size_t a, std::size_t b) {
  // ways[j][u]: arrangements of i values of the first sample and j of the second with U = u.
  std::vector<std::vector<double>> ways(b + 1, std::vector<double>(a * b + 1, 0.0));
  for (auto& row : ways) row[0] = 1;
  for (std::size_t i = 1; i <= a; ++i) {
    for (std::size_t j = 1; j <= b; ++j) {
      // The largest value is the first sample's (above all j) or the second's.
      for (std::size_t u = a * b + 1; u-- > 0;) {
        ways[j][u] = (u >= j ? ways[j][u - j] : 0.0) + ways[j - 1][u];
      }
    }
  }
  double total = 0;
  for (const double count : ways[b]) total += count;
  std::vector<double> below = {0};
  for (const double count : ways[b]) below.push_back(below.back() + count / total);
  return below;
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return between(values, q);
}

Latency latency_of(const std::vector<double>& times) {
  if (times.empty()) return {};
  return {quantile(times, 0.5), *std::min_element(times.begin(), times.end()), quantile(times, 0.1),
          quantile(times, 0.9), static_cast<int>(times.size())};
}

Interval median_interval(std::vector<double> values, double confidence) {
  const auto n = static_cast<double>(values.size());
  // P(Bin(n, ½) < k), summed in logarithms: 2⁻ⁿ alone underflows for large n.
  const auto tail = [n](std::size_t k) {
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) {
      const auto x = static_cast<double>(i);
      sum += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) -
                      n * std::log(2.0));
    }
    return sum;
  };
  return between_order_statistics(std::move(values), confidence, tail);
}

Interval ratio_interval(const std::vector<double>& a, const std::vector<double>& b,
                        double confidence) {
  if (a.empty() || b.empty()) return {};
  std::vector<double> ratios;
  for (const double x : a) {
    for (const double y : b) ratios.push_back(y / x);
  }
  const std::vector<double> below = mann_whitney(a.size(), b.size());
  return between_order_statistics(std::move(ratios), confidence,
                                  [&below](std::size_t k) { return below[k]; });
}

Interval paired_ratio(const std::vector<double>& a, const std::vector<double>& b,
                      double confidence) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) ratios.push_back(b[i] / a[i]);
  return median_interval(std::move(ratios), confidence);
}

}  // namespace concord::parity
