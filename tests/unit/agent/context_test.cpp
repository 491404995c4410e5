// What is sent of a long conversation, and what the record says about it.
#include "agent/sampling.h"
#include "agent/session.h"
#include "fakes.h"
#include "util/error.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

namespace sweep::agent {
namespace {

using test::call;
using test::says;
using test::World;
using testing::HasSubstr;

endpoint::EndpointFailure overflow() {
  endpoint::EndpointFailure out;
  out.kind = endpoint::FailureKind::context_overflow;
  out.status = 400;
  out.text = "host: maximum context length is 8192 tokens";
  out.attempts = {{400, "context_overflow", "", 0.1, 0}};
  return out;
}

// Each call has its result behind it, each result its call, and the user never speaks twice in a
// row.
void expect_paired(const endpoint::Conversation& sent) {
  ASSERT_GE(sent.size(), 2U);
  EXPECT_EQ(sent[0].speaker, endpoint::Speaker::system);
  EXPECT_EQ(sent[1].speaker, endpoint::Speaker::user);
  std::set<std::string> open;
  for (std::size_t i = 1; i < sent.size(); ++i) {
    if (sent[i].speaker == endpoint::Speaker::tool) {
      EXPECT_EQ(open.erase(sent[i].call_id), 1U) << "a result without its call";
      continue;
    }
    EXPECT_TRUE(open.empty()) << "a call without its result";
    if (sent[i].speaker == endpoint::Speaker::user) {
      EXPECT_NE(sent[i - 1].speaker, endpoint::Speaker::user);
    }
    for (const endpoint::ToolCall& one : sent[i].calls)
      open.insert(one.id);
  }
  EXPECT_TRUE(open.empty());
}

TEST(Overflow, IsMendedByLeavingEarlierTurnsOut) {
  World w;
  w.model.answers = {says("answer one", {call("compile_kernel", "a")}),
                     says("answer two", {call("compile_kernel", "b")}),
                     says("answer three", {call("compile_kernel", "c")}),
                     overflow(),
                     says("fourth", {call("submit_kernel", "fast")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.outcome, "correct");
  ASSERT_EQ(t.turns.size(), 4U);
  EXPECT_TRUE(t.chat_history_window_truncated);
  EXPECT_TRUE(t.turns[2].trimmed.is_null());
  const nlohmann::json& trimmed = t.turns[3].trimmed;
  EXPECT_EQ(trimmed.at("reason"), "overflow");
  EXPECT_GT(trimmed.at("messages"), 0);
  EXPECT_LT(trimmed.at("bytes_after"), trimmed.at("bytes_before"));
  EXPECT_EQ(t.turns[3].requests[0].error, "context_overflow");
  expect_paired(w.model.asked[4]);
  EXPECT_LT(w.model.asked[4].size(), w.model.asked[3].size());
  EXPECT_THAT(w.model.asked[4][1].text, HasSubstr("Earlier turns are left out"));
  // The last turn is there, the first is not.
  const std::string shown = t.turns[3].messages_in.dump();
  EXPECT_THAT(shown, HasSubstr("answer three"));
  EXPECT_THAT(shown, testing::Not(HasSubstr("answer one")));
}

TEST(Overflow, LongResultsAreCutWhereTurnsAreNotEnough) {
  World w;
  w.config.agent.harness.max_turns = 3;
  for (int i = 0; i < 3000; ++i)
    w.task.device += "fact " + std::to_string(i) + "\n";
  w.model.answers = {says("first", {{"c", "get_gpu_specs", "{}"}}),
                     overflow(),
                     says("second", {call("submit_kernel", "fast")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.outcome, "correct") << t.error;
  ASSERT_TRUE(t.turns[1].trimmed.is_object());
  EXPECT_EQ(t.turns[1].trimmed.at("results_cut"), 1);
  EXPECT_EQ(t.turns[1].trimmed.at("messages"), 0);
  expect_paired(w.model.asked[2]);
}

TEST(Overflow, OnceThenItFailsClearly) {
  World w;
  w.model.answers = {says("first", {call("compile_kernel", "a")}),
                     says("second", {call("run_correctness", "fast")}),
                     overflow(),
                     overflow()};
  const record::Trajectory t = w.run();
  EXPECT_EQ(w.model.asked.size(), 4U);
  EXPECT_EQ(t.stop_reason, "endpoint");
  EXPECT_EQ(t.error_code, "E_ENDPOINT_CONTEXT_OVERFLOW");
  EXPECT_THAT(t.error, HasSubstr("too long even without the earlier turns"));
  EXPECT_EQ(t.outcome, "correct");  // the fastest correct version is handed in all the same
  World x;
  x.model.answers = {overflow()};
  const record::Trajectory u = x.run();
  EXPECT_EQ(x.model.asked.size(), 1U);
  EXPECT_EQ(u.outcome, "error");
  EXPECT_THAT(u.error, HasSubstr("no earlier turns to leave out"));
}

TEST(Overflow, IsReplayedFromTheRecord) {
  World first;
  first.model.answers = {says("first", {call("compile_kernel", "a")}),
                         says("second", {call("compile_kernel", "b")}),
                         overflow(),
                         says("third", {call("run_correctness", "fast")})};
  first.memory.stop = [&] { return first.judge.requests.size() == 3; };
  EXPECT_EQ(first.run().stop_reason, "interrupted");
  ASSERT_EQ(first.memory.requests.size(), 4U);
  World second;
  second.model.answers = first.model.answers;
  second.model.answers.emplace_back(says("fourth", {call("submit_kernel", "fast")}));
  second.model.next = 4;
  second.memory.artifacts = first.memory.artifacts;
  second.memory.old_requests = first.memory.requests;
  second.memory.old_tools = first.memory.tools;
  const record::Trajectory t = second.run();
  EXPECT_EQ(second.model.asked.size(), 1U);
  EXPECT_EQ(t.outcome, "correct");
  EXPECT_EQ(t.turns[2].trimmed.at("reason"), "overflow");
  EXPECT_TRUE(t.turns[2].replayed);
  expect_paired(second.model.asked[0]);
}

// Whatever the window, whatever was called, and wherever it overflows.
TEST(Window, IsAlwaysPaired) {
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<std::size_t>(random() % n); };
  for (int round = 0; round < 60; ++round) {
    World w;
    w.config.agent.harness.max_turns = 9;
    w.config.agent.harness.max_tool_calls = 100;
    if (const std::size_t tail = below(7); tail > 0)
      w.config.agent.chat_context_tail_messages = static_cast<std::int64_t>(tail);
    int kernel = 0;
    for (int turn = 0; turn < 9; ++turn) {
      if (turn > 1 && below(4) == 0)
        w.model.answers.emplace_back(overflow());
      std::vector<endpoint::ToolCall> calls;
      for (std::size_t n = below(4); n > 0; --n)
        calls.push_back(call("compile_kernel", "k" + std::to_string(++kernel)));
      w.model.answers.emplace_back(says("turn " + std::to_string(turn), std::move(calls)));
    }
    const record::Trajectory t = w.run();
    EXPECT_TRUE(t.stop_reason == "turns" || t.stop_reason == "endpoint") << t.stop_reason;
    for (const endpoint::Conversation& sent : w.model.asked)
      expect_paired(sent);
  }
}

TEST(ToolLog, EachTurnHasItsTokensTimesAndTheBestSpeedupSoFar) {
  World w;
  w.config.agent.harness = config::builtin_harness("optimize");
  w.config.agent.harness.max_turns = 3;
  w.config.agent.turn_delay_s = 10;
  w.model.answers = {says("", {call("submit_kernel", "slow")}),
                     says("", {call("submit_kernel", "fast")}),
                     says("", {call("submit_kernel", "plain")})};
  const record::Trajectory t = w.run();
  ASSERT_EQ(t.turns.size(), 3U);
  EXPECT_EQ(t.turns[0].tokens_before, 0);
  EXPECT_EQ(t.turns[0].tokens_after, 110);
  EXPECT_EQ(t.turns[2].tokens_before, 220);
  EXPECT_EQ(t.turns[2].tokens_after, 330);
  EXPECT_DOUBLE_EQ(t.turns[0].started_s, 0);
  EXPECT_DOUBLE_EQ(t.turns[1].started_s, 10);
  EXPECT_DOUBLE_EQ(t.turns[1].tool_calls[0].started_s, 10);
  EXPECT_EQ(t.turns[0].best_visible_speedup, 0.5);
  EXPECT_EQ(t.turns[1].best_visible_speedup, 2);
  EXPECT_EQ(t.turns[2].best_visible_speedup, 2);
}

TEST(Sampling, EachAttemptHasASeedOfItsOwnThatModelsShare) {
  World w;
  std::set<std::int64_t> seen;
  for (std::int64_t attempt = 1; attempt <= 20; ++attempt) {
    w.item.attempt = attempt;
    seen.insert(*sampling_seed(w.config, w.config.models[0], w.item));
  }
  EXPECT_EQ(seen.size(), 20U);
  EXPECT_GE(*seen.begin(), 1);
  EXPECT_LT(*seen.rbegin(), std::int64_t{1} << 31);
  w.item.attempt = 1;
  const auto one = sampling_seed(w.config, w.config.models[0], w.item);
  config::Model other = w.config.models[0];
  other.name = "other";
  EXPECT_EQ(sampling_seed(w.config, other, w.item), one);
  w.config.agent.harness = config::builtin_harness("all");
  EXPECT_EQ(sampling_seed(w.config, other, w.item), one);
  other.sampling.seed = 7;
  EXPECT_NE(sampling_seed(w.config, other, w.item), one);
  w.config.run.seed = 1;
  EXPECT_NE(sampling_seed(w.config, w.config.models[0], w.item), one);
  // The same on every machine and in every version: a run goes on with the seeds it began with.
  w.config.run.seed = 0;
  EXPECT_EQ(*sampling_seed(w.config, w.config.models[0], w.item), 1617492783);
}

TEST(Sampling, IsSentAndRecordedUnlessTheServerIsToldNothingUnasked) {
  World w;
  w.model.answers = {says("", {call("submit_kernel", "fast")})};
  const record::Trajectory t = w.run();
  ASSERT_TRUE(w.model.last_settings.seed);
  EXPECT_EQ(t.sampling.at("seed"), *w.model.last_settings.seed);
  World strict;
  strict.config.models[0].endpoint.values["strict_params"] = "true";
  strict.model.answers = w.model.answers;
  (void)strict.run();
  EXPECT_FALSE(strict.model.last_settings.seed);
}

}  // namespace
}  // namespace sweep::agent
