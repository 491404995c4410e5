#include "util/fences.h"

#include <gmock/gmock.h>

#include <string>

namespace sweep::util {
namespace {

using testing::ElementsAre;

std::vector<std::string> contents(std::string_view text) {
  std::vector<std::string> out;
  for (const FencedBlock& block : fenced_blocks(text))
    out.push_back(std::string(block.content) + (block.closed ? "" : "(open)"));
  return out;
}

TEST(Fences, BothMarksAndAnyLength) {
  EXPECT_THAT(contents("a\n```cuda\nx\n```\nb\n~~~\ny\n~~~\n"), ElementsAre("x\n", "y\n"));
  EXPECT_THAT(contents("  ````cpp\nx\n```\ny\n  `````\n"), ElementsAre("x\n```\ny\n"));
  EXPECT_THAT(contents("~~~~\n```\nx\n```\n~~~\n~~~~"), ElementsAre("```\nx\n```\n~~~\n"));
  EXPECT_THAT(contents("```\r\nx\r\n```\r\n"), ElementsAre("x\r\n"));
}

TEST(Fences, WhatIsNone) {
  EXPECT_THAT(contents("``\nx\n``\n"), ElementsAre());
  EXPECT_THAT(contents("Use ```x``` here.\n```x``` too\n"), ElementsAre());
  EXPECT_THAT(contents(""), ElementsAre());
}

TEST(Fences, AnEndThatIsMissing) {
  EXPECT_THAT(contents("```cuda\nx\ny"), ElementsAre("x\ny(open)"));
  EXPECT_THAT(contents("```"), ElementsAre("(open)"));
  // The next block of the same kind begins, whatever was forgotten.
  EXPECT_THAT(contents("```cuda\nx\nBetter:\n```cuda\ny\n```\n"),
              ElementsAre("x\nBetter:\n", "y\n"));
}

TEST(Fences, TellWhereTheyStand) {
  const std::string text = "a\n```\nx\n```\nb";
  const auto block = fence_at(text, 2);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->begin, 2U);
  EXPECT_EQ(text.substr(block->end), "b");
  EXPECT_FALSE(fence_at(text, 0));
}

}  // namespace
}  // namespace sweep::util
