#include "report/compare.h"

#include "report/words.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sweep::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

record::Trajectory trajectory(const std::string& problem, const std::string& outcome) {
  record::Trajectory t;
  t.model_name = "m";
  t.variant = "custom";
  t.level = "1";
  t.problem_id = problem;
  t.item_id = "custom/m/level1/" + problem;
  t.outcome = outcome;
  t.finished_at = "2026-01-31T12:00:00.000Z";
  t.stop_reason = "turns";
  t.harness = "default";
  t.llm_input_tokens = 100;
  t.total_tool_calls = 2;
  t.provenance.device = "cuda:0";
  t.provenance.gpu_name = "G";
  record::Turn turn;
  record::ToolCall call;
  call.tool_name = "run_correctness";
  turn.tool_calls = {call, call};
  t.turns = {turn};
  return t;
}

void put(const record::RunDir& run, const record::Trajectory& t) {
  run.save({t.variant, t.model_name, "level" + t.level, t.problem_id, t.attempt}, t);
}

TEST(Compare, CountsOnlyWhatEndedInEveryRun) {
  const util::TempDir folder;
  const record::RunDir a(folder.path() / "a");
  const record::RunDir b(folder.path() / "b");
  for (const char* problem : {"1", "2", "3"}) {
    put(a, trajectory(problem, "correct"));
  }
  record::Trajectory other = trajectory("1", "incorrect");
  other.harness = "all";
  other.stop_reason = "submitted";
  put(b, other);
  put(b, trajectory("2", "infra_error"));
  record::Trajectory open = trajectory("3", "in_progress");
  open.finished_at.reset();
  put(b, open);
  const Comparison comparison = compare({a, b});
  EXPECT_EQ(comparison.common, 1U);
  EXPECT_EQ(comparison.dropped, 2U);
  ASSERT_EQ(comparison.rows.size(), 2U);
  EXPECT_EQ(comparison.rows[0].correct, 1U);
  EXPECT_EQ(comparison.rows[1].correct, 0U);
  EXPECT_EQ(comparison.rows[1].harness, "all");
  EXPECT_EQ(comparison.rows[1].tools.at("run_correctness"), 2U);
  const std::string shown = text(comparison);
  EXPECT_THAT(shown, HasSubstr("1 item ended in every run; 2 others are left out"));
  EXPECT_THAT(shown, HasSubstr("ended by: submitted 1; tools: run_correctness 2"));
  EXPECT_THAT(shown, Not(HasSubstr("different devices")));
  EXPECT_EQ(to_json(comparison).at("rows").size(), 2U);
  EXPECT_TRUE(to_json(comparison)["rows"][0]["geometric_mean"].is_null());
}

TEST(Compare, RunsThatShareNothingAreSaidToShareNothing) {
  const util::TempDir folder;
  const record::RunDir a(folder.path() / "a");
  const record::RunDir b(folder.path() / "b");
  put(a, trajectory("1", "correct"));
  put(b, trajectory("2", "correct"));
  EXPECT_EQ(text(compare({a, b})),
            "0 items ended in every run; 2 others are left out\n"
            "no problem (with variant and attempt) ended in all of them\n");
  const record::RunDir c(folder.path() / "c");
  record::Trajectory other = trajectory("1", "correct");
  other.model_name = "n";
  other.item_id = "custom/n/level1/1";
  put(c, other);
  EXPECT_THAT(text(compare({a, c})), HasSubstr("the model's name is part of an item"));
  EXPECT_THAT(to_json(compare({a, c})).at("why").get<std::string>(), HasSubstr("[[models]] name"));
  const record::RunDir d(folder.path() / "d");
  record::Trajectory open = trajectory("1", "in_progress");
  open.finished_at.reset();
  put(d, open);
  EXPECT_THAT(text(compare({a, d})), HasSubstr("no item of d has ended yet"));
  EXPECT_TRUE(to_json(compare({a, a})).at("why").is_null());
}

TEST(Words, EveryStopReasonHasAMeaning) {
  for (const char* reason : {"submitted",
                             "first_correct",
                             "turns",
                             "policy_stop",
                             "endpoint",
                             "timeout",
                             "infra",
                             "interrupted",
                             "budget"}) {
    EXPECT_THAT(stop_words(reason), HasSubstr(" (" + std::string(reason) + ")"));
  }
  EXPECT_EQ(stop_words("unsupported"), "unsupported");
}

}  // namespace
}  // namespace sweep::report
