#include "parity/text.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace concord::parity {
namespace {

TEST(Text, Units) {
  EXPECT_EQ(with_unit(0, "B"), "0 B");
  EXPECT_EQ(with_unit(12.34, "B"), "12.3 B");
  EXPECT_EQ(with_unit(999.9, "B"), "1.00 kB");
  EXPECT_EQ(with_unit(94.13e9, "FLOP/s"), "94.1 GFLOP/s");
  EXPECT_EQ(with_unit(5e20, "B"), "500000 PB");
}

TEST(Text, LinesFitThePage) {
  std::string words;
  for (int i = 0; i < 100; ++i) words += "word" + std::to_string(i) + " ";
  const std::string text = wrap(words, 6);
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    EXPECT_LE(end - start, kTextWidth);
    start = end + 1;
  }
}

TEST(Text, TablesAlign) {
  Table table({"name", "ms"}, 1);
  table.add({"a", "1.5"});
  table.add({"longer", "10.25"});
  EXPECT_EQ(table.text(2), "  name       ms\n  a         1.5\n  longer  10.25\n");
}

}  // namespace
}  // namespace concord::parity
