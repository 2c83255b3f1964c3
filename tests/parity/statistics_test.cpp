#include "parity/statistics.h"

#include <cmath>

#include <gtest/gtest.h>

#include "parity/performance.h"
#include "parity/random.h"

namespace concord::parity {
namespace {

TEST(Statistics, QuantilesInterpolate) {
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 1), 4);
  EXPECT_DOUBLE_EQ(quantile({10, 20}, 0.1), 11);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.9), 7);
  EXPECT_DOUBLE_EQ(quantile({}, 0.5), 0);
}

TEST(Statistics, LatencyOfRuns) {
  const Latency l = latency_of({3, 1, 2});
  EXPECT_DOUBLE_EQ(l.median, 2);
  EXPECT_DOUBLE_EQ(l.min, 1);
  EXPECT_EQ(l.runs, 3);
  EXPECT_EQ(latency_of({}).runs, 0);
}

TEST(Statistics, MedianIntervalIsThatOfTheSignTest) {
  // n = 10: 1 − 2·P(Bin(10, ½) < 2) = 1 − 2·11/1024.
  const Interval i = median_interval({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_DOUBLE_EQ(i.median, 5.5);
  EXPECT_DOUBLE_EQ(i.low, 2);
  EXPECT_DOUBLE_EQ(i.high, 9);
  EXPECT_NEAR(i.coverage, 1 - 22.0 / 1024, 1e-12);
}

TEST(Statistics, FewValuesSayHowLittleTheyCover) {
  const Interval i = median_interval({3, 1, 2});
  EXPECT_DOUBLE_EQ(i.low, 1);
  EXPECT_DOUBLE_EQ(i.high, 3);
  EXPECT_NEAR(i.coverage, 0.75, 1e-12);
  EXPECT_EQ(median_interval({}).coverage, 0);
  EXPECT_LT(median_interval({1}).coverage, 0.5);
}

TEST(Statistics, RatioIntervalIsThatOfMannAndWhitney) {
  // Sizes 4 and 4: of 70 orders, U is 0, 1 in one each: 95 % leaves out the extreme pair only.
  const Interval i = ratio_interval({1, 2, 3, 4}, {10, 20, 30, 40});
  EXPECT_DOUBLE_EQ(i.low, 2.5);
  EXPECT_DOUBLE_EQ(i.high, 40);
  EXPECT_NEAR(i.coverage, 1 - 2.0 / 70, 1e-12);
  EXPECT_DOUBLE_EQ(i.median, 10);
}

// What an interval promises: over many draws from a skewed distribution it holds the true median
// about as often as it says, never much less.
TEST(Statistics, IntervalsCover) {
  Random random(7);
  const auto draw = [&random] { return std::exp(1.5 * random.normal()); };  // median 1
  int median_holds = 0;
  int ratio_holds = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> a;
    std::vector<double> b;
    for (int i = 0; i < 8; ++i) a.push_back(draw());
    for (int i = 0; i < 11; ++i) b.push_back(2 * draw());
    const Interval median = median_interval(a);
    median_holds += median.low <= 1 && 1 <= median.high ? 1 : 0;
    const Interval ratio = ratio_interval(a, b);
    ratio_holds += ratio.low <= 2 && 2 <= ratio.high ? 1 : 0;
  }
  EXPECT_GT(median_holds, 0.94 * kTrials);
  EXPECT_GT(ratio_holds, 0.94 * kTrials);
  EXPECT_LT(ratio_holds, 0.99 * kTrials);  // and it is not empty talk
}

TEST(Statistics, PairsDivideOutWhatSlowsARound) {
  // Rounds drift by a factor of eight; b is always 1.1 a.
  const Interval i = paired_ratio({1, 2, 4, 8, 4, 2}, {1.1, 2.2, 4.4, 8.8, 4.4, 2.2});
  EXPECT_NEAR(i.low, 1.1, 1e-12);
  EXPECT_NEAR(i.high, 1.1, 1e-12);
}

TEST(Speed, IsCalledOnlyBeyondTheNoise) {
  const auto call = [](double low, double high, double coverage, double floor) {
    return judge_ratio({(low + high) / 2, low, high, coverage}, floor).call;
  };
  EXPECT_EQ(call(1.2, 1.3, 0.96, 1.1), Speed::slower);
  EXPECT_EQ(call(1.05, 1.3, 0.96, 1.1), Speed::inconclusive);
  EXPECT_EQ(call(0.95, 1.3, 0.96, 1.0), Speed::inconclusive);
  EXPECT_EQ(call(0.7, 0.8, 0.96, 1.1), Speed::faster);
  EXPECT_EQ(call(0.7, 0.95, 0.96, 1.1), Speed::inconclusive);
  EXPECT_EQ(call(1.2, 1.3, 0.80, 1.1), Speed::inconclusive);  // too few rounds
}

}  // namespace
}  // namespace concord::parity
