// Answers that the model's output limit cut off.
#include "agent/session.h"
#include "fakes.h"

#include <gmock/gmock.h>

namespace sweep::agent {
namespace {

using test::call;
using test::says;
using test::World;
using testing::HasSubstr;
using testing::Not;

endpoint::Completion cut(const std::string& text, std::vector<endpoint::ToolCall> calls = {}) {
  endpoint::Completion out = says(text, std::move(calls));
  out.finish = endpoint::Finish::length;
  out.finish_raw = "length";
  return out;
}

TEST(Cut, IsToldWithWhatToDoAndCounted) {
  World w;
  w.model.answers = {cut("First I derive"), says("", {call("submit_kernel", "fast")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.outcome, "correct");
  EXPECT_EQ(t.answers_cut, 1);
  EXPECT_TRUE(t.turns[0].provider_truncated);
  EXPECT_THAT(w.model.asked[1].back().text, HasSubstr("cut off by the output limit"));
  EXPECT_THAT(w.model.asked[1].back().text, HasSubstr("Send less text"));
  EXPECT_THAT(w.model.asked[1].back().text, HasSubstr("submit_kernel"));
  EXPECT_THAT(w.model.asked[1].back().text, Not(HasSubstr("called no tool")));
}

TEST(Cut, ThreeInARowWithNothingToRunEndIt) {
  World w;
  for (int i = 0; i < 6; ++i)
    w.model.answers.emplace_back(cut("again " + std::to_string(i)));
  const record::Trajectory t = w.run();
  EXPECT_EQ(w.model.asked.size(), 3U);
  EXPECT_EQ(t.stop_reason, "policy_stop");
  EXPECT_EQ(t.outcome, "error");
  EXPECT_EQ(t.error_code, "E_AGENT_CUT");
  EXPECT_THAT(t.error, HasSubstr("raise max_tokens"));
  EXPECT_EQ(t.answers_cut, 3);
}

TEST(Cut, WhatRunsBeginsTheCountAnew) {
  World w;
  endpoint::ToolCall half = call("compile_kernel", "x");
  half.problem = "the arguments were cut off by the output limit: send the call again, shorter";
  w.model.answers = {cut("one"),
                     cut("", {half}),
                     cut("", {call("run_correctness", "fast")}),
                     cut("one"),
                     cut("two"),
                     says("", {call("submit_kernel", "fast")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.stop_reason, "submitted");
  EXPECT_EQ(t.answers_cut, 5);
}

TEST(Cut, TheBestVersionIsHandedInAllTheSame) {
  World w;
  w.model.answers = {says("", {call("run_correctness", "fast")}), cut("1"), cut("2"), cut("3")};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.stop_reason, "policy_stop");
  EXPECT_EQ(t.outcome, "correct");
}

TEST(Cut, HalfAKernelIsNoVersion) {
  World w;
  w.config.agent.harness = config::builtin_harness("repair");
  const std::string open = "```cuda\n__global__ void fast() {";
  w.model.answers = {cut("Here:\n" + open),
                     cut("```cuda\n__global__ void wrong() {}\n```\nBetter:\n" + open),
                     says("```cuda\n__global__ void fast() {}\n")};
  const record::Trajectory t = w.run();
  EXPECT_THAT(t.turns[0].feedback_to_model, HasSubstr("cut off by the output limit"));
  EXPECT_THAT(t.turns[0].feedback_to_model, HasSubstr("4 answers left."));
  EXPECT_TRUE(t.turns[0].tool_calls.empty());
  EXPECT_THAT(t.turns[1].feedback_to_model, HasSubstr("last complete block was tried"));
  EXPECT_THAT(t.turns[1].feedback_to_model, HasSubstr("Incorrect"));
  EXPECT_EQ(t.stop_reason, "first_correct");
  EXPECT_EQ(t.outcome, "correct");
}

TEST(Cut, AfterTheLastAnswerNothingIsAskedFor) {
  for (const char* harness : {"repair", "single_turn"}) {
    World w;
    w.config.agent.harness = config::builtin_harness(harness);
    w.config.agent.harness.max_turns = 1;
    w.model.answers = {cut("```cuda\n__global__ void fast() {")};
    const record::Trajectory t = w.run();
    EXPECT_EQ(t.outcome, "error") << harness;
    EXPECT_THAT(t.turns[0].feedback_to_model, Not(HasSubstr("Send less"))) << harness;
    EXPECT_TRUE(w.judge.requests.empty());
  }
}

}  // namespace
}  // namespace sweep::agent
