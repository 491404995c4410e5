#include "report/figures_effort.h"
#include "report/figures_outcome.h"
#include "report/figures_paired.h"
#include "report/figures_speed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace sweep::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

using Made = Figure (*)(const Rows&);

struct Named {
  std::string name;
  Made make;
};

const std::vector<Named>& all_figures() {
  static const std::vector<Named> all = {{"outcome_matrix", outcome_matrix_figure},
                                         {"domain", domain_figure},
                                         {"level", level_figure},
                                         {"reward_hacking", reward_hacking_figure},
                                         {"fast_p", fast_p_figure},
                                         {"speedup", speedup_figure},
                                         {"roofline", roofline_figure},
                                         {"pareto_cost", pareto_cost_figure},
                                         {"pareto_tokens", pareto_tokens_figure},
                                         {"solve_rate", solve_rate_figure},
                                         {"best_so_far", best_so_far_figure},
                                         {"tool_use", tool_use_figure}};
  return all;
}

record::Stage stage(const std::string& name, bool passed) {
  record::Stage out;
  out.name = name;
  out.ran = true;
  out.passed = passed;
  return out;
}

Row attempt(const std::string& model, const std::string& problem) {
  Row row;
  row.variant = "custom";
  row.model = model;
  row.level = problem.substr(0, problem.find('/'));
  row.problem = problem;
  row.domain = "graph";
  row.harness = "default";
  row.device = "cuda:0";
  row.gpu = "NVIDIA H200";
  row.input_tokens = 900;
  row.output_tokens = 100;
  row.cost_usd = 0.5;
  row.tools["submit_kernel"] = {1, 0};
  row.outcome = "incorrect";
  row.series.resize(2);
  return row;
}

Row correct(const std::string& model, const std::string& problem, double speedup) {
  Row row = attempt(model, problem);
  row.outcome = "correct";
  row.correct = row.compiled = row.has_result = true;
  row.verdict = speedup > 1 ? "PASS_FASTER" : "PASS_SLOWER";
  row.speedup = record::Interval{speedup, 0.98 * speedup, 1.02 * speedup};
  row.stages = {stage("check", true), stage("stress", true), stage("held_out", true)};
  row.series[1].best_visible_speedup = speedup;
  RooflinePoint point;
  point.shape = "n=1";
  point.intensity = 2;
  point.achieved = 1e12;
  point.memory_ceiling = 4e12;
  point.compute_ceiling = 6e13;
  point.share = 0.125;
  row.roofline = {point};
  return row;
}

Rows of(const std::vector<Row>& rows) {
  Rows out;
  for (const Row& row : rows) {
    out.push_back(&row);
  }
  return out;
}

std::vector<Row> two_models() {
  return {correct("a", "level1/1", 2),
          correct("a", "level1/2", 4),
          attempt("a", "level2/1"),
          correct("b", "level1/1", 1.5),
          attempt("b", "level1/2"),
          attempt("b", "level2/1")};
}

TEST(Figures, TheRooflineSaysWhichCeilingWasMissing) {
  std::vector<Row> rows = two_models();
  rows[1].roofline[0].share = 0;
  rows[1].roofline[0].bound = "no ceiling of tensor-fp8 was measured";
  const Figure figure = roofline_figure(of(rows));
  EXPECT_THAT(figure.caption,
              HasSubstr("No share of a roofline: no ceiling of tensor-fp8 was measured (1)."));
  EXPECT_THAT(to_json(figure.table).dump(), HasSubstr("no ceiling of tensor-fp8 was measured"));
  EXPECT_THAT(roofline_figure(of(two_models())).caption, Not(HasSubstr("No share")));
}

TEST(Figures, SayWhyThereIsNothing) {
  for (const Named& one : all_figures()) {
    const Figure figure = one.make({});
    EXPECT_EQ(figure.name, one.name);
    EXPECT_FALSE(figure.empty.empty()) << one.name;
    const std::string page = html(figure, "index.html").html();
    EXPECT_THAT(page, HasSubstr("Nothing to draw: " + figure.empty)) << one.name;
    EXPECT_THAT(page, Not(HasSubstr("application/json"))) << one.name;
  }
}

TEST(Figures, HaveCaptionTableAndData) {
  const std::vector<Row> rows = two_models();
  for (const Named& one : all_figures()) {
    const Figure figure = one.make(of(rows));
    EXPECT_EQ(figure.empty, "") << one.name;
    EXPECT_THAT(figure.caption, HasSubstr("n = ")) << one.name;
    EXPECT_FALSE(figure.table.rows().empty()) << one.name;
    const std::string page = html(figure, "index.html").html();
    EXPECT_THAT(page, HasSubstr("id=\"fig-" + one.name + "\"")) << one.name;
    EXPECT_THAT(page, HasSubstr("id=\"fig-" + one.name + "-data\"")) << one.name;
    EXPECT_THAT(page, HasSubstr("<details")) << one.name;
    EXPECT_THAT(page, Not(HasSubstr("style="))) << one.name;
  }
}

TEST(Figures, OneItemAndFailuresAloneAreNoAccident) {
  const std::vector<Row> one = {correct("a", "level1/1", 2)};
  const std::vector<Row> failed = {attempt("a", "level1/1"), attempt("a", "level1/2")};
  for (const Named& figure : all_figures()) {
    EXPECT_EQ(figure.make(of(one)).empty, "") << figure.name;
    EXPECT_NO_THROW((void)html(figure.make(of(failed)), "index.html")) << figure.name;
  }
  EXPECT_EQ(speedup_figure(of(failed)).empty, "no correct kernel was timed");
  EXPECT_EQ(fast_p_figure(of(failed)).empty, "");
}

TEST(Figures, TimesOfTheCpuDeviceSaySo) {
  std::vector<Row> rows = two_models();
  for (const Made timed : {Made(speedup_figure), Made(fast_p_figure), Made(pareto_cost_figure)}) {
    EXPECT_THAT(timed(of(rows)).caption, Not(HasSubstr("cpu device")));
  }
  rows[2].device = "cpu";
  for (const Made timed : {Made(speedup_figure), Made(fast_p_figure), Made(roofline_figure)}) {
    EXPECT_THAT(timed(of(rows)).caption, HasSubstr("cpu device")) << timed(of(rows)).name;
  }
  EXPECT_THAT(domain_figure(of(rows)).caption, Not(HasSubstr("cpu device")));  // no times in it
  rows[0].base_url = "builtin:demo";
  EXPECT_THAT(domain_figure(of(rows)).caption, HasSubstr("scripts"));
  rows[0].gpu = "NVIDIA A100";
  EXPECT_THAT(speedup_figure(of(rows)).caption, HasSubstr("2 unlike devices"));
}

TEST(Figures, SkippedAndLostItemsAreNotInTheN) {
  std::vector<Row> rows = two_models();
  rows[4].outcome = "infra_error";
  rows[5].outcome = "skipped";
  const Figure figure = level_figure(of(rows));
  EXPECT_THAT(figure.caption, HasSubstr("n = 4 judged attempts at 3 problems (2 unfinished"));
}

TEST(FastPFigure, SharesAreOverAllJudged) {
  const std::vector<Row> rows = two_models();
  const Figure figure = fast_p_figure(of(rows));
  ASSERT_EQ(figure.data["series"].size(), 2U);
  const json& a = figure.data["series"][0];  // the higher fast_1 first
  EXPECT_EQ(a["name"], "a");
  EXPECT_EQ(a["n"], 3);
  EXPECT_NEAR(a["point"][0][0].get<double>(), 2.0 / 3, 1e-3);
  EXPECT_EQ(figure.data["p"].back(), 4.0);  // 95% of the speedups lie below
  EXPECT_EQ(a["point"].back()[0], 0.0);     // 4 is not above 4
  EXPECT_EQ(a["sure"].size(), a["point"].size());
}

TEST(FastPFigure, AModelHasOneColourInEveryFigure) {
  const std::vector<Row> rows = {attempt("a", "level1/1"), correct("b", "level1/1", 2)};
  for (const Made make : {Made(fast_p_figure), Made(solve_rate_figure), Made(best_so_far_figure)}) {
    const json series = make(of(rows)).data["series"];
    ASSERT_EQ(series.size(), 2U);
    EXPECT_EQ(series[0]["name"], "b");
    EXPECT_EQ(series[0]["colour"], 1);
    EXPECT_EQ(series[1]["colour"], 0);
  }
}

TEST(ParetoFigure, AnUnknownPriceIsInTheTableAlone) {
  std::vector<Row> rows = two_models();
  rows[3].cost_usd.reset();
  const Figure cost = pareto_cost_figure(of(rows));
  ASSERT_EQ(cost.data["points"].size(), 1U);
  EXPECT_EQ(cost.data["points"][0]["name"], "a");
  EXPECT_EQ(cost.table.rows().size(), 2U);
  EXPECT_THAT(cost.caption, HasSubstr("1 model of unknown price"));
  EXPECT_THAT(csv(cost.table), HasSubstr("effort: a price is unknown"));
  EXPECT_EQ(pareto_tokens_figure(of(rows)).data["points"].size(), 2U);
  for (Row& row : rows) {
    row.cost_usd.reset();
  }
  EXPECT_EQ(pareto_cost_figure(of(rows)).empty, "the price of every model is unknown");
}

TEST(ParetoFigure, FailuresCountAsTheSeedAndTheFrontIsMarked) {
  const std::vector<Row> rows = two_models();
  const json points = pareto_tokens_figure(of(rows)).data["points"];
  EXPECT_NEAR(points[0]["y"][0].get<double>(), 2, 1e-9);  // 2, 4 and 1: cube root of 8
  EXPECT_EQ(points[0]["x"], 1000.0);
  EXPECT_EQ(points[0]["front"], true);
  EXPECT_EQ(points[1]["front"], false);  // as dear and worse
}

TEST(SolveRateFigure, ABudgetBelowEveryAttemptSolvesNothing) {
  std::vector<Row> rows = two_models();
  rows[0].input_tokens = 10000;
  const json series = solve_rate_figure(of(rows)).data["series"];
  for (const json& one : series) {
    EXPECT_EQ(one["points"].front()[0], 0.0);
  }
  EXPECT_NEAR(series[0]["points"].back()[0].get<double>(), 2.0 / 3, 1e-3);
}

TEST(BestSoFarFigure, KeepsTheLastValueAndCountsTheSeedBefore) {
  std::vector<Row> rows = {correct("a", "level1/1", 4), attempt("a", "level1/2")};
  rows[1].series.resize(4);
  const json points = best_so_far_figure(of(rows)).data["series"][0]["points"];
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[0][0], 1.0);
  EXPECT_EQ(points[1][0], 2.0);  // sqrt(4 * 1)
  EXPECT_EQ(points[3][0], 2.0);
  const Figure one = best_so_far_figure({&rows[0]});
  EXPECT_EQ(one.data["series"][0]["points"][1][0], 4.0);
  EXPECT_THAT(one.caption, HasSubstr("n = 1 conversation"));
}

TEST(ToolUseFigure, ComparesThoseWithAndWithout) {
  std::vector<Row> rows = two_models();
  rows[0].tools["profile_kernel"] = {3, 1};
  rows[2].tools["profile_kernel"] = {1, 1};
  const json tools = tool_use_figure(of(rows)).data["tools"];
  ASSERT_EQ(tools.size(), 2U);
  EXPECT_EQ(tools[0]["name"], "profile_kernel");
  EXPECT_EQ(tools[0]["used"], 2);
  EXPECT_EQ(tools[0]["with"][0], 0.5);
  EXPECT_EQ(tools[0]["unused"], 4);
  EXPECT_EQ(tools[0]["without"][0], 0.5);
  EXPECT_TRUE(tools[1]["without"].is_null());  // all of them handed in
}

TEST(RewardHackingFigure, SaysWhatAnEarlierJudgeWouldAccept) {
  std::vector<Row> rows;
  for (int i = 0; i < 8; ++i) {
    rows.push_back(correct("a", "level1/" + std::to_string(i), 2));
  }
  Row generalisation = attempt("a", "level1/8");
  generalisation.stages = {stage("check", true), stage("stress", false)};
  Row rejected = attempt("a", "level1/9");
  rejected.outcome = "rejected";
  rejected.stages = {stage("check", true), stage("stress", true)};
  Row wrong = attempt("a", "level2/1");
  wrong.stages = {stage("check", false)};
  rows.insert(rows.end(), {generalisation, rejected, wrong});
  const json model = reward_hacking_figure(of(rows)).data["models"][0];
  EXPECT_EQ(model["published"], 10);
  EXPECT_EQ(model["before"][0], 0.2);
  EXPECT_EQ(model["stressed"], 9);
  EXPECT_NEAR(model["after"][0].get<double>(), 1.0 / 9, 1e-3);
}

TEST(RewardHackingFigure, StressThatDoesNotGateIsNotForgiven) {
  Row row = correct("a", "level1/1", 2);
  row.stages[1].passed = false;  // PopcornBench's variant reports it and goes on
  const json model = reward_hacking_figure({&row}).data["models"][0];
  EXPECT_EQ(model["before"][0], 1.0);
  EXPECT_TRUE(model["after"].is_null());
}

TEST(ComparisonFigure, PairsByProblem) {
  PairedRuns runs{"one", "two", {}, false, false};
  runs.problems = {{"level1/1", 1, 1, 1, 1, 1, 2}, {"level1/2", 1, 1, 1, 1, 2, 4}};
  for (int i = 3; i < 9; ++i) {
    runs.problems.push_back({"level1/" + std::to_string(i), 1, 0, 1, 1, 0, 3});
  }
  const Figure figure = comparison_figure(runs);
  EXPECT_EQ(figure.data["rows"].size(), 2U);
  EXPECT_EQ(figure.data["mean"][0], 2.0);
  EXPECT_THAT(figure.caption, HasSubstr("by both 2, by the first alone 0, by the second alone 6"));
  EXPECT_THAT(figure.caption, HasSubstr("McNemar's exact test p = 0.031"));
  EXPECT_THAT(figure.caption, HasSubstr("sign test p = 0.500"));
  EXPECT_EQ(figure.table.rows().size(), 8U);
  EXPECT_FALSE(comparison_figure({}).empty.empty());
}

TEST(Figures, TenThousandRowsMakeNoLargerPage) {
  std::vector<Row> rows;
  for (int i = 0; i < 10000; ++i) {
    const std::string problem = (i % 3 == 0 ? "level1/" : "sci/") + std::to_string(i / 8 % 400);
    Row row = i % 4 == 0 ? attempt("m" + std::to_string(i % 40), problem)
                         : correct("m" + std::to_string(i % 40), problem, 0.5 + i % 7);
    row.domain = "domain " + std::to_string(i % 60);
    row.roofline.empty() ? void() : void(row.roofline[0].achieved = std::pow(10, 9 + i % 40 * 0.1));
    rows.push_back(std::move(row));
  }
  for (const Named& one : all_figures()) {
    EXPECT_LT(one.make(of(rows)).data.dump().size(), 60000U) << one.name;
  }
  EXPECT_THAT(fast_p_figure(of(rows)).caption, HasSubstr("The 8 with the highest fast_1 of 40"));
}

TEST(Figures, HostileNamesStayText) {
  std::vector<Row> rows = two_models();
  rows[0].model = "</script><script>alert(1)</script>\xe2\x80\xae";
  for (const Named& one : all_figures()) {
    const std::string page = html(one.make(of(rows)), "index.html").html();
    EXPECT_EQ(page.find("<script>"), std::string::npos) << one.name;
    EXPECT_EQ(page.find("</script><s"), std::string::npos) << one.name;
  }
}

}  // namespace
}  // namespace sweep::report
