#include "base/one_line.h"

#include <gtest/gtest.h>

namespace burn {
namespace {

TEST(OneLine, LeavesTextAsItIs) {
  EXPECT_EQ(one_line("burn-cpp 0.1.0 (Zürich, 東京, 🙂)"), "burn-cpp 0.1.0 (Zürich, 東京, 🙂)");
}

TEST(OneLine, WritesOutWhatWouldBeginALineOrMoveTheCursor) {
  EXPECT_EQ(one_line("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(one_line("\x1b[2K\x7f"), "\\x1b[2K\\x7f");
  EXPECT_EQ(one_line(std::string_view{"\0", 1}), "\\x00");
  EXPECT_EQ(one_line("\xc2\x9b"
                     "31m"),
            "\\xc2\\x9b31m")
      << "a C1 control";
  EXPECT_EQ(one_line("\xe2\x80\xa8"), "\\xe2\\x80\\xa8") << "U+2028";
  EXPECT_EQ(one_line("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "right to left";
}

TEST(OneLine, WritesOutWhatIsNoUtf8) {
  EXPECT_EQ(one_line("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(one_line("\xc0\x8a"), "\\xc0\\x8a") << "a newline in too many bytes";
  EXPECT_EQ(one_line("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
}

TEST(Quoted, EndsWhereItsQuotesSay) {
  EXPECT_EQ(quoted("x"), "\"x\"");
  EXPECT_EQ(quoted("a\"b\\\"c\n"), "\"a\\\"b\\\\\\\"c\\n\"");
  EXPECT_EQ(quoted("abcdef", 3), "\"abc...\"");
}

}  // namespace
}  // namespace burn
