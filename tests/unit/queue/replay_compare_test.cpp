#include "queue/replay_compare.h"

#include <gmock/gmock.h>

namespace sweep::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

record::Trajectory two_turns() {
  record::Trajectory t;
  t.outcome = "correct";
  t.stop_reason = "submitted";
  t.turns.resize(2);
  t.turns[0].messages_in = {{{"role", "user"}, {"content", "go"}}};
  t.turns[1].response = {{{"type", "message"}, {"content", "done"}}};
  record::ToolCall call;
  call.tool_name = "submit_kernel";
  call.call_id = "c1";
  call.result_text = "PASSED";
  call.success = true;
  t.turns[1].tool_calls.push_back(call);
  return t;
}

TEST(ReplayCompare, TheSameConversationHasNoDifference) {
  record::Trajectory again = two_turns();
  again.turns[0].turn_wall_clock_s = 3;  // times are not compared
  again.cost_usd = 1;
  EXPECT_THAT(differences(two_turns(), again), IsEmpty());
}

TEST(ReplayCompare, TheFirstTurnThatDiffersIsNamedWithItsPart) {
  record::Trajectory sent = two_turns();
  sent.turns[0].messages_in[0]["content"] = "gone";
  EXPECT_THAT(differences(two_turns(), sent),
              ElementsAre(HasSubstr("turn 1, messages sent: [0].content at character 2")));
  record::Trajectory answer = two_turns();
  answer.turns[1].response[0]["content"] = "dome";
  EXPECT_THAT(differences(two_turns(), answer), ElementsAre(HasSubstr("turn 2, answer")));
  record::Trajectory tool = two_turns();
  tool.turns[1].tool_calls[0].result_text = "FAILED";
  EXPECT_THAT(differences(two_turns(), tool),
              ElementsAre(HasSubstr("turn 2, tool calls: [0].result")));
}

// How much of a long text a trajectory keeps is a matter of the program's version.
TEST(ReplayCompare, LongTextsAreComparedByTheirHeads) {
  record::Trajectory whole = two_turns();
  record::Trajectory cut = two_turns();
  const std::string text(30'000, 'x');
  whole.turns[0].messages_in[0]["content"] = text;
  cut.turns[0].messages_in[0]["content"] = text.substr(0, 10'000) + "... 20000 bytes left out ...";
  EXPECT_THAT(differences(whole, cut), IsEmpty());
  cut.turns[0].messages_in[0]["content"] = "[30000 bytes as in turn 1, SHA-256 00]";
  EXPECT_THAT(differences(whole, cut), IsEmpty());
  cut.turns[0].messages_in[0]["content"] = "y" + text;
  EXPECT_THAT(differences(whole, cut), ElementsAre(HasSubstr("turn 1, messages sent")));
  // Arguments were kept as text once.
  whole.turns[1].tool_calls[0].args = text;
  cut = whole;
  cut.turns[1].tool_calls[0].args = {{"kernel_code", "x"}};
  EXPECT_THAT(differences(whole, cut), IsEmpty());
}

TEST(ReplayCompare, AnotherEndIsADifference) {
  record::Trajectory fewer = two_turns();
  fewer.turns.pop_back();
  fewer.outcome = "error";
  fewer.stop_reason = "turns";
  EXPECT_THAT(differences(two_turns(), fewer),
              ElementsAre("recorded 2 turns, now 1",
                          "recorded outcome correct, now error",
                          "recorded end 'submitted', now 'turns'"));
}

TEST(ReplayCompare, SpeedIsNoOtherVerdictButCorrectnessIs) {
  const auto outcome = [](const char* verdict, bool success) {
    agent::ToolOutcome out;
    out.success = success;
    out.metadata = {{"verdict", verdict}};
    return out;
  };
  EXPECT_EQ(judged_differently(outcome("PASS_FASTER", true), outcome("PASS_SLOWER", true)), "");
  EXPECT_EQ(judged_differently(outcome("PASS_FASTER", true), outcome("INCORRECT_VALUE", false)),
            "recorded PASS_FASTER (passed), now INCORRECT_VALUE (failed)");
  EXPECT_NE(judged_differently(outcome("COMPILE_ERROR", false), outcome("INCORRECT_VALUE", false)),
            "");
}

}  // namespace
}  // namespace sweep::queue
