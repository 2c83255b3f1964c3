#include "importer/text.h"

#include "graph/text.h"

namespace concord::importer {

std::string quote(std::string_view name) {
  constexpr std::size_t kLongest = 120;
  constexpr std::size_t kKept = 56;
  // Cut before it is escaped: half a character becomes bytes that are escaped.
  if (name.size() <= kLongest) return "'" + printable(name) + "'";
  return "'" + printable(name.substr(0, kKept)) + "…" +
         printable(name.substr(name.size() - kKept)) + "'";
}

std::string shown(std::string_view sentence) {
  constexpr std::size_t kLongest = 600;
  constexpr std::size_t kKept = 280;
  if (sentence.size() <= kLongest) return printable(sentence);
  return printable(sentence.substr(0, kKept)) + "…" +
         printable(sentence.substr(sentence.size() - kKept));
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
