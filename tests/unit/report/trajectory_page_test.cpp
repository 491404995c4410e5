#include "report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sweep::report {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

record::ToolCall call_of(const std::string& tool,
                         const std::string& code,
                         bool success,
                         const std::string& verdict) {
  record::ToolCall call;
  call.tool_name = tool;
  call.args = {{"kernel_code", code}};
  call.success = success;
  call.metadata = {{"verdict", verdict}};
  call.result_text = tool + " said so";
  return call;
}

record::Trajectory two_turns() {
  record::Trajectory t;
  t.model_name = "m";
  t.level = "1";
  t.problem_id = "3";
  t.outcome = "correct";
  t.stop_reason = "submitted";
  record::Turn first;
  first.reasoning = "I think";
  first.tool_calls = {call_of("compile_kernel", "int a;", false, "COMPILE_ERROR")};
  record::Turn second;
  second.turn_id = 1;
  second.tool_calls = {call_of("submit_kernel", "int b;", true, "PASS_FASTER")};
  second.submitted_kernel = "int b;";
  t.turns = {first, second};
  record::FinalResult& result = t.final_result.emplace();
  result.verdict = "PASS_FASTER";
  result.reproduce = "sweep eval kernel.cu --device cpu";
  record::ShapeTiming timing;
  timing.shape = "n=4";
  timing.speedup = record::Interval{2, 1.9, 2.1};
  result.timings = {timing};
  return t;
}

std::string page_of_trajectory(const record::Trajectory& t) {
  Context context;
  context.run_name = "run";
  return trajectory_page(context, row_of(t, "t/v/m/level_1_problem_3.html"), t);
}

TEST(TrajectoryPage, TellsTheCourseInALineAndHowToSeeItAgain) {
  const std::string page = page_of_trajectory(two_turns());
  EXPECT_THAT(page, HasSubstr("compile_kernel: COMPILE_ERROR, submitted: PASS_FASTER"));
  EXPECT_THAT(page, HasSubstr("sweep eval v/m/level_1_problem_3_kernel.cu --device cpu"));
  EXPECT_THAT(page, HasSubstr("v/m/level_1_problem_3_trajectory.json"));
}

TEST(TrajectoryPage, FoldsReasoningOpensFailuresAndHoldsVersionsAgainstEachOther) {
  const std::string page = page_of_trajectory(two_turns());
  EXPECT_THAT(page, HasSubstr("<details id=\"turn-1-reasoning\"><summary>reasoning (7 B)"));
  EXPECT_THAT(page, HasSubstr("<details id=\"turn-1-call-1-result\" open=\"\">"));
  EXPECT_THAT(page,
              HasSubstr("data-diff-from=\"turn-1-call-1-kernel\" "
                        "data-diff-to=\"turn-2-call-1-kernel\""));
  EXPECT_THAT(page, Not(HasSubstr("id=\"turn-1-call-1-diff\"")));
}

TEST(TrajectoryPage, ShowsWhatShortCallsTakeInARow) {
  record::Trajectory t = two_turns();
  EXPECT_THAT(page_of_trajectory(t), Not(HasSubstr("Short calls in graphs of many")));
  record::ShapeTiming& timing = t.final_result->timings[0];
  timing.throughput_us = 5;
  timing.seed_throughput_us = 7.5;
  timing.throughput_speedup = record::Interval{1.5, 1.4, 1.6};
  const std::string page = page_of_trajectory(t);
  EXPECT_THAT(page, HasSubstr("Short calls in graphs of many"));
  EXPECT_THAT(page,
              AllOf(HasSubstr("7.50 us"), HasSubstr("5.00 us"), HasSubstr("1.50x [1.40, 1.60]")));
}

TEST(TrajectoryPage, NamesOtherProgramsThatHadTheGpuOpen) {
  record::Trajectory t = two_turns();
  t.final_result->evaluation["stages"]["time"]["conditions"] = {
      {"reason", ""},
      {"throttle", json::array()},
      {"neighbours",
       {{{"pid", 40}, {"name", "<python>"}, {"busy", true}}, {{"pid", 41}, {"name", "a.out"}}, 3}}};
  EXPECT_THAT(page_of_trajectory(t),
              HasSubstr("beside another program (&lt;python&gt;) that computed, "
                        "beside another program (a.out), beside another program ()."));
}

TEST(TrajectoryPage, ShowsAFailureWithItsNumbers) {
  record::Trajectory t = two_turns();
  t.final_result->evaluation["stages"]["stress"]["inner"] = {{"verdict", "INCORRECT_VALUE"},
                                                             {"tensor", "y"},
                                                             {"index", {0, 128}},
                                                             {"got", 1.5},
                                                             {"expected", 2.5},
                                                             {"wrong", 3},
                                                             {"total", 9},
                                                             {"text", "y is wrong"}};
  EXPECT_THAT(page_of_trajectory(t),
              AllOf(HasSubstr("<dd>y[0, 128]</dd>"),
                    HasSubstr("<dd>3 of 9 elements</dd>"),
                    HasSubstr("stress, on shapes that were not shown")));
}

// Wherever the judge's answer has an object, a list or a number, the record may hold another thing.
TEST(TrajectoryPage, TakesAnyStoredEvaluation) {
  const json calls = {{{"shape", "s"}, {"dims", {{"n", 4}}}, {"worst_share", 0.5}}};
  const json whole = {
      {"metrics", {{{"name", "roofline"}, {"value", 1e300}, {"unit", "B/s"}}}},
      {"stages",
       {{"screen", {{"errors", {"e"}}}},
        {"compile", {{"log", "l"}, {"kernels", {{{"name", "k"}, {"registers", 1e300}}}}}},
        {"check", {{"calls", calls}, {"failure", {{"index", {1}}, {"tensor", "y"}}}}},
        {"stress", {{"calls", calls}}},
        {"heldout", {{"calls", calls}, {"time", {{"shapes", {{{"shape", "x"}}}}}}}},
        {"time",
         {{"samples", {{"rows", {{0, 1e300, -1, 0, 1, 1, 1, 1}}}}},
          {"conditions", {{"throttle", {"x"}}}},
          {"guards", {{"drift", {{"point", 1}}}}}}}}}};
  record::Trajectory t = two_turns();
  t.final_result->evaluation = whole;
  EXPECT_THAT(page_of_trajectory(t), HasSubstr("</html>"));
  std::set<std::string> places;  // every value of it, by its path
  const json flat = whole.flatten();
  for (const auto& [pointer, leaf] : flat.items()) {
    for (std::string at = pointer; !at.empty(); at = at.substr(0, at.rfind('/'))) {
      places.insert(at);
    }
  }
  for (const std::string& at : places) {
    for (const json& other : {json("<b>"), json::array({json()}), json(-1e300)}) {
      t.final_result->evaluation = whole;
      t.final_result->evaluation[json::json_pointer(at)] = other;
      EXPECT_THAT(page_of_trajectory(t), AllOf(HasSubstr("</html>"), Not(HasSubstr("<b><"))));
    }
  }
}

TEST(TrajectoryPage, ShowsTheLastProfile) {
  record::Trajectory t = two_turns();
  t.turns[0].tool_calls[0].metadata["profile"] = {{"bottleneck", "of yesterday"}};
  t.turns[1].tool_calls[0].metadata["profile"] = {
      {"bottleneck", "DRAM bandwidth"},
      {"top_stall", "long_scoreboard"},
      {"shape", "n=4"},
      {"total_seconds", 0.5},
      {"kernels",
       {{{"kernel", "a"}, {"metrics", {{"dram_percent", 81.25}}}},
        {{"kernel", "b"}, {"metrics", {{"sm_percent", 7}, {"x", "no number"}}}},
        7}}};
  EXPECT_THAT(page_of_trajectory(t),
              AllOf(HasSubstr("version of turn 2, on n=4"),
                    HasSubstr("DRAM bandwidth"),
                    HasSubstr(">81.25<"),
                    HasSubstr("<code>sm_percent</code></td><td class=\"num\">\u2014</td>"),
                    Not(HasSubstr("of yesterday"))));
}

TEST(TrajectoryPage, HidesWhoAsksTheEndpoint) {
  record::Trajectory t = two_turns();
  t.provenance.base_url = "https://me:secret@host:8/v1?key=secret#secret";
  const std::string page = page_of_trajectory(t);
  EXPECT_THAT(page, HasSubstr("https://host:8/v1<"));
  EXPECT_THAT(page, Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace sweep::report
