#include "parity/bench_table.h"

#include <gtest/gtest.h>

#include "parity/text.h"

namespace concord::parity {
namespace {

BenchCell measured(double median, double floor, std::optional<double> against) {
  BenchCell cell;
  cell.median_ms = median;
  cell.floor_ms = floor;
  cell.against_first = against;
  return cell;
}

BenchCell failed() {
  BenchCell cell;
  cell.verdict = "failed";
  return cell;
}

BenchTable table() {
  BenchTable t;
  t.specs = {"cpu:threads=2", "cpu:threads=1", "cpu:precision=bf16"};
  t.rows = {{"bert", {measured(10, 8, {}), measured(20, 16, 2.0), measured(5, 4, 0.5)}},
            {"gpt2", {measured(10, 9, {}), measured(80, 72, 8.0), failed()}},
            {"a|b", {failed(), measured(1, 1, {}), BenchCell()}}};
  return t;
}

TEST(BenchTable, MeansAreGeometricAndOfTheRowsThatHaveARatio) {
  const std::vector<BenchMean> means = geometric_means(table());
  ASSERT_EQ(means.size(), 2u);
  EXPECT_EQ(means[0].spec, "cpu:threads=1");
  EXPECT_DOUBLE_EQ(means[0].ratio, 4);
  EXPECT_EQ(means[0].rows, 2);
  EXPECT_DOUBLE_EQ(means[1].ratio, 0.5);
  EXPECT_EQ(means[1].rows, 1);
}

TEST(BenchTable, TextHasEachParticipantsTimeAndShareOfItsOwnFloor) {
  const std::string text = to_text(table());
  EXPECT_NE(text.find("bert     8.000   10.00   80 %   20.00   80 %        5.000   80 %\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("cpu:precision=bf16 by cpu:threads=2: 0.50 over 1 row\n"), std::string::npos)
      << text;
}

TEST(BenchTable, WhatDoesNotFitThePageFollowsBelow) {
  BenchTable wide = table();
  for (int i = 0; i < 6; ++i) {
    wide.specs.push_back("cpu:threads=1" + std::to_string(i));
    for (BenchRow& row : wide.rows) row.cells.push_back(measured(1234.5, 1000, 1.5));
  }
  wide.rows[0].name = std::string(60, 'x');
  const std::string text = to_text(wide);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    EXPECT_LE(end - start, kTextWidth) << text;
    start = end + 1;
  }
  for (const std::string& spec : wide.specs) EXPECT_NE(text.find(spec), std::string::npos) << spec;
}

TEST(BenchTable, MarkdownHasOneRowPerCase) {
  const std::string text = to_markdown(table());
  EXPECT_NE(text.find("| gpt2 | 9.000 | 10.00 | 90 % | 80.00 | 90 % | failed | |\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("| a\\|b | - | failed | | 1.000 | 100 % | - | |\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("geometric mean"), std::string::npos);
}

}  // namespace
}  // namespace concord::parity
