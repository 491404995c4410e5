#include "compile/log.h"

#include <gmock/gmock.h>

namespace sweep::compile {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::filesystem::path> kOurs = {"/tmp/work-1"};
const std::vector<std::filesystem::path> kKnown = {"/usr/include", "/usr/local/cuda-13.0/include"};

TEST(CleanLog, TakesOurFoldersOff) {
  EXPECT_EQ(clean_log("/tmp/work-1/mine.cu:3:4: error: x\n", kOurs, kKnown),
            "mine.cu:3:4: error: x\n");
}

TEST(CleanLog, KeepsToolchainPathsAndDivisions) {
  const std::string text = "/usr/include/math.h:3: note: here\n  a = b / c; x//y; 3/4/5 /* c */\n";
  EXPECT_EQ(clean_log(text, kOurs, kKnown), text);
}

TEST(CleanLog, WithholdsForeignPaths) {
  for (const std::string path :
       {"/home/me/.env", "/etc/passwd", "/usr/include/../../etc/passwd", "/root/x/y"}) {
    const std::string log =
        clean_log("In file included from " + path + ":1: error: SECRET=1\n", kOurs, kKnown);
    EXPECT_THAT(log, Not(HasSubstr("SECRET"))) << path;
    EXPECT_THAT(log, HasSubstr("withheld")) << path;
  }
}

TEST(CleanLog, IsBoundedAndPrintable) {
  const std::string log = clean_log(std::string(1 << 20, 'a') + "\x1b[31m\xff", kOurs, kKnown);
  EXPECT_LE(log.size(), kMaxLogBytes + 128);
  EXPECT_EQ(log.find('\x1b'), std::string::npos);
}

// Every line of it names our folder.
TEST(CleanLog, KeepsTheErrorInTheMiddleOfMegabytesOfNotes) {
  std::string raw;
  for (int i = 0; i < 40000; ++i) {
    raw += "/tmp/work-1/mine.cu:9: note: candidate template ignored, substitution failed\n";
    raw += i == 20000 ? "/tmp/work-1/mine.cu:12:3: error: no matching function 'f'\n  f(a);\n" : "";
  }
  const std::string log = clean_log(raw, kOurs, kKnown);
  EXPECT_LE(log.size(), kMaxLogBytes);
  EXPECT_THAT(log, HasSubstr("mine.cu:12:3: error: no matching function 'f'\n  f(a);\n"));
  EXPECT_THAT(log, Not(HasSubstr("/tmp")));
}

TEST(UnsupportedFeature, NamesThePiece) {
  EXPECT_EQ(
      unsupported_feature(
          "a.cu:1: error: static assertion failed: unsupported on device cpu: inline PTX (asm)\n"),
      "inline PTX (asm)");
  EXPECT_EQ(unsupported_feature("a.cu:1:10: fatal error: cub/cub.cuh: No such file or directory\n"),
            "CUB");
  EXPECT_EQ(
      unsupported_feature("a.cu:1: error: \xe2\x80\x98nvcuda\xe2\x80\x99 has not been declared\n"),
      "wmma");
  EXPECT_EQ(unsupported_feature("/tmp/c.s:17: Error: no such instruction: `mov.u32 %eax'\n"),
            "inline PTX (asm)");
}

TEST(UnsupportedFeature, IgnoresQuotedSource) {
  EXPECT_EQ(unsupported_feature(
                "a.cu:2:1: error: 'x' was not declared\n  2 | // like cub/cub.cuh and mma.h\n"),
            "");
}

}  // namespace
}  // namespace sweep::compile
