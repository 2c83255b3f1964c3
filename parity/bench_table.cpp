#include "parity/bench_table.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "parity/markup.h"
#include "parity/text.h"

namespace concord::parity {
namespace {

constexpr std::size_t kMostName = 36;
constexpr std::size_t kGap = 2;
constexpr std::size_t kFloorWidth = kGap + 8;
constexpr std::size_t kCellWidth = 14;  // "12345.6  100 %"

std::string time_of(const BenchCell& cell) {
  if (cell.median_ms) return milliseconds(*cell.median_ms);
  return cell.verdict.empty() ? "-" : cell.verdict;
}

std::string share_of(const BenchCell& cell) {
  if (!cell.median_ms || !cell.floor_ms || !(*cell.median_ms > 0)) return {};
  return percent(*cell.floor_ms / *cell.median_ms);
}

std::string floor_text(const BenchRow& row) {
  if (row.cells.empty() || !row.cells.front().floor_ms) return "-";
  return milliseconds(*row.cells.front().floor_ms);
}

// "12.34   81 %": shares stand below each other.
std::string both(const BenchCell& cell) {
  constexpr std::size_t kShareWidth = 7;
  const std::string share = share_of(cell);
  if (share.empty()) return time_of(cell);
  return time_of(cell) + std::string(kShareWidth - std::min(kShareWidth, share.size()), ' ') +
         share;
}

// A sentence for each mean.
std::vector<std::string> means_text(const BenchTable& table) {
  std::vector<std::string> lines;
  for (const BenchMean& mean : geometric_means(table)) {
    lines.push_back("geometric mean of " + mean.spec + " by " + table.specs.front() + ": " +
                    ratio(mean.ratio) + " over " + std::to_string(mean.rows) +
                    (mean.rows == 1 ? " row" : " rows"));
  }
  return lines;
}

std::string legend(const BenchTable& table) {
  std::string text = "ms: median; %: floor / median. The floor is that of " + table.specs.front();
  if (table.specs.size() > 1) text += ", each share of the backend's own";
  return text;
}

}  // namespace

std::vector<BenchMean> geometric_means(const BenchTable& table) {
  std::vector<BenchMean> means;
  for (std::size_t i = 1; i < table.specs.size(); ++i) {
    BenchMean mean{table.specs[i], 1, 0};
    double logarithms = 0;
    for (const BenchRow& row : table.rows) {
      const std::optional<double>& ratio = row.cells.at(i).against_first;
      if (!ratio || !(*ratio > 0)) continue;
      logarithms += std::log(*ratio);
      ++mean.rows;
    }
    if (mean.rows == 0) continue;
    mean.ratio = std::exp(logarithms / mean.rows);
    means.push_back(std::move(mean));
  }
  return means;
}

std::string to_text(const BenchTable& table) {
  std::size_t name = 4;
  for (const BenchRow& row : table.rows)
    name = std::max(name, std::min(row.name.size(), kMostName));
  std::string text;
  for (std::size_t first = 0; first < table.specs.size();) {
    std::size_t width = name + kFloorWidth;
    std::size_t last = first;
    while (last < table.specs.size()) {
      width += kGap + std::max(table.specs[last].size(), kCellWidth);
      if (width > kTextWidth && last > first) break;
      ++last;
    }
    std::vector<std::string> heads = {"case", "floor ms"};
    for (std::size_t i = first; i < last; ++i) heads.push_back(table.specs[i]);
    Table part(heads, 1);
    for (const BenchRow& row : table.rows) {
      std::vector<std::string> cells = {cut(row.name, kMostName), floor_text(row)};
      for (std::size_t i = first; i < last; ++i) cells.push_back(both(row.cells.at(i)));
      part.add(std::move(cells));
    }
    text += part.text(0);
    first = last;
  }
  for (const std::string& line : means_text(table)) text += wrap(line, 2) + "\n";
  return text + wrap(legend(table), 2) + "\n";
}

std::string to_markdown(const BenchTable& table) {
  std::string text = "| case | floor, ms |";
  std::string rule = "| --- | ---: |";
  for (const std::string& spec : table.specs) {
    text += " " + escape_table_cell(spec) + ", ms | of floor |";
    rule += " ---: | ---: |";
  }
  text += "\n" + rule + "\n";
  for (const BenchRow& row : table.rows) {
    text += "| " + escape_table_cell(row.name) + " | " + floor_text(row) + " |";
    for (const BenchCell& cell : row.cells) {
      const std::string share = share_of(cell);
      text += " " + time_of(cell) + " | " + share + (share.empty() ? "|" : " |");
    }
    text += "\n";
  }
  text += "\n";
  for (const std::string& line : means_text(table)) text += "- " + escape_table_cell(line) + "\n";
  return text + "- " + escape_table_cell(legend(table)) + "\n";
}

nlohmann::json to_json(const BenchMean& mean) {
  return {{"spec", mean.spec}, {"ratio", mean.ratio}, {"rows", mean.rows}};
}

}  // namespace concord::parity
