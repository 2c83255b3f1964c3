#pragma once

#include <vector>

// Statistics of times, free of any assumption on how they are distributed: they have long tails and
// several modes. docs/measuring.md says why these.
namespace concord::parity {

struct Latency {
  double median = 0, min = 0, p10 = 0, p90 = 0;  // ms
  int runs = 0;
};

// Quantiles by linear interpolation between order statistics (Hyndman and Fan's type 7).
double quantile(std::vector<double> values, double q);
Latency latency_of(const std::vector<double>& times);

// A median with an interval that holds the true one with probability `coverage`.
struct Interval {
  double median = 0, low = 0, high = 0;
  double coverage = 0;
};

constexpr double kConfidence = 0.95;

// Of one sample, by the sign test: order statistics k and n + 1 − k with the largest k for which
// 1 − 2·P(Bin(n, ½) < k) ≥ confidence. Fewer than 6 values cannot reach 95 %: `coverage` is then
// that of least and greatest.
Interval median_interval(std::vector<double> values, double confidence = kConfidence);

// Of the ratio b / a of two independent samples of positive values: the median of all pairwise
// ratios (Hodges and Lehmann), and those of them that the Mann–Whitney test does not reject.
Interval ratio_interval(const std::vector<double>& a, const std::vector<double>& b,
                        double confidence = kConfidence);

// Of the ratio b / a of two samples that were taken in pairs, one of each per round: what slowed a
// whole round divides out. Samples are cut to the shorter one.
Interval paired_ratio(const std::vector<double>& a, const std::vector<double>& b,
                      double confidence = kConfidence);

}  // namespace concord::parity
