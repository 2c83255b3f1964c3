#include <cctype>

#include "graph/dim.h"

namespace concord {
namespace {

// term (('+'|'-') term)*, term: factor ('*' factor | '/' factor | '//' factor)*.
class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  std::optional<Dim> parse() {
    auto d = sum();
    skip();
    return d && at_ == text_.size() ? d : std::nullopt;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // A '-' inside a word ("batch-size") belongs to it; a minus has a blank before it or a number or
  // a parenthesis behind it.
  bool take_minus() {
    const std::size_t before = at_;
    skip();
    if (at_ >= text_.size() || text_[at_] != '-') return false;
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
    const bool minus = at_ > before || next == ' ' || next == '(' ||
                       std::isdigit(static_cast<unsigned char>(next)) != 0;
    if (minus) ++at_;
    return minus;
  }
  std::optional<Dim> sum() {
    auto left = term();
    while (left) {
      const bool plus = take('+');
      if (!plus && !take_minus()) break;
      const auto right = term();
      if (!right) return std::nullopt;
      left = plus ? *left + *right : *left - *right;
    }
    return left;
  }
  std::optional<Dim> term() {
    auto left = factor();
    while (left) {
      const bool times = take('*');
      if (!times && !take('/')) break;
      if (!times) take('/');
      const auto right = factor();
      if (!right) return std::nullopt;
      left = times ? *left * *right : Dim::floor_div(*left, *right);
    }
    return left;
  }
  std::optional<Dim> factor() {
    if (depth_ > 32) return std::nullopt;
    if (take('(')) {
      ++depth_;
      const auto inner = sum();
      --depth_;
      return inner && take(')') ? inner : std::nullopt;
    }
    skip();
    const std::size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || text_[at_] == '.')) {
      ++at_;
    }
    if (at_ == start) return std::nullopt;
    const std::string word = text_.substr(start, at_ - start);
    if (word.find_first_not_of("0123456789") == std::string::npos) {
      return word.size() < 18 ? std::optional(Dim(std::stoll(word))) : std::nullopt;
    }
    return Dim::symbol(word);
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Dim parse_dim(const std::string& text) {
  constexpr std::size_t longest = 256;
  if (text.size() <= longest) {
    if (const auto dim = Parser(text).parse()) return *dim;
  }
  // A symbol's name must not read like a printed expression, nor like a dynamic extent.
  std::string name = text;
  for (char& c : name) {
    if (c == '*' || c == '(' || c == ')' || c == ',') c = '_';
  }
  for (std::size_t at = 0; (at = name.find(" + ", at)) != std::string::npos;) name[at + 1] = '_';
  for (std::size_t at = 0; (at = name.find(" - ", at)) != std::string::npos;) name[at + 1] = '_';
  if (name.empty() || name.front() == '?') name = "_" + name;
  return Dim::symbol(name);
}

}  // namespace concord
