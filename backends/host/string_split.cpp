#include "backends/host/elements.h"
#include "backends/host/kernel.h"

namespace concord::host {
namespace {

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f');
}

// At runs of white space, those at the ends apart; after `most` splits the rest is one part.
std::vector<std::string> at_spaces(const std::string& text, std::int64_t most) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  const auto skip = [&](bool spaces) {
    while (at < text.size() && is_space(text[at]) == spaces) ++at;
  };
  for (skip(true); at < text.size(); skip(true)) {
    const std::size_t begin = at;
    if (most >= 0 && static_cast<std::int64_t>(parts.size()) == most) {
      at = text.size();
    } else {
      skip(false);
    }
    parts.push_back(text.substr(begin, at - begin));
  }
  return parts;
}

std::vector<std::string> at_delimiter(const std::string& text, const std::string& delimiter,
                                      std::int64_t most) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (most < 0 || static_cast<std::int64_t>(parts.size()) < most) {
    const std::size_t end = text.find(delimiter, begin);
    if (end == std::string::npos) break;
    parts.push_back(text.substr(begin, end - begin));
    begin = end + delimiter.size();
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const std::string& delimiter = call.node.attrs.text("delimiter");
  const std::int64_t most = call.node.attrs.integer("max_split");
  std::vector<std::vector<std::string>> split;
  std::size_t width = 0;
  Tensor counts(DataType::i64, x.shape());
  for (const std::string& text : x.strings()) {
    auto parts = delimiter.empty() ? at_spaces(text, most) : at_delimiter(text, delimiter, most);
    width = std::max(width, parts.size());
    counts.as_mutable<std::int64_t>()[split.size()] = static_cast<std::int64_t>(parts.size());
    split.push_back(std::move(parts));
  }
  Shape shape = x.shape();
  shape.push_back(static_cast<std::int64_t>(width));
  Tensor y(DataType::string, std::move(shape));
  for (std::size_t i = 0; i < split.size(); ++i) {
    std::move(split[i].begin(), split[i].end(),
              y.mutable_strings().begin() + static_cast<std::ptrdiff_t>(i * width));
  }
  return {std::move(y), std::move(counts)};
}

}  // namespace

const Kernel host_string_split{nullptr, run};

}  // namespace concord::host
