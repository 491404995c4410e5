#include "report/row.h"

#include "util/error.h"
#include "util/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sweep::report {
namespace {

record::ToolCall call(const std::string& tool, bool success) {
  record::ToolCall made;
  made.tool_name = tool;
  made.success = success;
  made.metadata = {{"verdict", "PASS_FASTER"}};
  made.started_s = 4;
  made.wall_clock_s = 2;
  return made;
}

record::Trajectory judged() {
  record::Trajectory t;
  t.item_id = "custom/m/level1/3";
  t.model_name = "m";
  t.variant = "custom";
  t.level = "1";
  t.problem_id = "3";
  t.problem_name = "spmm_csr";
  t.problem_domain = "graph";
  t.problem_slates = {"popcorn2"};
  t.problem_admission = "admitted";
  t.outcome = "correct";
  t.finished_at = "2026-01-31T12:00:00.000Z";
  record::FinalResult& result = t.final_result.emplace();
  result.compiled = result.correctness = true;
  result.verdict = "PASS_FASTER";
  result.flags = {"UNEVEN"};
  result.speedup = record::Interval{2, 1.9, 2.1};
  result.runtime_us = 10;
  result.ref_runtime_us = 20;
  result.timings = {{"n=1", 20, 10, std::nullopt, 0.5, 3, 20}, {"n=2", 20, 10, {}, 0.125, 3, 20}};
  result.stages = {{"stress", true, false, "2 shapes", 1, 1, 2}};
  result.memory_stats = {{"memory_ratio", {{"shapes", {{"a", 1.5}}}, {"unit", ""}}}};
  result.numerical_precision = {{"worst_share", 0.125}};
  result.evaluation = {
      {"metrics", {{{"name", "roofline"}, {"shape", "a"}, {"value", 0.5}, {"text", "DRAM read"}}}},
      {"stages",
       {{"time",
         {{"shapes",
           {{{"shape", "a"},
             {"bytes", 100.0},
             {"flops", 50.0},
             {"candidate_seconds", 2.0},
             {"launches", 3}}}}}}}}};
  record::Turn turn;
  turn.turn_id = 1;
  turn.tokens_after = 70;
  turn.llm_usage.emplace().reasoning_tokens = 7;
  turn.best_visible_speedup = 1.5;
  turn.tool_calls = {call("compile_kernel", false), call("compile_kernel", true)};
  t.turns = {turn};
  return t;
}

TEST(Row, SaysWhatTheTrajectoryDoes) {
  const Row row = row_of(judged(), "t/a.html");
  EXPECT_EQ(row.level, "level1");
  EXPECT_EQ(row.problem, "level1/3");
  EXPECT_EQ(row.title, "spmm_csr");
  EXPECT_EQ(row.domain, "graph");
  EXPECT_EQ(row.slates, std::vector<std::string>{"popcorn2"});
  EXPECT_EQ(row.admission, "admitted");
  EXPECT_TRUE(row.scored());
  EXPECT_EQ(row.page, "t/a.html");
  EXPECT_DOUBLE_EQ(row.speedup->low, 1.9);
  EXPECT_DOUBLE_EQ(*row.share_of_floor, 0.25);
  EXPECT_EQ(passed(row, "stress"), false);
  EXPECT_EQ(passed(row, "held_out"), std::nullopt);
  ASSERT_EQ(row.metrics.size(), 1U);
  EXPECT_EQ(row.metrics[0].name, "memory_ratio");
  EXPECT_EQ(row.launches, 3);
  EXPECT_EQ(row.reasoning_tokens, 7);
  EXPECT_EQ(row.tools.at("compile_kernel").calls, 2);
  EXPECT_EQ(row.tools.at("compile_kernel").failed, 1);
  ASSERT_EQ(row.series.size(), 1U);
  EXPECT_EQ(row.series[0].turn, 2);
  EXPECT_EQ(row.series[0].calls.at(1).verdict, "PASS_FASTER");
  EXPECT_FALSE(row.cut);
}

TEST(Row, HasThePointUnderTheRoofline) {
  const Row row = row_of(judged(), "");
  ASSERT_EQ(row.roofline.size(), 1U);
  EXPECT_DOUBLE_EQ(row.roofline[0].intensity, 0.5);
  EXPECT_DOUBLE_EQ(row.roofline[0].achieved, 25);
  EXPECT_DOUBLE_EQ(row.roofline[0].memory_ceiling, 100);  // half of it is reached
  EXPECT_DOUBLE_EQ(row.roofline[0].ridge(), 0);           // the other ceiling is unknown
}

TEST(Row, OnlyACorrectKernelHasASpeedup) {
  record::Trajectory wrong = judged();
  wrong.outcome = "incorrect";
  EXPECT_FALSE(row_of(wrong, "").speedup.has_value());
  EXPECT_TRUE(row_of(wrong, "").has_result);
}

TEST(Row, TheJsonReadsBack) {
  const nlohmann::json json = to_json(row_of(judged(), "t/a.html"));
  EXPECT_EQ(to_json(row_from_json(nlohmann::json::parse(json.dump()))), json);
}

TEST(Row, TheJsonIsReadStrictly) {
  const nlohmann::json good = to_json(row_of(judged(), "t/a.html"));
  const auto refuses = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json bad = good;
    bad[nlohmann::json::json_pointer(pointer)] = value;
    try {
      (void)row_from_json(bad);
      ADD_FAILURE() << pointer;
    } catch (const util::InfraError& error) {
      EXPECT_EQ(error.code(), "E_ROW");
    }
  };
  refuses("/schema", 2);
  refuses("/model", 1);
  refuses("/attempt", 1.5);
  refuses("/cut", 1);
  refuses("/speedup/low", "1");
  refuses("/series", nlohmann::json::object());
  refuses("/tools/compile_kernel", nlohmann::json::array());
  refuses("/timings/0/more", 1);
  refuses("/more", 1);
  nlohmann::json less = good;
  less.erase("device");
  EXPECT_THROW((void)row_from_json(less), util::InfraError);
  EXPECT_THROW((void)row_from_json(nlohmann::json::array()), util::InfraError);
}

TEST(Row, IsBoundedWhateverTheTrajectoryHolds) {
  record::Trajectory t = judged();
  t.model_name = std::string(5 << 20, 'm');
  t.final_result->reason = std::string(499, 'r') + "\u00e9\u00e9";
  t.error = "\xff";
  t.final_result->flags.assign(100000, "f");
  t.turns.assign(5000, t.turns.front());
  for (int i = 0; i < 1000; ++i) {
    t.turns[0].tool_calls.push_back(call("t" + std::to_string(i), true));
  }
  const Row row = row_of(t, "");
  EXPECT_LT(row.model.size(), 300U);
  EXPECT_TRUE(row.result_reason.ends_with("r\u2026"));  // not cut within a character
  EXPECT_EQ(row.error, "\xef\xbf\xbd");
  EXPECT_LT(row.flags.size(), 100U);
  EXPECT_EQ(row.series.size(), 1000U);
  EXPECT_LT(row.tools.size(), 100U);
  EXPECT_TRUE(row.cut);
  EXPECT_TRUE(util::valid_utf8(row.model));
}

// What stands where the judge's answer should be is anybody's.
TEST(Row, TakesOddAnswersOfTheJudge) {
  for (const char* odd : {R"([])",
                          R"({"metrics": 1, "stages": {"time": {"shapes": 3}}})",
                          R"({"metrics": [1, null], "stages": {"time": {"shapes": [null, {}]}}})",
                          R"({"stages": {"time": {"shapes": [{"bytes": 1e300,
                              "flops": 1e308, "candidate_seconds": 1e-300}]}}})"}) {
    record::Trajectory t = judged();
    t.final_result->evaluation = nlohmann::json::parse(odd);
    t.final_result->memory_stats = nlohmann::json::parse(odd);
    const Row row = row_of(t, "");
    EXPECT_NO_THROW((void)row_from_json(nlohmann::json::parse(to_json(row).dump()))) << odd;
  }
}

TEST(Row, OfAnItemWithoutAFileHasItsNames) {
  const Row row = row_without_file({"v", "one/two", "1", "4", 2}, "queued");
  EXPECT_EQ(row.item, "v/one%2Ftwo/level1/4#2");
  EXPECT_EQ(row.problem, "level1/4");
  EXPECT_EQ(row.outcome, "queued");
  EXPECT_TRUE(row.page.empty());
}

}  // namespace
}  // namespace sweep::report
