#include "graph/text.h"

#include <gtest/gtest.h>

namespace concord {
namespace {

TEST(Printable, LeavesTextAlone) {
  for (const char* text : {"", "encoder/layer.0 [a]", "größe", "序列", "\xf0\x9f\x98\x80"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, EscapesWhatMovesTheCursor) {
  EXPECT_EQ(printable("a\x1b[2Jb\n"), "a\\x1b[2Jb\\x0a");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");           // C1's escape sequence introducer
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // right-to-left override
}

TEST(Printable, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("a\xc3"), "a\\xc3");                  // cut
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
}

}  // namespace
}  // namespace concord
