#include "tests/host/host_case.h"

namespace concord::test {
namespace {

std::string normalized(const Tensor& x, std::initializer_list<const char*> stopwords,
                       const char* change, bool case_sensitive) {
  const auto count = static_cast<std::int64_t>(stopwords.size());
  return host_text(OpKind::string_normalize, {x},
                   {{"stopwords", strings({count}, stopwords)},
                    {"case", std::string(change)},
                    {"case_sensitive", std::int64_t{case_sensitive ? 1 : 0}}});
}

TEST(StringNormalize, TakesOutStopwordsAndChangesCase) {
  const Tensor days = strings({4}, {"monday", "Tuesday", "monday", "Ärger"});
  EXPECT_EQ(normalized(days, {"monday"}, "none", true), "string[2]{Tuesday, Ärger}");
  EXPECT_EQ(normalized(days, {"tuesday"}, "upper", false), "string[3]{MONDAY, MONDAY, ÄRGER}");
  EXPECT_EQ(normalized(days, {"tuesday"}, "lower", true),
            "string[4]{monday, tuesday, monday, ärger}");
  EXPECT_EQ(normalized(strings({1, 2}, {"a", "b"}), {"a", "b"}, "none", true), "string[1, 1]{}");
  EXPECT_EQ(normalized(strings({0}, {}), {}, "none", true), "string[0]{}");
  EXPECT_EQ(normalized(strings({1}, {"\xff\xc3z"}), {}, "upper", true), "string[1]{\xff\xc3Z}");
}

std::vector<Tensor> split(const Tensor& x, const char* delimiter, std::int64_t most) {
  return host_run(OpKind::string_split, {x},
                  {{"delimiter", std::string(delimiter)}, {"max_split", most}},
                  {DataType::string, DataType::i64});
}

TEST(StringSplit, SplitsAtDelimitersAndSpaces) {
  const auto commas = split(strings({2}, {"a,,b", ""}), ",", -1);
  EXPECT_EQ(shown(commas[0]), "string[2, 3]{a, , b, , , }");
  EXPECT_EQ(shown(commas[1]), "int64[2]{3, 1}");
  const auto spaces = split(strings({2}, {"  a \t b  c ", ""}), "", 1);
  EXPECT_EQ(shown(spaces[0]), "string[2, 2]{a, b  c , , }");
  EXPECT_EQ(shown(spaces[1]), "int64[2]{2, 0}");
  const auto none = split(strings({0, 2}, {}), "", -1);
  EXPECT_EQ(shown(none[0]), "string[0, 2, 0]{}");
  const auto scalar = split(strings({}, {"a--b--c"}), "--", 1);
  EXPECT_EQ(shown(scalar[0]), "string[2]{a, b--c}");
  EXPECT_EQ(shown(scalar[1]), "int64[]{2}");
}

TEST(RegexMatch, WantsTheWholeString) {
  const graph::Attributes pattern{{"pattern", std::string("a+b?")}};
  EXPECT_EQ(host_text(OpKind::regex_match, {strings({4}, {"aa", "ab", "abb", ""})}, pattern),
            "bool[4]{1, 1, 0, 0}");
  EXPECT_EQ(host_text(OpKind::regex_match, {strings({0}, {})}, pattern), "bool[0]{}");
  EXPECT_NE(
      host_error(OpKind::regex_match, {strings({1}, {"a"})}, {{"pattern", std::string("(?=a)")}})
          .find("is no regular expression of RE2"),
      std::string::npos);
}

TEST(Binary, PutsStringsTogether) {
  EXPECT_EQ(host_text(OpKind::binary, {strings({2, 1}, {"a", ""}), strings({2}, {"x", "y"})},
                      {{"fn", std::string("add")}}),
            "string[2, 2]{ax, ay, x, y}");
}

TEST(Lookup, OfStrings) {
  const graph::Attributes attrs{{"keys", strings({2}, {"a", "b"})},
                                {"values", strings({2}, {"x", "y"})},
                                {"default", strings({1}, {"?"})}};
  EXPECT_EQ(host_text(OpKind::lookup, {strings({3}, {"b", "", "a"})}, attrs), "string[3]{y, ?, x}");
}

std::string tfidf(const Tensor& x, const char* mode, std::int64_t min_gram, std::int64_t max_gram,
                  std::int64_t skip, std::vector<double> weights = {}) {
  // Words 2, 3; pairs (5, 6), (7, 8), (6, 7).
  return host_text(OpKind::tfidf, {x},
                   {{"mode", std::string(mode)},
                    {"min_gram", min_gram},
                    {"max_gram", max_gram},
                    {"skip", skip},
                    {"pool", i64({8}, {2, 3, 5, 6, 7, 8, 6, 7})},
                    {"starts", std::vector<std::int64_t>{0, 2}},
                    {"indexes", std::vector<std::int64_t>{4, 0, 1, 2, 3}},
                    {"weights", std::move(weights)},
                    {"size", std::int64_t{5}}});
}

TEST(Tfidf, CountsNGrams) {
  const Tensor row = i64({8}, {2, 5, 6, 7, 8, 2, 6, 7});
  EXPECT_EQ(tfidf(row, "TF", 1, 1, 0), "float32[5]{0, 0, 0, 0, 2}");
  EXPECT_EQ(tfidf(row, "TF", 1, 2, 0), "float32[5]{0, 1, 1, 2, 2}");
  EXPECT_EQ(tfidf(row, "IDF", 2, 2, 0), "float32[5]{0, 1, 1, 1, 0}");
  EXPECT_EQ(tfidf(row, "TFIDF", 1, 2, 0, {0.5, 9, 1, 2, 3}), "float32[5]{0, 1, 2, 6, 1}");
  // Two places apart: (5, 7), (6, 8), (8, 6), … and no pair of the pool but none.
  EXPECT_EQ(tfidf(i64({3}, {5, 0, 6}), "TF", 2, 2, 1), "float32[5]{0, 1, 0, 0, 0}");
  EXPECT_EQ(tfidf(i64({2, 2}, {5, 6, 3, 3}), "TF", 1, 2, 0),
            "float32[2, 5]{0, 1, 0, 0, 0, 2, 0, 0, 0, 0}");
  EXPECT_EQ(tfidf(i64({0}, {}), "TF", 1, 2, 0), "float32[5]{0, 0, 0, 0, 0}");
}

}  // namespace
}  // namespace concord::test
