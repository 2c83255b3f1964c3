#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// Many models' speed in one table: a row for each model, or for each of its cases.
namespace concord::parity {

// A participant on one model.
struct BenchCell {
  std::string verdict;  // "failed", "unsupported"; empty where it was measured or skipped
  std::optional<double> median_ms;
  std::optional<double> floor_ms;       // parity/floor.h; where its device's ceilings are known
  std::optional<double> against_first;  // its time by the first participant's; not of itself
};

struct BenchRow {
  std::string name;
  std::vector<BenchCell> cells;  // as the table's participants
};

struct BenchTable {
  std::vector<std::string> specs;
  std::vector<BenchRow> rows;
};

struct BenchMean {
  std::string spec;
  double ratio = 1;  // geometric mean of against_first
  int rows = 0;      // that have one
};

// Of each participant after the first that has a ratio anywhere.
std::vector<BenchMean> geometric_means(const BenchTable& table);

// The floor is the first participant's, each share (floor / median) of its own. Terminal's text has
// 100 columns at most, if names allow: what does not fit beside follows below.
std::string to_text(const BenchTable& table);
std::string to_markdown(const BenchTable& table);
nlohmann::json to_json(const BenchMean& mean);

}  // namespace concord::parity
