#include "report/tool_use.h"

#include <gmock/gmock.h>

namespace sweep::report {
namespace {

using ::testing::HasSubstr;

TEST(ToolUse, HasOneRowACallAndOneForATurnWithoutAny) {
  record::Trajectory t;
  t.item_id = "custom/m/level1/3";
  t.harness = "all";
  t.model_name = "=cmd,\"x\"";
  t.variant = "custom";
  t.level = "1";
  t.problem_id = "3";
  record::Turn first;
  first.tokens_after = 110;
  record::ToolCall call;
  call.tool_name = "run_correctness";
  call.success = true;
  call.metadata = {{"verdict", "PASS_INCONCLUSIVE"}};
  call.started_s = 1.5;
  call.wall_clock_s = 0.25;
  first.tool_calls = {call, call};
  record::Turn second;
  second.turn_id = 1;
  second.started_s = 3;
  second.tokens_before = 110;
  second.tokens_after = 220;
  second.best_visible_speedup = 1.25;
  t.turns = {first, second};
  const std::string csv = tool_use_csv({row_of(t, "")});
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  // A model's name is nobody's formula.
  EXPECT_THAT(csv,
              HasSubstr("custom/m/level1/3,all,\"'=cmd,\"\"x\"\"\",custom,level1/3,1,1,2,"
                        "run_correctness,native,true,PASS_INCONCLUSIVE,1.500,0.250,0,110,,"
                        "false\r\n"));
  EXPECT_THAT(csv, HasSubstr(",1,2,,,,,,3.000,,110,220,1.25,false\r\n"));
}

}  // namespace
}  // namespace sweep::report
