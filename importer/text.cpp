#include "importer/text.h"

#include <cstdio>

namespace concord::importer {

std::string quote(std::string_view name) {
  constexpr std::size_t kLongest = 120;
  constexpr std::size_t kKept = 56;
  std::string text = "'";
  const auto add = [&](std::string_view part) {
    for (const char c : part) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x20 && byte != 0x7f) {
        text += c;
      } else {
        char buffer[8];
        std::snprintf(buffer, sizeof buffer, "\\x%02x", byte);
        text += buffer;
      }
    }
  };
  if (name.size() <= kLongest) {
    add(name);
  } else {
    add(name.substr(0, kKept));
    text += "…";
    add(name.substr(name.size() - kKept));
  }
  return text + "'";
}

std::string operator_name(std::string_view domain, std::string_view op) {
  std::string text;
  if (!domain.empty()) text = std::string(domain) + ".";
  text += op;
  const std::string safe = quote(text);
  return safe.substr(1, safe.size() - 2);
}

std::string counted(long long count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace concord::importer
