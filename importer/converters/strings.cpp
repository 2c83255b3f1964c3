#include "importer/converter_table.h"
#include "importer/converters/common.h"

namespace concord::importer {
namespace {

void normalize(Conversion& c) {
  c.ignore({"locale"});  // case mapping is Unicode's, the same in all of them
  const std::string change = lower_case(c.text("case_change_action", "NONE"));
  c.output(0, c.emit(OpKind::string_normalize, {c.input(0)},
                     {{"stopwords", list_of(c.texts("stopwords").value_or(Texts{}))},
                      {"case", change},
                      {"case_sensitive", c.integer("is_case_sensitive", 0)}}));
}

void split(Conversion& c) {
  const auto results = c.emit_many(
      OpKind::string_split, {c.input(0)},
      {{"delimiter", c.text("delimiter", "")}, {"max_split", c.integer("maxsplit", -1)}},
      {true, true});
  c.output(0, results[0]);
  c.output(1, results[1]);
}

void concat(Conversion& c) {
  c.output(0, c.binary(BinaryFn::add, c.input(0), c.input(1)));
}

void regex_full_match(Conversion& c) {
  c.output(0, c.emit(OpKind::regex_match, {c.input(0)}, {{"pattern", c.text("pattern")}}));
}

void tfidf(Conversion& c) {
  const auto texts = c.texts("pool_strings");
  const auto integers = c.integers("pool_int64s");
  if (!texts && !integers) c.invalid("it has neither pool_strings nor pool_int64s");
  const auto indexes = c.integers("ngram_indexes").value_or(std::vector<std::int64_t>{});
  std::int64_t size = 0;
  for (const std::int64_t index : indexes) size = std::max(size, index + 1);
  ValueId x = c.input(0);
  if (!texts) x = c.cast(x, DataType::i64);
  c.output(0, c.emit(OpKind::tfidf, {x},
                     {{"mode", c.text("mode")},
                      {"min_gram", c.integer("min_gram_length")},
                      {"max_gram", c.integer("max_gram_length")},
                      {"skip", c.integer("max_skip_count")},
                      {"pool", texts ? list_of(*texts) : Tensor::from_ints(*integers)},
                      {"starts", c.integers("ngram_counts").value_or(std::vector<std::int64_t>{})},
                      {"indexes", indexes},
                      {"weights", c.numbers("weights").value_or(std::vector<double>{})},
                      {"size", size}}));
}

constexpr Converter kConverters[] = {
    {kOnnx, "RegexFullMatch", 20, kLatest, regex_full_match},
    {kOnnx, "StringConcat", 20, kLatest, concat},
    {kOnnx, "StringNormalizer", 10, kLatest, normalize},
    {kOnnx, "StringSplit", 20, kLatest, split},
    {kOnnx, "TfIdfVectorizer", 9, kLatest, tfidf},
};

}  // namespace

std::span<const Converter> strings_converters() {
  return kConverters;
}

}  // namespace concord::importer
