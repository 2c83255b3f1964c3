#pragma once

#include <string>
#include <vector>

// Plain text for terminals: numbers, lines and tables that fit the page.
namespace concord::parity {

constexpr std::size_t kTextWidth = 100;

std::string format(const char* pattern, double v);  // printf's, one number
std::string number(double v);                       // 4 digits; exponents where they help
std::string milliseconds(double ms);                // 1.234, 12.34, 123.4
std::string percent(double share);                  // of 1: "42 %"
// Four digits at most with a prefix of a thousand: "12.3 GB", "94.1 GFLOP/s".
std::string with_unit(double v, const std::string& unit);
std::string ratio(double v);  // "1.08"
std::string cut(const std::string& text, std::size_t width);
// Lines of words, no longer than the page, indented after the first.
std::string wrap(const std::string& text, std::size_t indent);

// Columns as wide as their widest cell, the first `left` ones flush left, the others right.
class Table {
 public:
  Table(std::vector<std::string> heads, std::size_t left) : left_(left) { add(std::move(heads)); }
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.size() < 2; }
  std::string text(std::size_t indent) const;

 private:
  std::size_t left_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace concord::parity
