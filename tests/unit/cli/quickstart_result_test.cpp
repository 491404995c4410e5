#include "cli/command.h"
#include "cli/quickstart.h"
#include "evaluate/evaluation.h"
#include "record/json.h"
#include "record/ledger.h"
#include "record/plan.h"
#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sweep::cli {
namespace {

using evaluate::Verdict;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Runner = QuickstartResult::Runner;

const record::ItemName kItem{"custom", "m", "ptx", "gemm", 1};

// A conversation that handed a kernel in, timed with this ratio.
record::Trajectory submitted(Verdict verdict,
                             evaluate::Interval ratio,
                             const std::string& device = "cuda:0") {
  evaluate::Evaluation e;
  e.verdict = verdict;
  e.device = device;
  e.check.emplace();
  e.time.emplace();
  e.time->ratio = ratio;
  e.time->shapes = {{"full", {}, 1e-3, 1e-3, ratio}};
  e.baselines = {{"cuBLAS", "cuBLAS 13", "", 0, 1.5, 0.8, 1, ""}};
  record::Trajectory t;
  t.item_id = "custom/m/ptx/gemm";
  t.model_name = "m";
  t.variant = "custom";
  t.level = "ptx";
  t.problem_id = "gemm";
  t.max_turns = 3;
  t.finished_at = "2026-01-31T12:00:00.000Z";
  t.outcome = std::string(evaluate::name(e.outcome()));
  t.stop_reason = "submitted";
  t.provenance.device = device;
  record::Turn turn;
  turn.tool_calls.resize(1);
  turn.tool_calls[0].tool_name = "submit_kernel";
  turn.tool_calls[0].result_text = "judged";
  turn.tool_calls[0].success = e.outcome() == evaluate::Outcome::correct;
  t.turns.assign(1, turn);
  record::FinalResult result;
  result.compiled = true;
  result.correctness = e.outcome() == evaluate::Outcome::correct;
  result.verdict = std::string(evaluate::name(verdict));
  result.reason = "why";
  result.speedup = record::Interval{ratio.point, ratio.low, ratio.high};
  result.evaluation = evaluate::to_json(e, evaluate::View::archive);
  t.final_result = result;
  return t;
}

record::Trajectory without_kernel(const std::string& outcome, const std::string& reason) {
  record::Trajectory t = submitted(Verdict::pass_faster, {1.9, 2, 2.1});
  t.final_result.reset();
  t.outcome = outcome;
  t.stop_reason = reason;
  if (outcome == "in_progress") {
    t.finished_at.reset();
  }
  return t;
}

TEST(QuickstartResult, TellsItsThreeAnswersApart) {
  const QuickstartResult won =
      judge_quickstart(submitted(Verdict::pass_faster, {1.2, 1.3, 1.4}), 1);
  EXPECT_EQ(won.runner, Runner::finished);
  EXPECT_TRUE(won.correct);
  EXPECT_EQ(won.met, true);
  const QuickstartResult slow =
      judge_quickstart(submitted(Verdict::pass_slower, {0.6, 0.7, 0.8}), 1);
  EXPECT_EQ(slow.runner, Runner::finished);
  EXPECT_TRUE(slow.correct);
  EXPECT_EQ(slow.met, false);
  const QuickstartResult wrong =
      judge_quickstart(submitted(Verdict::incorrect_generalisation, {1.9, 2, 2.1}), 1);
  EXPECT_EQ(wrong.runner, Runner::finished);
  EXPECT_TRUE(wrong.submitted);
  EXPECT_FALSE(wrong.correct);
  EXPECT_EQ(wrong.met, false);
  EXPECT_THAT(wrong.kernel_text, HasSubstr("why"));
  const QuickstartResult none = judge_quickstart(without_kernel("error", "turns"), 1);
  EXPECT_EQ(none.runner, Runner::finished);
  EXPECT_FALSE(none.submitted);
  EXPECT_EQ(none.met, std::nullopt);
}

// What was shown counts, not the estimate: the lower end of the interval, as --require of eval.
TEST(QuickstartResult, TheTargetIsHeldAgainstTheLowerEnd) {
  const record::Trajectory t = submitted(Verdict::pass_faster, {1.2, 1.3, 1.4});
  EXPECT_EQ(judge_quickstart(t, 1.2).met, true);
  EXPECT_EQ(judge_quickstart(t, 1.25).met, false);
  EXPECT_THAT(judge_quickstart(t, 1.25).target_text, HasSubstr("interval begins at 1.2"));
  EXPECT_EQ(judge_quickstart(submitted(Verdict::unstable, {2, 3, 4}), 1).met, false);
  EXPECT_EQ(judge_quickstart(submitted(Verdict::pass_inconclusive, {2, 3, 4}, "cpu"), 1).met,
            std::nullopt);
}

TEST(QuickstartResult, ARunThatDidNotEndIsNoWrongKernel) {
  for (const auto& [outcome, reason] : {std::pair("infra_error", "infra"),
                                        std::pair("infra_error", "endpoint"),
                                        std::pair("error", "endpoint"),
                                        std::pair("timeout", "timeout"),
                                        std::pair("skipped", "unsupported")}) {
    const QuickstartResult r = judge_quickstart(without_kernel(outcome, reason), 1);
    EXPECT_EQ(r.runner, Runner::failed) << outcome << " " << reason;
    EXPECT_EQ(quickstart_exit_code(r, ""), kInfra);
  }
  const QuickstartResult open = judge_quickstart(without_kernel("in_progress", "interrupted"), 1);
  EXPECT_EQ(open.runner, Runner::unfinished);
  EXPECT_EQ(open.runner_text, "in turn 2 of 3");
  EXPECT_EQ(quickstart_exit_code(open, ""), kInfra);
}

TEST(QuickstartResult, TheExitCodeAsksForNoMoreThanIsRequired) {
  const QuickstartResult fast = judge_quickstart(submitted(Verdict::pass_faster, {1.9, 2, 2.1}), 1);
  const QuickstartResult slow =
      judge_quickstart(submitted(Verdict::pass_slower, {0.6, 0.7, 0.8}), 1);
  const QuickstartResult wrong =
      judge_quickstart(submitted(Verdict::incorrect_generalisation, {1.9, 2, 2.1}), 1);
  for (const QuickstartResult& r : {fast, slow, wrong}) {
    EXPECT_EQ(quickstart_exit_code(r, ""), kDone);
  }
  EXPECT_EQ(quickstart_exit_code(slow, "correct"), kDone);
  EXPECT_EQ(quickstart_exit_code(slow, "target"), kNotCorrect);
  EXPECT_EQ(quickstart_exit_code(wrong, "correct"), kNotCorrect);
  EXPECT_EQ(quickstart_exit_code(fast, "target"), kDone);
  EXPECT_EQ(quickstart_unmet(fast, "target"), "");
  EXPECT_EQ(quickstart_unmet(slow, "correct"), "");
  EXPECT_EQ(quickstart_unmet(wrong, ""), "");
  EXPECT_THAT(quickstart_unmet(slow, "target"), HasSubstr("the target of 1.00x over the seed"));
  EXPECT_THAT(quickstart_unmet(wrong, "correct"), HasSubstr("the kernel is not correct: "));
  EXPECT_THAT(quickstart_unmet(judge_quickstart(without_kernel("error", "turns"), 1), "target"),
              HasSubstr("--require target does not hold: no kernel was handed in"));
  EXPECT_THAT(
      quickstart_unmet(judge_quickstart(submitted(Verdict::pass_inconclusive, {2, 3, 4}, "cpu"), 1),
                       "target"),
      HasSubstr("--device cuda:N"));
  QuickstartResult damaged = fast;
  damaged.damage.emplace_back("ledger.jsonl:3: hash");
  EXPECT_EQ(quickstart_exit_code(damaged, ""), kInfra);
}

TEST(QuickstartResult, ReadsAsTextAndAsJson) {
  QuickstartResult r = judge_quickstart(submitted(Verdict::pass_faster, {1.2, 1.3, 1.4}), 1.25);
  r.folder = "/x/q";
  r.kernel_file = "custom/m/k.cu";
  const std::string text = quickstart_text(r, Style::plain(), 0);
  EXPECT_THAT(text, HasSubstr("quickstart  ptx/gemm by m on cuda:0\n"));
  EXPECT_THAT(text, HasSubstr("runner      finished     1 of 3 turns, stop reason: submitted\n"));
  EXPECT_THAT(text, HasSubstr("kernel      correct      PASS_FASTER\n"));
  EXPECT_THAT(text, HasSubstr("target      NOT MET      1.25x over the seed: PASS_FASTER 1.30x"));
  EXPECT_THAT(text, HasSubstr("turns       submit_kernel ok\n"));
  EXPECT_THAT(text, HasSubstr("cuBLAS: the kernel has 0.800x of its speed, the seed 0.667x"));
  EXPECT_THAT(text, HasSubstr("  kernel    custom/m/k.cu\n"));
  EXPECT_THAT(text, Not(HasSubstr("next ")));
  const nlohmann::json json = to_json(r, "2026-01-31T12:00:00.000Z");
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_EQ(json.at("runner").at("state"), "finished");
  EXPECT_EQ(json.at("kernel").at("correct"), true);
  EXPECT_EQ(json.at("target").at("met"), false);
  EXPECT_EQ(json.at("target").at("speedup").at("low"), 1.2);
  EXPECT_EQ(json.at("libraries").at(0).at("kernel"), 0.8);
  EXPECT_EQ(json.at("feedback"), "judged");
  EXPECT_EQ(json.at("files").at("trajectory"), nullptr);
}

TEST(QuickstartResult, AnAnswerOfTheJudgeThatCannotBeReadIsDamage) {
  record::Trajectory t = submitted(Verdict::pass_faster, {1.2, 1.3, 1.4});
  for (const nlohmann::json& body :
       {nlohmann::json(), nlohmann::json(3), nlohmann::json::object()}) {
    t.final_result->evaluation = body;
    const QuickstartResult r = judge_quickstart(t, 1);
    EXPECT_EQ(r.met, std::nullopt);
    EXPECT_THAT(r.damage, Not(IsEmpty()));
    EXPECT_THAT(quickstart_text(r, Style::plain(), 40), HasSubstr("DAMAGED"));
  }
}

class QuickstartRead : public ::testing::Test {
 protected:
  // A ledger that planned these items.
  void begin(const std::vector<record::ItemName>& items) const {
    run_.create();
    const record::Artifacts artifacts(run_.artifacts_folder());
    record::Ledger ledger(run_.ledger_file());
    (void)ledger.append(
        record::kind::run_start, {}, {{"items_sha256", artifacts.put(record::plan_json(items))}});
    util::write_file_atomic(config(), "# a quickstart's\n");
  }

  [[nodiscard]] std::filesystem::path config() const { return run_.folder() / "quickstart.toml"; }

  util::TempDir folder_;
  record::RunDir run_{folder_.path() / "q"};
};

TEST_F(QuickstartRead, ARunThatWasNeverBegunOnItsItem) {
  begin({kItem});
  const QuickstartResult r = read_quickstart(run_, std::nullopt);
  EXPECT_EQ(r.runner, Runner::unfinished);
  EXPECT_EQ(r.runner_text, "not begun");
  EXPECT_THAT(quickstart_text(r, Style::plain(), 0), HasSubstr("next        sweep "));
}

TEST_F(QuickstartRead, TheTargetOfTheLastReportIsKept) {
  begin({kItem});
  EXPECT_EQ(read_quickstart(run_, std::nullopt).target, 1);
  const std::filesystem::path file = run_.folder() / kQuickstartResult;
  util::write_file_atomic(file, R"({"target": {"least": 1.5}})");
  EXPECT_EQ(read_quickstart(run_, std::nullopt).target, 1.5);
  EXPECT_EQ(read_quickstart(run_, 2).target, 2);
  for (const char* text : {"",
                           "{",
                           "[]",
                           R"({"target": 3})",
                           R"({"target": {"least": -1}})",
                           R"({"target": {"least": "x"}})"}) {
    util::write_file_atomic(file, text);
    EXPECT_EQ(read_quickstart(run_, std::nullopt).target, 1) << text;
  }
}

TEST_F(QuickstartRead, AnotherRunIsRefused) {
  record::ItemName other = kItem;
  other.level = "1";
  other.problem = "3";
  begin({other, kItem});
  try {
    (void)read_quickstart(run_, std::nullopt);
    FAIL() << "was taken";
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_QUICKSTART_FOREIGN");
    EXPECT_THAT(error.what(), HasSubstr("a run of 2 items: level1/3, ptx/gemm, no quickstart"));
  }
}

TEST_F(QuickstartRead, ASweepOfTheSameProblemIsForeign) {
  begin({kItem});
  std::filesystem::remove(config());
  EXPECT_THROW((void)read_quickstart(run_, std::nullopt), util::UsageError);
}

TEST_F(QuickstartRead, AnEmptiedLedgerIsDamage) {
  begin({kItem});
  util::write_file_atomic(run_.ledger_file(), "");
  EXPECT_THAT(read_quickstart(run_, std::nullopt).damage, Not(IsEmpty()));
}

TEST_F(QuickstartRead, ABrokenLedgerIsDamage) {
  begin({kItem});
  util::append_durable(run_.ledger_file(), "{\"seq\": 1}\n{}\n");
  const QuickstartResult r = read_quickstart(run_, std::nullopt);
  EXPECT_THAT(r.damage, Not(IsEmpty()));
  EXPECT_EQ(quickstart_exit_code(r, ""), kInfra);
  util::write_file_atomic(run_.ledger_file(), "no ledger\nat all\n");
  EXPECT_THAT(read_quickstart(run_, std::nullopt).damage, Not(IsEmpty()));
}

TEST_F(QuickstartRead, ATrajectoryThatCannotBeReadIsDamage) {
  begin({kItem});
  util::make_folders(run_.trajectory_file(kItem).parent_path());
  for (const char* text : {"", "{", "[]", R"({"turns": 3})"}) {
    util::write_file_atomic(run_.trajectory_file(kItem), text);
    const QuickstartResult r = read_quickstart(run_, std::nullopt);
    EXPECT_EQ(r.runner, Runner::unfinished) << text;
    EXPECT_THAT(r.damage, Not(IsEmpty())) << text;
  }
}

}  // namespace
}  // namespace sweep::cli
