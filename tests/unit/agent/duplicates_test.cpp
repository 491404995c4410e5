#include "agent/duplicates.h"

#include "fakes.h"

#include <gmock/gmock.h>

namespace sweep::agent {
namespace {

using test::call;
using test::says;
using test::World;

TEST(PlanLines, AreThoseOfThePlanWhateverTheirBlanks) {
  EXPECT_EQ(plan_lines("//@  let a  = 1\nint x;\n  //@ k<<<1, 32>>>(a)"),
            "let a = 1\nk<<<1, 32>>>(a)\n");
  EXPECT_EQ(plan_lines("/*@ k<<<1, 1>>>()\n\n  zero(y) */\nint x;"), "k<<<1, 1>>>()\nzero(y)\n");
  EXPECT_EQ(plan_lines("/*@ k<<<1, 1>>>()"), "");
  // What the parser takes for a plan, and nothing else: a launch must not hide from the key.
  EXPECT_EQ(plan_lines("\xEF\xBB\xBF//@ zero(y)\r\n//@ k<<<1, 1>>>(y) // twice"),
            "zero(y)\nk<<<1, 1>>>(y)\n");
  EXPECT_EQ(plan_lines("\f//@ zero(y)\nint a; //@ zero(y)\n//@ k<<<1, 1>>>(y)"),
            "k<<<1, 1>>>(y)\n");
}

TEST(JudgedKeys, DifferWithEverythingThatDecides) {
  ToolSettings settings;
  settings.problem = "level1/3";
  JudgedUnder under;
  under.settings = &settings;
  const std::string source = "//@ k<<<1, 1>>>(y)\n__global__ void k(float* y) {}";
  const auto base = judged_keys(source, "", under);
  ASSERT_EQ(base.size(), 1U);
  // Blanks are code in a raw string: R"(a  <newline>b)" is another text than R"(a<newline>b)".
  EXPECT_NE(judged_keys(source + "  \n", "", under), base);
  EXPECT_EQ(judged_keys(source, "code", under).size(), 2U);
  EXPECT_EQ(judged_keys(source + " // other", "code", under).at(1),
            judged_keys("int unused;\n" + source, "code", under).at(1));
  EXPECT_NE(judged_keys(source, "code", under).at(1), judged_keys(source, "other", under).at(1));
  // The same code under another plan is another submission.
  EXPECT_NE(judged_keys("//@ let n = 2\n" + source, "code", under).at(1),
            judged_keys(source, "code", under).at(1));
  const auto changed = [&](const auto& change) {
    ToolSettings other = settings;
    JudgedUnder there = under;
    change(other, there);
    there.settings = &other;
    EXPECT_NE(judged_keys(source, "", there), base);
  };
  changed([](auto& s, auto&) { s.problem = "level1/4"; });
  changed([](auto& s, auto&) { s.seed = 2; });
  changed([](auto& s, auto&) { s.submit_trials = 6; });
  changed([](auto& s, auto&) { s.stress_gates = false; });
  changed([](auto& s, auto&) { s.nvcc = true; });
  changed([](auto& s, auto&) { s.isa = problem::IsaPolicy::off; });
  changed([](auto& s, auto&) { s.allow_unsandboxed = true; });
  changed([](auto& s, auto&) { s.submission = Submission::timed; });
  changed([](auto& s, auto&) { s.device = device::parse_id("cuda:0"); });
  changed([](auto&, auto& u) { u.problem_sha256 = "x"; });
  changed([](auto&, auto& u) { u.seed_sha256 = "x"; });
  changed([](auto&, auto& u) { u.device = "another GPU"; });
  changed([](auto&, auto& u) { u.version = "2"; });
  changed([](auto&, auto& u) { u.epoch = 1; });
}

TEST(JudgedBefore, IsAnsweredFromTheRecordAndSaysSo) {
  World first;
  first.item.attempt = 1;
  first.model.answers = {says("", {call("submit_kernel", "fast")})};
  const record::Trajectory one = first.run();
  ASSERT_EQ(first.memory.tools.size(), 1U);
  ASSERT_EQ(first.memory.tools[0].facts.at("keys").size(), 1U);
  World second;
  second.item.attempt = 2;
  second.memory.artifacts = first.memory.artifacts;
  second.memory.known[first.memory.tools[0].facts["keys"][0]] = {
      first.memory.tools[0].output_sha256, "the first item"};
  second.model.answers = {says("", {call("submit_kernel", "fast")})};
  const record::Trajectory two = second.run();
  EXPECT_TRUE(second.judge.requests.empty());
  EXPECT_EQ(two.outcome, one.outcome);
  EXPECT_EQ(two.final_result->verdict, one.final_result->verdict);
  EXPECT_EQ(two.final_result->metadata.at("duplicate_of"), "the first item");
  EXPECT_FALSE(one.final_result->metadata.contains("duplicate_of"));
  EXPECT_EQ(two.turns[0].tool_calls[0].metadata.at("duplicate_of"), "the first item");
  EXPECT_EQ(second.memory.tools[0].facts.at("duplicate_of"), "the first item");
  EXPECT_FALSE(second.memory.tools[0].facts.contains("keys"));
  EXPECT_EQ(second.memory.artifacts.at(two.final_result->kernel_sha256), "fast");
  // Tools that look are not judgements.
  World third;
  third.model.answers = {says("", {call("run_correctness", "fast")}),
                         says("", {call("submit_kernel", "other fast")})};
  (void)third.run();
  EXPECT_FALSE(third.memory.tools[0].facts.contains("keys"));
  EXPECT_TRUE(third.memory.tools[1].facts.contains("keys"));
}

}  // namespace
}  // namespace sweep::agent
