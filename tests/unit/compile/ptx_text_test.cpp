#include "compile/ptx_text.h"

#include <gmock/gmock.h>

#include <random>

namespace sweep::compile {
namespace {

using submission::Parameter;
using testing::ElementsAre;

std::vector<std::string> first_tokens(const PtxText& text) {
  std::vector<std::string> out;
  for (const PtxStatement& statement : text.statements()) {
    out.emplace_back(statement.tokens.at(0));
  }
  return out;
}

TEST(PtxText, CutsStatements) {
  const PtxText text(
      ".version 8.7\n.target sm_90a, debug\n.address_size 64\n.file 1 \"a;b{\"\n"
      ".visible .entry k(.param .u64 p) .maxntid 256, 1, 1 {\n"
      ".reg .b32 %r<3>; // c; {\n lab: @!%p mov.b64 {%r1, %r2}, %rd1; /* ; */ { ret; } }\n");
  EXPECT_THAT(first_tokens(text), ElementsAre(".visible", ".reg", "mov.b64", "ret"));
  EXPECT_EQ(text.statements()[2].function, 1);
  EXPECT_THAT(text.statements()[2].operand(0), ElementsAre("{", "%r1", ",", "%r2", "}"));
  EXPECT_THAT(text.statements()[2].operand(1), ElementsAre("%rd1"));
  EXPECT_THAT(text.statements()[2].operand(2), testing::IsEmpty());
}

TEST(PtxText, KeepsQualifiersWithTwoColons) {
  const PtxText text("a: cp.async.bulk.shared::cluster.global.mbarrier [x], [y], 16, [z];");
  EXPECT_THAT(first_tokens(text), ElementsAre("cp.async.bulk.shared::cluster.global.mbarrier"));
}

TEST(PtxText, ReadsParameters) {
  const PtxText text(
      ".entry none() { ret; }\n"
      ".visible .entry k(\n\t.param .u64 .ptr .global .align 4 k_0,\n\t.param .f32 k_1,\n"
      "\t.param .u32 k_2, .param .f64 k_3, .param .align 8 .b8 k_4[24], .param .s16 "
      "k_5\n)\n{ret;}\n"
      ".func (.param .b32 r) f(.param .b32 a) { ret; }\n");
  const auto entries = text.entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].name, "none");
  EXPECT_TRUE(entries[0].parameters.empty());
  EXPECT_EQ(entries[1].name, "k");
  std::vector<std::pair<std::size_t, Parameter::Kind>> found;
  for (const Parameter& p : entries[1].parameters) {
    found.emplace_back(p.bytes, p.kind);
  }
  constexpr auto kOpaque = Parameter::Kind::opaque;
  constexpr auto kReal = Parameter::Kind::real;
  EXPECT_THAT(found,
              ElementsAre(std::pair(8, kOpaque),
                          std::pair(4, kReal),
                          std::pair(4, kOpaque),
                          std::pair(8, kReal),
                          std::pair(24, kOpaque),
                          std::pair(2, kOpaque)));
  EXPECT_EQ(entries[1].parameters[4].text, ".param .b8[24]");
}

// Whatever the text: no crash, and statements stay inside it (run under AddressSanitizer in CI).
TEST(PtxText, SurvivesAnyText) {
  std::mt19937 random(11);
  const std::string alphabet = ".entry{}()[];:,@!\"/*\n <>=%$abc019.global.param";
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (std::size_t i = random() % 200; i > 0; --i) {
      text += alphabet[random() % alphabet.size()];
    }
    const PtxText cut(text);
    for (const PtxStatement& statement : cut.statements()) {
      EXPECT_FALSE(statement.tokens.empty());
      (void)statement.operand(random() % 4);
    }
    (void)cut.entries();
  }
}

}  // namespace
}  // namespace sweep::compile
