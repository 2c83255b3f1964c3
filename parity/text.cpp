#include "parity/text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace concord::parity {

std::string format(const char* pattern, double v) {
  char text[48];
  std::snprintf(text, sizeof text, pattern, v);
  return text;
}

std::string number(double v) {
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  if (v != 0 && (std::abs(v) < 1e-3 || std::abs(v) >= 1e5)) return format("%.2e", v);
  return format("%.4g", v);
}

std::string milliseconds(double ms) {
  return format(ms < 10 ? "%.3f" : ms < 100 ? "%.2f" : "%.1f", ms);
}

std::string percent(double share) {
  return format("%.0f %%", 100 * share);
}

std::string with_unit(double v, const std::string& unit) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (std::abs(v) >= 999.5 && prefix + 1 < std::size(kPrefixes)) {
    v /= 1000;
    ++prefix;
  }
  return format(v == 0 || v >= 100 ? "%.0f"
                : v >= 10          ? "%.1f"
                                   : "%.2f",
                v) +
         " " + kPrefixes[prefix] + unit;
}

std::string ratio(double v) {
  return format(v < 10 ? "%.2f" : v < 100 ? "%.1f" : "%.0f", v);
}

std::string cut(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

std::string wrap(const std::string& text, std::size_t indent) {
  std::string result;
  std::string line;
  std::size_t start = 0;
  const std::string margin(indent, ' ');
  while (start < text.size()) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string word = text.substr(start, end - start);
    if (!line.empty() && line.size() + 1 + word.size() + indent > kTextWidth) {
      result += line + "\n" + margin;
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    start = end + 1;
  }
  return result + line;
}

std::string Table::text(std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string result;
  for (const auto& row : rows_) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      line += (i ? "  " : "") + (i < left_ ? row[i] + space : space + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  }
  return result;
}

}  // namespace concord::parity
