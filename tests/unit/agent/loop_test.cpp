#include "agent/prompt.h"
#include "agent/session.h"
#include "fakes.h"
#include "record/trajectory.h"
#include "util/error.h"

#include <gmock/gmock.h>

namespace sweep::agent {
namespace {

using test::call;
using test::says;
using test::World;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string last_text(const endpoint::Conversation& conversation) {
  return conversation.back().text;
}

TEST(Loop, CompileErrorThenCorrectThenSubmit) {
  World w;
  w.model.answers = {says("a", {call("compile_kernel", "broken")}),
                     says("b", {call("run_correctness", "fast kernel")}),
                     says("c", {call("submit_kernel", "fast kernel")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.outcome, "correct");
  EXPECT_EQ(t.stop_reason, "submitted");
  ASSERT_EQ(t.turns.size(), 3U);
  EXPECT_FALSE(t.turns[0].tool_calls[0].success);
  EXPECT_THAT(t.turns[0].tool_calls[0].result_text, HasSubstr("compile_kernel FAILED"));
  EXPECT_THAT(t.turns[1].tool_calls[0].result_text, HasSubstr("run_correctness PASSED"));
  EXPECT_EQ(t.turns[2].submitted_kernel, "fast kernel");
  EXPECT_TRUE(t.turns[2].is_final);
  EXPECT_EQ(t.final_result->verdict, "PASS_FASTER");
  EXPECT_EQ(w.memory.artifacts.at(t.final_result->kernel_sha256), "fast kernel");
  EXPECT_EQ(t.llm_total_tokens, 330);
  EXPECT_DOUBLE_EQ(*t.cost_usd, 3 * (60 * 2e-6 + 40 * 1e-6 + 10 * 8e-6));
  EXPECT_EQ(t.turns[0].requests.size(), 2U);
  EXPECT_EQ(t.turns[0].requests[0].error, "rate_limited");
  EXPECT_EQ(t.turns[0].requests[1].ledger_hash, "row1");
  EXPECT_EQ(w.memory.saved.at(0).outcome, "in_progress");
  EXPECT_TRUE(w.memory.saved.back().finished());
  // The model saw each result under its own call.
  EXPECT_EQ(w.model.asked[1].back().speaker, endpoint::Speaker::tool);
  EXPECT_EQ(w.model.asked[1].back().call_id, t.turns[0].tool_calls[0].call_id);
  EXPECT_EQ(record::to_json(record::trajectory_from_json(record::to_json(t))), record::to_json(t));
}

TEST(Loop, PromptsHoldTaskAndBudgetsAndNoHoles) {
  World w;
  w.model.answers = {says("", {call("submit_kernel", "fast")})};
  (void)w.run();
  const endpoint::Conversation& first = w.model.asked[0];
  ASSERT_EQ(first.size(), 2U);
  EXPECT_THAT(first[0].text, HasSubstr("6 turns"));
  EXPECT_THAT(first[0].text, HasSubstr("run_correctness"));
  EXPECT_THAT(first[1].text, HasSubstr("Problem level1/3: T"));
  EXPECT_THAT(first[1].text, HasSubstr("//@ problem level1/3"));
  for (const endpoint::Message& message : first)
    EXPECT_THAT(message.text, Not(HasSubstr("{{")));
  EXPECT_EQ(w.model.offered.size(), 5U);
  EXPECT_EQ(prompts_sha256().size(), 64U);
}

TEST(Loop, StressIsOneBitAndNothingHiddenReachesTheConversation) {
  World w;
  w.model.answers = {says("", {call("submit_kernel", "hardcoded")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.outcome, "incorrect");
  EXPECT_EQ(t.final_result->verdict, "INCORRECT_GENERALISATION");
  EXPECT_EQ(t.final_result->inner_verdict, "INCORRECT_VALUE");
  EXPECT_THAT(t.turns[0].tool_calls[0].result_text, Not(HasSubstr("SECRET")));
  EXPECT_THAT(t.turns[0].feedback_to_model, Not(HasSubstr("1031")));
}

TEST(Loop, TheVariantDecidesWhetherStressGates) {
  for (const auto& [variant, gates] :
       {std::pair{"popcorn", false}, std::pair{"popcorn2", true}, std::pair{"custom", true}}) {
    World w;
    w.item.variant = variant;
    w.model.answers = {says("", {call("submit_kernel", "fast")})};
    (void)w.run();
    ASSERT_EQ(w.judge.requests.size(), 1U);
    EXPECT_EQ(w.judge.requests[0].stress_gates, gates) << variant;
  }
  World w;
  w.item.variant = "popcorn";
  w.config.run.stress = true;  // popcorn_stress_eval
  w.model.answers = {says("", {call("submit_kernel", "fast")})};
  (void)w.run();
  EXPECT_TRUE(w.judge.requests.at(0).stress_gates);
}

TEST(Loop, UsedUpTurnsHandInTheFastestCorrectKernel) {
  World w;
  w.config.agent.harness.max_turns = 4;
  w.model.answers = {
      says("", {call("run_correctness", "slow one"), call("run_correctness", "wrong")}),
      says("", {call("run_correctness", "fast one")}),
      says("", {call("compile_kernel", "other")}),
      says("no tool")};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.stop_reason, "turns");
  EXPECT_EQ(t.outcome, "correct");
  EXPECT_EQ(t.turns.back().submitted_kernel, "fast one");
  EXPECT_EQ(t.turns.back().tool_calls.back().origin, "auto");
  EXPECT_THAT(last_text(w.model.asked[2]), HasSubstr("1 answer after this answer"));
  EXPECT_THAT(last_text(w.model.asked[3]), HasSubstr("last answer"));
}

TEST(Loop, AnswerWithoutAToolIsNudgedAndAtLastItsCodeIsTaken) {
  World w;
  w.config.agent.harness.max_turns = 2;
  w.model.answers = {says("I think"), says("Here:\n```cuda\n__global__ void fast() {}\n```\ndone")};
  const record::Trajectory t = w.run();
  EXPECT_THAT(w.model.asked[1].back().text, HasSubstr("called no tool"));
  EXPECT_THAT(w.model.asked[1].back().text, HasSubstr("last answer"));
  EXPECT_EQ(t.outcome, "correct");
  EXPECT_EQ(t.turns[1].submitted_kernel, "__global__ void fast() {}\n");
  EXPECT_EQ(t.turns[1].tool_calls[0].origin, "text:fence");
}

TEST(Loop, WastedAndProvidersCostsStandBesideTheUsefulOne) {
  World w;
  w.config.agent.harness.max_turns = 1;
  endpoint::Completion answer = says("", {call("submit_kernel", "fast")});
  answer.attempts = {{200, "transport", "", 0.1, 0, 50, 20}, {200, "ok", "", 0.2, 1.5}};
  answer.usage.provider_nano_usd = 123;
  w.model.answers = {answer};
  const record::Trajectory t = w.run();
  EXPECT_DOUBLE_EQ(*t.cost_usd, 60 * 2e-6 + 40 * 1e-6 + 10 * 8e-6);
  EXPECT_DOUBLE_EQ(*t.cost_wasted_usd, 50 * 2e-6 + 20 * 8e-6);
  EXPECT_DOUBLE_EQ(*t.cost_provider_usd, 123e-9);
  const nlohmann::json& facts = w.memory.requests.at(0).facts;
  EXPECT_EQ(facts["cost_nano_usd"], 240'000);
  EXPECT_EQ(facts["wasted_nano_usd"], 260'000);
  EXPECT_EQ(facts["price_sha256"], config::price_sha256(*w.config.models[0].price));
  // An interrupted item counts the same on replay.
  World again;
  again.config.agent.harness.max_turns = 1;
  again.model.answers = w.model.answers;
  again.memory.old_requests = w.memory.requests;
  again.memory.artifacts = w.memory.artifacts;
  again.memory.old_requests[0].output_sha256 = again.memory.put_artifact("0");
  const record::Trajectory replayed = again.run();
  EXPECT_TRUE(replayed.turns.at(0).replayed);
  EXPECT_EQ(replayed.cost_wasted_usd, t.cost_wasted_usd);
}

TEST(Loop, AnUnknownPriceIsNotZero) {
  World w;
  w.config.models[0].price.reset();
  w.model.answers = {says("", {call("submit_kernel", "fast")})};
  const record::Trajectory t = w.run();
  EXPECT_FALSE(t.cost_usd);
  EXPECT_FALSE(t.cost_wasted_usd);
  EXPECT_EQ(t.price_sha256, "");
  EXPECT_FALSE(w.memory.requests.at(0).facts.contains("cost_nano_usd"));
}

TEST(Loop, ReasoningIsNeverTakenForCode) {
  World w;
  w.config.agent.harness.max_turns = 1;
  endpoint::Completion answer = says("");
  answer.message.reasoning = "```\n__global__ void fast() {}\n```";
  w.model.answers = {answer};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.outcome, "error");
  EXPECT_TRUE(w.judge.requests.empty());
}

TEST(Loop, SameTextToTheSameToolEndsTheSession) {
  World w;
  w.model.answers = {says("", {call("run_correctness", "slow")}),
                     says("", {call("compile_kernel", "slow")}),
                     says("", {call("run_correctness", "slow"), call("run_correctness", "fast")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.stop_reason, "policy_stop");
  EXPECT_EQ(t.turns.back().submitted_kernel, "slow");
  EXPECT_EQ(w.judge.requests.size(), 3U);
}

TEST(Loop, BadCallsAreAnsweredAndCounted) {
  World w;
  endpoint::ToolCall unfinished = call("compile_kernel", "x");
  unfinished.problem = "the arguments are not valid JSON: send the call again";
  unfinished.arguments = "{\"kernel_code";
  endpoint::ToolCall empty = call("compile_kernel", "");
  w.model.answers = {says("", {call("rm_rf", "x"), unfinished, empty}),
                     says("", {call("submit_kernel", "```cuda\nfast\n```")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.total_tool_calls, 4);
  EXPECT_THAT(t.turns[0].tool_calls[0].result_text, HasSubstr("no tool 'rm_rf'"));
  EXPECT_THAT(t.turns[0].tool_calls[1].result_text, HasSubstr("not valid JSON"));
  EXPECT_THAT(t.turns[0].tool_calls[2].result_text, HasSubstr("kernel_code is empty"));
  EXPECT_EQ(t.turns[1].submitted_kernel, "fast\n");
}

TEST(Loop, ToolBudgetLeavesSubmitOpen) {
  World w;
  w.config.agent.harness.max_tool_calls = 1;
  w.model.answers = {says("", {call("compile_kernel", "a"), call("compile_kernel", "b")}),
                     says("", {call("submit_kernel", "fast")})};
  const record::Trajectory t = w.run();
  EXPECT_THAT(t.turns[0].tool_calls[1].result_text, HasSubstr("limit reached"));
  EXPECT_EQ(t.outcome, "correct");
  EXPECT_EQ(w.judge.requests.size(), 2U);
}

endpoint::EndpointFailure failure(endpoint::FailureKind kind, bool retry) {
  endpoint::EndpointFailure out;
  out.kind = kind;
  out.status = 503;
  out.text = "host: HTTP 503; try later";
  out.retry = retry;
  out.attempts = {{503, "overloaded", "", 0.1, 0}};
  return out;
}

TEST(Loop, EndpointFailureStillHandsInTheBestKernel) {
  World w;
  w.model.answers = {says("", {call("run_correctness", "fast")}),
                     failure(endpoint::FailureKind::overloaded, true)};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.stop_reason, "endpoint");
  EXPECT_EQ(t.outcome, "correct");
  EXPECT_EQ(t.error_code, "E_ENDPOINT_OVERLOADED");
  EXPECT_EQ(t.turns.back().submitted_kernel, "fast");
}

TEST(Loop, EndpointFailureWithoutAKernelNeverCountsAgainstTheModel) {
  World w;
  w.model.answers = {failure(endpoint::FailureKind::overloaded, true)};
  EXPECT_EQ(w.run().outcome, "infra_error");
  World x;
  x.model.answers = {failure(endpoint::FailureKind::context_overflow, false)};
  EXPECT_EQ(x.run().outcome, "error");
}

// It is what the model does: asked again, it would say and cost as much again.
TEST(Loop, AnAnswerThatIsTooLargeCountsForTheModelAndIsNotAskedForAgain) {
  World w;
  w.model.answers = {says("", {call("run_correctness", "fast")}),
                     failure(endpoint::FailureKind::answer_too_large, false)};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.stop_reason, "endpoint");
  EXPECT_EQ(t.outcome, "correct");
  EXPECT_EQ(t.error_code, "E_ENDPOINT_ANSWER_TOO_LARGE");
  World x;
  x.model.answers = {failure(endpoint::FailureKind::answer_too_large, false)};
  EXPECT_EQ(x.run().outcome, "error");
  // Nor after a kill.
  World again;
  again.model.answers = x.model.answers;
  again.memory.old_requests = x.memory.requests;
  EXPECT_EQ(again.run().outcome, "error");
  EXPECT_TRUE(again.model.asked.empty());
}

TEST(Loop, JudgeFailureIsTriedAgainAndThenInfra) {
  World w;
  w.model.answers = {says("", {call("compile_kernel", "infra")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.outcome, "infra_error");
  EXPECT_EQ(t.stop_reason, "infra");
  EXPECT_EQ(w.judge.requests.size(), 2U);
  EXPECT_TRUE(w.memory.tools.empty());
}

TEST(Loop, SingleTurnHasOneToolAndDemandsIt) {
  World w;
  w.config.agent.harness = config::builtin_harness("single_turn");
  w.model.answers = {says("", {call("submit_kernel", "wrong")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(w.model.offered.size(), 1U);
  EXPECT_TRUE(w.model.last_settings.tool_required);
  EXPECT_EQ(t.max_turns, 1);
  EXPECT_EQ(t.outcome, "incorrect");
}

TEST(Loop, StoppingLeavesTheItemInProgress) {
  World w;
  w.model.answers = {says("", {call("run_correctness", "fast")}), says("")};
  w.memory.stop = [&] { return w.judge.requests.size() == 1; };
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.outcome, "in_progress");
  EXPECT_EQ(t.stop_reason, "interrupted");
  EXPECT_FALSE(t.finished());
}

TEST(Loop, ASpentBudgetLeavesTheItemInProgressBeforeTheNextRequest) {
  World w;
  w.memory.budget = 1;
  w.model.answers = {says("", {call("run_correctness", "fast")}),
                     says("", {call("submit_kernel", "fast")})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.outcome, "in_progress");
  EXPECT_EQ(t.stop_reason, "budget");
  EXPECT_EQ(w.model.asked.size(), 1U);
  EXPECT_FALSE(t.final_result);
}

TEST(Loop, AKernelThatIsKnownToBeWrongIsHandedInWhereThereIsNoOther) {
  World w;
  w.config.agent.harness.max_turns = 2;
  w.model.answers = {says("", {call("run_correctness", "wrong")}), says("no more ideas")};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.outcome, "incorrect");
  EXPECT_EQ(w.memory.artifacts.at(t.final_result->kernel_sha256), "wrong");
}

TEST(Loop, WallLimitEndsTheItem) {
  World w;
  w.config.agent.turn_delay_s = 2000;
  w.config.parallelism.worker_timeout_s = 1800;
  w.model.answers = {says("", {call("compile_kernel", "a")}), says("x"), says("x")};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.stop_reason, "timeout");
  EXPECT_EQ(t.outcome, "timeout");
  EXPECT_EQ(w.model.asked.size(), 2U);
}

TEST(Replay, FinishedRequestsAndToolsAreNotRepeated) {
  World first;
  first.model.answers = {says("", {call("compile_kernel", "broken")}),
                         says("", {call("run_correctness", "fast")}),
                         says("", {call("submit_kernel", "fast")})};
  first.memory.stop = [&] { return first.judge.requests.size() == 2; };
  EXPECT_EQ(first.run().outcome, "in_progress");

  World second;
  second.model.answers = first.model.answers;
  second.model.next = 2;
  second.memory.artifacts = first.memory.artifacts;
  second.memory.old_requests = first.memory.requests;
  second.memory.old_tools = first.memory.tools;
  const record::Trajectory t = second.run();
  EXPECT_EQ(t.outcome, "correct");
  EXPECT_EQ(second.model.asked.size(), 1U);
  EXPECT_EQ(second.judge.requests.size(), 1U);
  EXPECT_EQ(second.memory.requests.size(), 1U);
  EXPECT_EQ(second.memory.requests[0].index, 2);
  ASSERT_EQ(t.turns.size(), 3U);
  EXPECT_TRUE(t.turns[0].replayed);
  EXPECT_FALSE(t.turns[2].replayed);
  EXPECT_EQ(t.llm_total_tokens, 330);
  EXPECT_EQ(t.turns[1].requests.size(), 2U);
}

TEST(Replay, AChangedConversationIsAskedAnew) {
  World first;
  first.model.answers = {says("", {call("submit_kernel", "fast")})};
  (void)first.run();
  World second;
  second.task.statement = "changed";
  second.model.answers = first.model.answers;
  second.memory.artifacts = first.memory.artifacts;
  second.memory.old_requests = first.memory.requests;
  second.memory.old_tools = first.memory.tools;
  (void)second.run();
  EXPECT_EQ(second.model.asked.size(), 1U);
  EXPECT_EQ(second.judge.requests.size(), 1U);
}

TEST(Window, KeepsHeadAndTailAndNoOrphanedToolResult) {
  World w;
  w.config.agent.chat_context_tail_messages = 3;
  w.model.answers = {says("1", {call("compile_kernel", "a")}),
                     says("2", {call("compile_kernel", "b")}),
                     says("3", {call("compile_kernel", "c")}),
                     says("4", {call("submit_kernel", "fast")})};
  const record::Trajectory t = w.run();
  EXPECT_TRUE(t.chat_history_window_truncated);
  const endpoint::Conversation& sent = w.model.asked[3];
  EXPECT_EQ(sent[0].speaker, endpoint::Speaker::system);
  EXPECT_THAT(sent[1].text, HasSubstr("Earlier turns are left out"));
  EXPECT_EQ(sent[2].speaker, endpoint::Speaker::assistant);
  EXPECT_LE(sent.size(), 5U);
}

TEST(Prompts, ValuesAreNotExpandedAgainAndHolesAreFaults) {
  EXPECT_THAT(fill_prompt("nudge.md", {{"tools", "{{tools}}"}}), HasSubstr("{{tools}}"));
  EXPECT_THROW((void)fill_prompt("nudge.md"), util::InfraError);
  EXPECT_THROW((void)fill_prompt("none.md"), util::InfraError);
}

}  // namespace
}  // namespace sweep::agent
