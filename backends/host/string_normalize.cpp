#include <clocale>
#include <cwctype>
#include <set>

#include "backends/host/elements.h"
#include "backends/host/kernel.h"
#include "backends/host/utf8.h"

namespace concord::host {
namespace {

enum class Letters : std::uint8_t { kept, lower, upper };

// Unicode's simple case mapping, as the C library has it; that of ASCII where it has none.
class CaseMapping {
 public:
  CaseMapping() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {}
  CaseMapping(const CaseMapping&) = delete;
  CaseMapping& operator=(const CaseMapping&) = delete;
  ~CaseMapping() {
    if (locale_ != nullptr) freelocale(locale_);
  }

  std::string operator()(const std::string& text, Letters letters) const {
    if (letters == Letters::kept) return text;
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      const auto letter = decode_utf8(text, at);
      if (!letter) {
        result.push_back(text[at++]);
        continue;
      }
      const auto wide = static_cast<wint_t>(*letter);
      append_utf8(result, letters == Letters::lower ? lower(wide) : upper(wide));
    }
    return result;
  }

 private:
  char32_t lower(wint_t c) const {
    return static_cast<char32_t>(locale_ != nullptr ? towlower_l(c, locale_) : towlower(c));
  }
  char32_t upper(wint_t c) const {
    return static_cast<char32_t>(locale_ != nullptr ? towupper_l(c, locale_) : towupper(c));
  }

  locale_t locale_;
};

std::vector<Tensor> run(const Call& call) {
  const Tensor& x = call.input(0);
  const graph::Attributes& attrs = call.node.attrs;
  const Tensor& stopwords = attrs.tensor("stopwords");
  if (stopwords.count() > 0 && x.rank() == 2 && x.shape()[0] != 1) {
    fail(call.name_of(0) + " has " + std::to_string(x.shape()[0]) +
         " rows, and words can be taken out of one only");
  }
  const CaseMapping mapped;
  const Letters compared = attrs.integer("case_sensitive") != 0 ? Letters::kept : Letters::lower;
  std::set<std::string> stops;
  for (const std::string& word : stopwords.strings()) stops.insert(mapped(word, compared));
  const std::string& change = attrs.text("case");
  const Letters written = change == "lower"   ? Letters::lower
                          : change == "upper" ? Letters::upper
                                              : Letters::kept;
  std::vector<std::string> words;
  for (const std::string& word : x.strings()) {
    if (!stops.contains(mapped(word, compared))) words.push_back(mapped(word, written));
  }
  Shape shape = x.shape();
  if (stopwords.count() > 0) {
    if (words.empty()) words.emplace_back();
    shape.back() = static_cast<std::int64_t>(words.size());
  }
  Tensor y(DataType::string, std::move(shape));
  std::move(words.begin(), words.end(), y.mutable_strings().begin());
  return {std::move(y)};
}

}  // namespace

const Kernel host_string_normalize{nullptr, run};

}  // namespace concord::host
