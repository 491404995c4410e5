#include "cli/style.h"

#include "util/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::cli {
namespace {

TEST(Wrapped, BreaksAtBlanksAndIndents) {
  EXPECT_EQ(wrapped("one two three", 2, 9), "  one two\n  three\n");
  EXPECT_EQ(wrapped("one two three", 2, 0), "  one two three\n");
  EXPECT_EQ(wrapped("a\nb", 1, 80), " a\n b\n");
  EXPECT_EQ(wrapped("", 3, 80), "   \n");
}

TEST(Wrapped, AWordLongerThanTheLineStandsAlone) {
  EXPECT_EQ(wrapped("x abcdefghij y", 0, 6), "x\nabcdefghij\ny\n");
}

TEST(Wrapped, CountsCharactersNotBytes) {
  EXPECT_EQ(wrapped("größe größe", 0, 11), "größe größe\n");
}

TEST(Wrapped, ColourTakesNoRoom) {
  EXPECT_EQ(wrapped("\x1b[31mone\x1b[0m two", 0, 7), "\x1b[31mone\x1b[0m two\n");
}

TEST(Wrapped, KeepsEveryWordInOrder) {
  const std::string text =
      "the kernel ran as host code inside the sandbox, 12 of 65 elements wrong";
  for (std::size_t width = 1; width < 90; ++width) {
    std::string joined = wrapped(text, 0, width);
    for (const std::string_view line : util::split(joined, '\n')) {
      EXPECT_TRUE(line.size() <= width || line.find(' ') == std::string_view::npos) << line;
    }
    for (char& c : joined) {
      c = c == '\n' ? ' ' : c;
    }
    EXPECT_EQ(joined, text + " ");
  }
}

}  // namespace
}  // namespace sweep::cli
