#include "parity/markup.h"

namespace concord::parity {

std::string escape_markup(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string escape_table_cell(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '`') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

}  // namespace concord::parity
