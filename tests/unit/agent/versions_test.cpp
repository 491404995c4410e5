// Every loop rule of the harnesses whose submit_kernel tries versions.
#include "agent/session.h"
#include "fakes.h"
#include "util/error.h"

#include <gmock/gmock.h>

namespace sweep::agent {
namespace {

using test::call;
using test::says;
using test::World;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct Led : World {
  explicit Led(const char* name) { config.agent.harness = config::builtin_harness(name); }
};

// All that was said since the model's last answer.
std::string said(const endpoint::Conversation& conversation) {
  std::string out;
  for (const endpoint::Message& message : conversation)
    out = message.speaker == endpoint::Speaker::assistant ? "" : out + message.text + "\n";
  return out;
}

std::vector<std::string> judged(const World& w) {
  std::vector<std::string> out;
  for (const evaluate::EvaluationRequest& request : w.judge.requests)
    if (!request.only && request.depth != evaluate::Depth::fast)
      out.push_back(request.submission.text);
  return out;
}

endpoint::ToolCall submit(const std::string& kernel) {
  return call("submit_kernel", kernel);
}

TEST(Repair, TellsTheClassAloneAndStopsAtTheFirstCorrect) {
  Led w("repair");
  w.model.answers = {says("", {submit("broken")}),
                     says("", {submit("wrong")}),
                     says("", {submit("slow but right")}),
                     says("", {submit("fast")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.stop_reason, "first_correct");
  EXPECT_EQ(t.outcome, "correct");
  EXPECT_EQ(t.turns.size(), 3U);
  EXPECT_EQ(t.harness, "repair");
  EXPECT_EQ(t.harness_rules["stop"], "first_correct");
  EXPECT_EQ(t.harness_rules["feedback"], "sanitised");
  EXPECT_TRUE(w.model.last_settings.tool_required);
  EXPECT_THAT(said(w.model.asked[1]), HasSubstr("Compiler error"));
  EXPECT_THAT(said(w.model.asked[1]), HasSubstr("4 answers left"));
  EXPECT_THAT(said(w.model.asked[1]), Not(HasSubstr("vals undefined")));
  EXPECT_THAT(said(w.model.asked[2]), HasSubstr("Incorrect"));
  EXPECT_THAT(said(w.model.asked[2]), Not(HasSubstr("y[3]")));
  // Attempts see visible shapes only; the verdict is the judge's, on that very version.
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(w.judge.requests[i].only, evaluate::Stage::check);
  EXPECT_THAT(judged(w), ElementsAre("slow but right"));
  EXPECT_EQ(t.turns[2].submitted_kernel, "slow but right");
  EXPECT_EQ(t.turns[2].tool_calls.back().origin, "auto");
  EXPECT_EQ(t.turns[0].tool_calls[0].metadata["trial"], true);
  EXPECT_FALSE(t.turns[0].submitted_kernel);
}

TEST(Repair, AVersionThatStressRefutesEndsItAllTheSameAndTellsNothing) {
  Led w("repair");
  w.model.answers = {says("", {submit("hardcoded")}), says("", {submit("fast")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.stop_reason, "first_correct");
  EXPECT_EQ(t.outcome, "incorrect");
  EXPECT_EQ(w.model.asked.size(), 1U);
}

TEST(Repair, EveryAnswerIsAnAttemptWhateverItHolds) {
  Led w("repair");
  endpoint::ToolCall unfinished = submit("x");
  unfinished.problem = "the arguments are not valid JSON";
  unfinished.arguments = "{\"kernel_code";
  w.model.answers = {says("I would use shared memory."),
                     says("", {call("run_correctness", "fast")}),
                     says("", {unfinished}),
                     says("Here:\n```cuda\n__global__ void wrong() {}\n```\n"),
                     says("", {submit("broken"), submit("fast")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(w.model.asked.size(), 5U);
  for (const std::size_t attempt : {1U, 3U})
    EXPECT_THAT(said(w.model.asked[attempt]), HasSubstr("Format error")) << attempt;
  EXPECT_THAT(
      said(w.model.asked[2]),
      HasSubstr("There is no tool 'run_correctness'. Tools: submit_kernel. 3 answers left."));
  EXPECT_THAT(said(w.model.asked[2]), Not(HasSubstr("Format error")));
  EXPECT_THAT(said(w.model.asked[4]), HasSubstr("Incorrect"));
  EXPECT_THAT(said(w.model.asked[4]), HasSubstr("last answer"));
  EXPECT_EQ(t.turns[3].tool_calls[0].origin, "text:fence");
  // One version an answer.
  EXPECT_THAT(t.turns[4].tool_calls[1].result_text, HasSubstr("one version an answer"));
  // None was correct: the last that compiled is judged, so that the outcome has a verdict.
  EXPECT_EQ(t.stop_reason, "turns");
  EXPECT_EQ(t.outcome, "incorrect");
  EXPECT_THAT(judged(w), ElementsAre("__global__ void wrong() {}\n"));
}

TEST(Repair, AttemptsThatNeverCompileEndAsCompileFail) {
  Led w("repair");
  w.config.agent.harness.max_turns = 2;
  w.model.answers = {says("", {submit("broken 1")}), says("", {submit("broken 2")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.stop_reason, "turns");
  EXPECT_EQ(t.outcome, "compile_fail");
  EXPECT_THAT(judged(w), ElementsAre("broken 2"));
}

TEST(Repair, ProseToTheEndIsAnErrorThatSaysSo) {
  Led w("repair");
  for (int i = 0; i < 5; ++i)
    w.model.answers.emplace_back(says("It should be fast."));
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.stop_reason, "turns");
  EXPECT_EQ(t.outcome, "error");
  EXPECT_THAT(t.error, HasSubstr("no kernel was handed in"));
  EXPECT_TRUE(w.judge.requests.empty());
}

TEST(Repair, TheSameTextTwiceEndsIt) {
  Led w("repair");
  w.model.answers = {says("", {submit("wrong")}), says("", {submit("wrong")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.stop_reason, "policy_stop");
  EXPECT_EQ(t.outcome, "incorrect");
  EXPECT_EQ(w.judge.requests.size(), 2U);  // one attempt, one verdict
}

TEST(Optimize, ShowsTheSeedFeedsTimesBackAndHandsInTheFastest) {
  Led w("optimize");
  w.config.agent.harness.max_turns = 4;
  w.task.seed = "__global__ void the_seed() {}";
  w.model.answers = {says("", {submit("plain")}),
                     says("", {submit("fast one")}),
                     says("", {submit("wrong")}),
                     says("", {submit("slow one")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.stop_reason, "turns");
  EXPECT_EQ(t.outcome, "correct");
  EXPECT_THAT(w.model.asked[0][1].text, HasSubstr("the_seed"));
  EXPECT_THAT(said(w.model.asked[1]), HasSubstr("speedup over the seed: 1.000x"));
  EXPECT_THAT(said(w.model.asked[2]), HasSubstr("Best so far: version 2, 2.000x"));
  EXPECT_THAT(said(w.model.asked[2]), HasSubstr("2 answers left"));
  EXPECT_THAT(said(w.model.asked[3]), HasSubstr("y[3] is 1, expected 2"));
  EXPECT_THAT(said(w.model.asked[3]), HasSubstr("last answer"));
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(w.judge.requests[i].depth, evaluate::Depth::fast);
  EXPECT_THAT(judged(w), ElementsAre("fast one"));
  EXPECT_EQ(t.turns.back().submitted_kernel, "fast one");
  // The seed is never handed in for a model that finds nothing.
  EXPECT_EQ(w.model.offered.size(), 1U);
  EXPECT_THAT(w.model.offered[0].description, HasSubstr("its time on the visible shapes"));
}

TEST(Optimize, HandsInTheBestAfterAnEndpointFailureToo) {
  Led w("optimize");
  endpoint::EndpointFailure gone;
  gone.kind = endpoint::FailureKind::overloaded;
  gone.retry = true;
  w.model.answers = {says("", {submit("fast")}), gone};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.stop_reason, "endpoint");
  EXPECT_EQ(t.outcome, "correct");
  EXPECT_THAT(judged(w), ElementsAre("fast"));
}

TEST(Optimize, AnAnswerOfWordsIsToldInWordsOfItsOwn) {
  for (const auto feedback : {config::Feedback::timing, config::Feedback::check}) {
    Led w("optimize");
    w.config.agent.harness.max_turns = 3;
    w.config.agent.harness.feedback = feedback;
    w.model.answers = {says("I would tile it."), says("", {submit("plain")}), says("Done.")};
    const record::Trajectory t = w.run();
    EXPECT_THAT(said(w.model.asked[1]), HasSubstr("Answer 1 holds no version"));
    EXPECT_THAT(said(w.model.asked[1]), HasSubstr("2 answers left."));
    EXPECT_THAT(said(w.model.asked[1]), Not(HasSubstr("Format error")));
    EXPECT_THAT(t.turns[1].feedback_to_model, HasSubstr("1 answer left."));
    EXPECT_THAT(t.turns[2].feedback_to_model, HasSubstr("Answer 3 holds no version"));
    EXPECT_THAT(t.turns[2].feedback_to_model, Not(HasSubstr(" left")));
  }
}

TEST(Versions, NothingIsAskedForAfterTheLastAnswer) {
  for (const char* name : {"repair", "optimize"}) {
    for (const char* kernel : {"broken", "wrong"}) {
      Led w(name);
      w.config.agent.harness.max_turns = 1;
      w.model.answers = {says("", {submit(kernel)})};
      const std::string told = w.run().turns[0].feedback_to_model;
      EXPECT_FALSE(told.empty());
      EXPECT_THAT(told, Not(HasSubstr(" left"))) << name;
      EXPECT_THAT(told, Not(HasSubstr("Call submit_kernel"))) << name;
    }
  }
}

TEST(Optimize, SaysOfCpuTimesThatTheyAreNotRanked) {
  Led w("optimize");
  w.config.agent.harness.max_turns = 3;
  w.model.answers = {
      says("", {submit("plain")}), says("", {submit("wrong")}), says("", {submit("fast")})};
  const Services services{&w.memory, &w.model, &w.judge, &w.clock, false};
  (void)agent::run(w.config, w.item, w.task, device::parse_id("cpu"), {}, services);
  EXPECT_THAT(said(w.model.asked[1]), HasSubstr("ranked nowhere"));
  EXPECT_THAT(said(w.model.asked[2]), Not(HasSubstr("ranked nowhere")));  // it has no times
}

TEST(OneShot, IsOneAnswerAndOneVerdict) {
  Led w("one_shot");
  w.model.answers = {says("", {submit("fast")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.stop_reason, "submitted");
  EXPECT_EQ(t.outcome, "correct");
  EXPECT_EQ(t.max_turns, 1);
  EXPECT_TRUE(w.model.last_settings.tool_required);
  EXPECT_THAT(w.model.asked[0][0].text, HasSubstr("independently"));
}

TEST(OwnHarness, IsLedByItsRules) {
  Led w("optimize");
  config::Harness& own = w.config.agent.harness;
  own.name = "careful";
  own.tools = {"static_check", "submit_kernel"};
  own.stop = config::Stop::first_correct;
  own.feedback = config::Feedback::check;
  own.show_seed = false;
  w.model.answers = {says("", {call("static_check", "wrong"), submit("wrong")}),
                     says("", {submit("fast")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.stop_reason, "first_correct");
  EXPECT_FALSE(w.model.last_settings.tool_required);
  EXPECT_THAT(said(w.model.asked[1]), HasSubstr("y[3] is 1, expected 2"));
  EXPECT_THAT(said(w.model.asked[1]), HasSubstr("9 answers left"));
  EXPECT_THAT(said(w.model.asked[1]), HasSubstr("next: submit_kernel\n"));  // of static_check
  EXPECT_THAT(said(w.model.asked[1]), Not(HasSubstr("compile_kernel")));
  EXPECT_EQ(w.judge.requests[1].only, evaluate::Stage::check);
  EXPECT_EQ(t.harness, "careful");
  EXPECT_EQ(t.harness_rules["base"], "optimize");
}

TEST(Versions, AnInterruptedItemGoesOnWhereItWas) {
  Led first("repair");
  first.model.answers = {says("", {submit("wrong")}), says("", {submit("fast")})};
  first.memory.stop = [&] { return first.judge.requests.size() == 1; };
  EXPECT_EQ(first.run().stop_reason, "interrupted");
  Led second("repair");
  second.model.answers = first.model.answers;
  second.model.next = 1;
  second.memory.artifacts = first.memory.artifacts;
  second.memory.old_requests = first.memory.requests;
  second.memory.old_tools = first.memory.tools;
  const record::Trajectory t = second.run();
  EXPECT_EQ(t.stop_reason, "first_correct");
  EXPECT_EQ(second.judge.requests.size(), 2U);  // the second attempt and the verdict
  EXPECT_TRUE(t.turns[0].replayed);
}

}  // namespace
}  // namespace sweep::agent
