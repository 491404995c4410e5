#include "util/excerpt.h"

#include "util/text.h"

#include <gmock/gmock.h>

namespace sweep::util {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Compilers that explain templates put the error between thousands of notes.
std::string long_log(std::size_t before, std::size_t behind) {
  std::string log = "first line\n";
  for (std::size_t i = 0; i < before; ++i) {
    log += "mine.cu(7): note " + std::to_string(i) + ": candidate template ignored\n";
  }
  log += "mine.cu(4711): error: no instance of function template\n    gemm<1>(a);\n    ^\n";
  for (std::size_t i = 0; i < behind; ++i) {
    log += "mine.cu(9): note " + std::to_string(i) + ": see declaration\n";
  }
  return log + "1 error detected in the compilation.";
}

TEST(Excerpt, ShortTextIsUnchanged) {
  const std::string log = long_log(3, 3);
  EXPECT_EQ(excerpt(log, log.size()), log);
  EXPECT_EQ(excerpt("", 0), "");
}

TEST(Excerpt, AnErrorInTheMiddleSurvivesWithItsSourceLine) {
  for (const std::size_t room : {600U, 2000U, 12288U}) {
    const std::string cut = excerpt(long_log(4000, 4000), room);
    EXPECT_LE(cut.size(), room);
    EXPECT_GT(cut.size(), room / 2);
    EXPECT_THAT(cut, StartsWith("first line\n"));
    EXPECT_THAT(cut,
                HasSubstr("error: no instance of function template\n    gemm<1>(a);\n    ^\n"));
    EXPECT_THAT(cut, HasSubstr("1 error detected in the compilation."));
    EXPECT_THAT(cut, HasSubstr(" lines left out ..."));
  }
}

TEST(Excerpt, ManyErrorsLeaveRoomForHeadAndTail) {
  std::string log = "first line\n";
  for (int i = 0; i < 5000; ++i) {
    log += "mine.cu(" + std::to_string(i) + "): error: identifier is undefined\n";
  }
  const std::string cut = excerpt(log + "last line", 4096);
  EXPECT_LE(cut.size(), 4096U);
  EXPECT_THAT(cut, StartsWith("first line\nmine.cu(0): error:"));
  EXPECT_THAT(cut, HasSubstr("mine.cu(4999): error:"));
  EXPECT_THAT(cut, HasSubstr("\nlast line"));
}

TEST(Excerpt, OneEndlessLineIsCutInItself) {
  const std::string cut = excerpt("a\n" + std::string(2U << 20U, 'x') + " error: y\n" + "b", 4096);
  EXPECT_LE(cut.size(), 4096U);
  EXPECT_THAT(cut, HasSubstr("error: y\nb"));
  EXPECT_THAT(cut, HasSubstr("bytes left out"));
  EXPECT_THAT(excerpt(std::string(2U << 20U, '\n'), 4096), HasSubstr("lines left out"));
}

TEST(Excerpt, CutsFallBetweenCharacters) {
  std::string log;
  for (int i = 0; i < 2000; ++i) {
    log += "\xE2\x82\xAC";
  }
  EXPECT_TRUE(valid_utf8(excerpt(log + "\nerror: " + log, 1024)));
}

TEST(Narrowed, IsOneLine) {
  EXPECT_EQ(narrowed("abc", 10), "abc");
  EXPECT_EQ(narrowed("a\nb", 10), "a b");
  EXPECT_EQ(narrowed("abcdefghijkl", 6), "abcd ... 6 bytes left out ... kl");
}

TEST(FirstError, IsTheFirstLineThatStatesOne) {
  EXPECT_EQ(first_error(long_log(10, 10), 200),
            "mine.cu(4711): error: no instance of function template");
  EXPECT_EQ(first_error("all is well\nno errors", 200), "");
  EXPECT_LE(first_error("error: " + std::string(5000, 'x'), 100).size(), 140U);
  EXPECT_THAT(first_error("error: " + std::string(5000, 'x'), 100), Not(HasSubstr("\n")));
}

TEST(FirstError, KnowsTheWaysOfDifferentTools) {
  for (const char* line : {"kernel.cu(3): error: expected a \";\"",
                           "kernel.cu:3:5: error: expected ';'",
                           "ptxas kernel.ptx, line 9; error   : Unknown symbol 'x'",
                           "ptxas fatal   : Ptx assembly aborted due to errors",
                           "kernel.cu:(.text+0x9): undefined reference to `f()'",
                           "Error: no such instruction: `mov'"}) {
    EXPECT_TRUE(states_error(line)) << line;
  }
  EXPECT_FALSE(states_error("  float error = 0;"));
}

TEST(WithoutFolders, LeavesNamesOnly) {
  EXPECT_EQ(without_folders("In file included from /usr/include/c++/12/cmath:47,\n/opt/x/y.h:3"),
            "In file included from .../cmath:47,\n.../y.h:3");
  EXPECT_EQ(without_folders("'/home/me/.env' (/tmp/a/)"), "'.../.env' (.../)");
  for (const char* text :
       {"a / b", "a/b/c // comment", "/* x */ y", "n/2", "http://host/a/b", "/x"}) {
    EXPECT_EQ(without_folders(text), text);
  }
}

}  // namespace
}  // namespace sweep::util
