#include "report/compare.h"

#include "report/words.h"
#include "util/error.h"
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
  ASSERT_EQ(comparison.problems.size(), 1U);
  EXPECT_EQ(comparison.problems[0].problem, "level1/1");
  EXPECT_EQ(comparison.dropped, 2U);
  ASSERT_EQ(comparison.rows.size(), 2U);
  EXPECT_EQ(comparison.rows[0].correct, 1U);
  EXPECT_EQ(comparison.rows[1].correct, 0U);
  EXPECT_EQ(comparison.rows[1].harness, "all");
  EXPECT_EQ(comparison.rows[1].tools.at("run_correctness"), 2U);
  const std::string shown = text(comparison);
  EXPECT_THAT(shown, HasSubstr("1 problem ended in every run; 2 items of others are left out"));
  EXPECT_THAT(shown, HasSubstr("ended by: submitted 1; tools: run_correctness 2"));
  EXPECT_THAT(shown, Not(HasSubstr("different devices")));
  EXPECT_EQ(to_json(comparison).at("rows").size(), 2U);
  EXPECT_TRUE(to_json(comparison)["rows"][0]["geometric_mean"].is_null());
}

// one_shot takes five samples where single_turn takes one: none of them is dropped.
TEST(Compare, EveryAttemptOfACommonProblemCounts) {
  const util::TempDir folder;
  const record::RunDir one(folder.path() / "one");
  const record::RunDir five(folder.path() / "five");
  put(one, trajectory("1", "correct"));
  for (std::int64_t attempt = 1; attempt <= 5; ++attempt) {
    record::Trajectory t = trajectory("1", attempt <= 2 ? "correct" : "incorrect");
    t.attempt = attempt;
    t.item_id += attempt == 1 ? "" : "#" + std::to_string(attempt);
    t.harness = "one_shot";
    put(five, t);
  }
  record::Trajectory other = trajectory("1", "correct");
  other.variant = "popcorn";
  other.item_id = "popcorn/m/level1/1";
  put(five, other);
  const Comparison comparison = compare({one, five});
  ASSERT_EQ(comparison.rows.size(), 2U);
  EXPECT_EQ(comparison.rows[0].items, 1U);
  EXPECT_EQ(comparison.rows[1].items, 5U);
  EXPECT_EQ(comparison.rows[1].correct, 2U);
  EXPECT_EQ(comparison.dropped, 1U);  // of another variant
  EXPECT_TRUE(comparison.uneven);
  ASSERT_EQ(comparison.problems.size(), 1U);
  EXPECT_EQ(comparison.problems[0].cells[1].correct, 2U);
  EXPECT_THAT(text(comparison), HasSubstr("different numbers of attempts"));
  EXPECT_EQ(to_json(comparison).at("problems").at(0).at("runs").at(1).at("items"), 5);
}

TEST(Compare, TheModelsOfARunAreRowsOfTheirOwn) {
  const util::TempDir folder;
  const record::RunDir a(folder.path() / "a");
  for (const char* model : {"m", "n"}) {
    record::Trajectory t = trajectory("1", "correct");
    t.model_name = model;
    t.item_id = std::string("custom/") + model + "/level1/1";
    put(a, t);
  }
  const Comparison comparison = compare({a, a});
  EXPECT_EQ(comparison.rows.size(), 4U);
  EXPECT_THAT(text(comparison), HasSubstr("2 pairs of model and problem ended in every run"));
}

TEST(Compare, IsAPageThatOpensFromDisk) {
  const util::TempDir folder;
  const record::RunDir a(folder.path() / "a");
  const record::RunDir b(folder.path() / "<b>");
  put(a, trajectory("1", "correct"));
  record::Trajectory other = trajectory("1", "incorrect");
  other.harness = "all";
  other.model_name = "m";
  put(b, other);
  for (const record::RunDir& run : {a, b}) {
    util::write_file_atomic(run.ledger_file(), "");
  }
  const std::filesystem::path page =
      write_comparison({a, b}, compare({a, b}), folder.path() / "page");
  const std::string html = util::read_file(page, 1U << 20U);
  EXPECT_THAT(html, HasSubstr("1 problem ended in every run"));
  EXPECT_THAT(html, HasSubstr("&lt;b&gt;"));
  EXPECT_THAT(html, HasSubstr("default"));
  EXPECT_THAT(html, HasSubstr("calls of run_correctness"));
  EXPECT_TRUE(std::filesystem::exists(page.parent_path() / "report.css"));
  // Again, but over nothing that is something else.
  EXPECT_NO_THROW((void)write_comparison({a, b}, compare({a, b}), folder.path() / "page"));
  EXPECT_THROW((void)write_comparison({a, b}, compare({a, b}), a.folder()), util::UsageError);
}

TEST(Compare, RunsThatShareNothingAreSaidToShareNothing) {
  const util::TempDir folder;
  const record::RunDir a(folder.path() / "a");
  const record::RunDir b(folder.path() / "b");
  put(a, trajectory("1", "correct"));
  put(b, trajectory("2", "correct"));
  EXPECT_EQ(text(compare({a, b})),
            "0 problems ended in every run; 2 items of others are left out\n"
            "no problem of the same variant ended in all of them\n");
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

// Six problems: the second run solves two that the first does not, and is twice as fast on the
// three that both solve.
TEST(Compare, PairsProblemByProblem) {
  const util::TempDir folder;
  const record::RunDir a(folder.path() / "a");
  const record::RunDir b(folder.path() / "b");
  const auto timed = [](const std::string& problem, double speedup) {
    record::Trajectory t = trajectory(problem, speedup > 0 ? "correct" : "incorrect");
    t.final_result = record::FinalResult{};
    t.final_result->verdict = "PASS_FASTER";
    if (speedup > 0) {
      t.final_result->speedup = record::Interval{speedup, 0.9 * speedup, 1.1 * speedup};
    }
    return t;
  };
  const std::vector<std::pair<double, double>> speedups = {
      {1, 2}, {2, 4}, {3, 6}, {0, 1}, {0, 1}, {0, 0}};
  for (std::size_t i = 0; i < speedups.size(); ++i) {
    put(a, timed(std::to_string(i + 1), speedups[i].first));
    put(b, timed(std::to_string(i + 1), speedups[i].second));
  }
  const Comparison comparison = compare({a, b});
  ASSERT_EQ(comparison.pairs.size(), 1U);
  const Comparison::Paired& pair = comparison.pairs[0];
  EXPECT_EQ(pair.both, 3U);
  EXPECT_EQ(pair.only_base, 0U);
  EXPECT_EQ(pair.only_other, 2U);
  EXPECT_EQ(pair.neither, 1U);
  EXPECT_NEAR(pair.solved_p, 0.5, 1e-12);  // two of two signs alike: 2 / 2^2
  EXPECT_EQ(pair.timed, 3U);
  EXPECT_NEAR(pair.ratio, 2, 1e-12);
  EXPECT_NEAR(pair.low, 2, 1e-12);  // the same ratio everywhere
  EXPECT_NEAR(pair.high, 2, 1e-12);
  EXPECT_NEAR(pair.speed_p, 0.25, 1e-12);  // 2 / 2^3
  EXPECT_GT(comparison.rows[0].mean_low, 0);
  EXPECT_LT(comparison.rows[0].mean_low, comparison.rows[0].geometric_mean);
  EXPECT_GT(comparison.rows[0].mean_high, comparison.rows[0].geometric_mean);
  EXPECT_THAT(text(comparison), HasSubstr("only by b 2"));
  EXPECT_THAT(text(comparison), HasSubstr("McNemar's exact test p = 0.5"));
  const nlohmann::json json = to_json(comparison);
  EXPECT_EQ(json.at("schema"), 3);
  EXPECT_EQ(json.at("pairs")[0].at("faster"), 3);
  const auto uses = to_json(uses_table(comparison));
  EXPECT_EQ(uses.at("columns").size(), 3U);  // what, and one a run and model
}

}  // namespace
}  // namespace sweep::report
