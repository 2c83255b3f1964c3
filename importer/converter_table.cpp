#include "importer/converter_table.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace concord::importer {
namespace {

using Key = std::pair<std::string_view, std::string_view>;
using Table = std::multimap<Key, const Converter*>;

const Table& table() {
  static const Table instance = [] {
    Table result;
    for (const std::span<const Converter> family : {
#define CONCORD_CONVERTERS(family) family##_converters(),
#include "importer/converters.def"
#undef CONCORD_CONVERTERS
         }) {
      for (const Converter& converter : family) {
        result.emplace(Key{converter.domain, converter.op}, &converter);
      }
    }
    return result;
  }();
  return instance;
}

}  // namespace

const Converter* find_converter(std::string_view domain, std::string_view op, std::int64_t opset) {
  const auto [begin, end] = table().equal_range(Key{domain, op});
  for (auto it = begin; it != end; ++it) {
    if (opset >= it->second->since && opset <= it->second->until) return it->second;
  }
  return nullptr;
}

std::optional<std::string> known_opsets(std::string_view domain, std::string_view op) {
  const auto [begin, end] = table().equal_range(Key{domain, op});
  std::string text;
  for (auto it = begin; it != end; ++it) {
    if (!text.empty()) text += ", ";
    text += std::to_string(it->second->since);
    if (it->second->until == kLatest) {
      text += " and later";
    } else if (it->second->until != it->second->since) {
      text += " to " + std::to_string(it->second->until);
    }
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

std::vector<Converter> all_converters() {
  std::vector<Converter> all;
  for (const auto& [key, converter] : table()) all.push_back(*converter);
  return all;
}

}  // namespace concord::importer
