#include "parity/statistics.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace concord::parity
