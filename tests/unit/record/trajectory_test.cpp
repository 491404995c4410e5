#include "record/trajectory.h"

#include "record/json.h"
#include "support.h"
#include "util/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::record {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Trajectory example() {
  Trajectory t;
  t.item_id = "popcorn2/gpt-5.5/level1/3";
  t.run_name = "r";
  t.model_name = "gpt-5.5";
  t.variant = "popcorn2";
  t.level = "1";
  t.problem_id = "3";
  t.finished_at = "2026-01-31T12:00:00.000Z";
  t.outcome = "correct";
  t.cost_usd = 0.5;
  Turn turn;
  turn.messages_in = json::array({{{"role", "user"}, {"content", "hi"}}});
  turn.requests.push_back({});
  turn.requests[0].http_status = 429;
  turn.requests[0].error = "rate_limited";
  ToolCall call;
  call.tool_name = "submit_kernel";
  call.args = {{"kernel_code", "x"}};
  call.success = true;
  turn.tool_calls.push_back(call);
  turn.submitted_kernel = "x";
  turn.llm_usage = Usage{10, 20, 5, 1, false, {{"total", 30}}};
  t.turns.push_back(turn);
  FinalResult result;
  result.compiled = result.correctness = true;
  result.verdict = "PASS_FASTER";
  result.speedup = Interval{1.5, 1.4, 1.6};
  result.runtime_us = 12.5;
  result.timings.push_back({"rows=4096", 18.4, 12.1, Interval{1.52, 1.51, 1.53}, 0.41, 5, 24});
  result.stages.push_back({"check", true, true, "ok", 0.2, 15, 15});
  t.final_result = result;
  return t;
}

TEST(Trajectory, SurvivesTheRoundTrip) {
  const Trajectory before = example();
  const std::string text = canonical(to_json(before));
  const Trajectory after = parse_trajectory(text, "t.json");
  EXPECT_EQ(canonical(to_json(after)), text);
  EXPECT_TRUE(after.finished());
  EXPECT_EQ(after.final_result->timings[0].speedup->high, 1.53);
  EXPECT_EQ(after.turns[0].requests[0].error, "rate_limited");
}

TEST(Trajectory, HasEveryFieldOfPopcornBench) {
  const json t = to_json(example());
  for (const char* name : {"problem_id",
                           "level",
                           "problem_name",
                           "run_name",
                           "model_name",
                           "backend",
                           "precision",
                           "max_turns",
                           "max_tool_calls",
                           "tools_enabled",
                           "started_at",
                           "finished_at",
                           "agent_wall_clock_s",
                           "chat_history_window_truncated",
                           "truncation_occurred",
                           "total_turns",
                           "total_tool_calls",
                           "llm_input_tokens",
                           "llm_output_tokens",
                           "llm_total_tokens",
                           "outcome",
                           "final_result",
                           "turns",
                           "skip_reason",
                           "stress_eval",
                           "bench_slate"}) {
    EXPECT_TRUE(t.contains(name)) << name;
  }
  for (const char* name : {"turn_id",
                           "messages_in",
                           "response",
                           "feedback_to_model",
                           "llm_latency_s",
                           "turn_wall_clock_s",
                           "tools_wall_clock_s",
                           "tool_output_truncated",
                           "reasoning_logged_truncated",
                           "provider_truncated",
                           "provider_truncation_hints",
                           "is_final",
                           "submitted_kernel",
                           "llm_usage",
                           "tool_calls"}) {
    EXPECT_TRUE(t["turns"][0].contains(name)) << name;
  }
  for (const char* name : {"tool_name", "args", "result_text", "success", "metadata"}) {
    EXPECT_TRUE(t["turns"][0]["tool_calls"][0].contains(name)) << name;
  }
  for (const char* name : {"compiled",
                           "correctness",
                           "metadata",
                           "runtime",
                           "runtime_stats",
                           "ref_runtime",
                           "ref_runtime_stats",
                           "source_runtime",
                           "source_runtime_stats",
                           "source_backend",
                           "speedup_vs_source",
                           "memory_stats",
                           "numerical_precision",
                           "kernel_launch_stats",
                           "sol_stats",
                           "energy_stats",
                           "roofline_stats"}) {
    EXPECT_TRUE(t["final_result"].contains(name)) << name;
  }
}

TEST(Trajectory, KeepsPopcornBenchsConventions) {
  const json t = to_json(example());
  EXPECT_EQ(t["level"], 1);
  EXPECT_EQ(t["final_result"]["ref_runtime"], -1);
  EXPECT_TRUE(t["final_result"]["sol_stats"].is_null());
  Trajectory sci = example();
  sci.level = "sci";
  sci.problem_id = "heat2d";
  EXPECT_EQ(to_json(sci)["level"], "sci");
  EXPECT_EQ(trajectory_from_json(to_json(sci)).problem_id, "heat2d");
  EXPECT_EQ(trajectory_from_json(t).level, "1");
  EXPECT_FALSE(trajectory_from_json(t).final_result->ref_runtime_us.has_value());
}

TEST(Trajectory, LeadingZerosStayText) {
  Trajectory t = example();
  t.problem_id = "007";
  EXPECT_EQ(to_json(t)["problem_id"], "007");
}

TEST(Trajectory, MarksTheFileAndEveryTurn) {
  const json t = to_json(example());
  EXPECT_EQ(t["data_policy"], "evaluation-only/do-not-train");
  EXPECT_EQ(t["turns"][0]["data_policy"], "evaluation-only/do-not-train");
}

TEST(Trajectory, NamesTheFieldThatIsWrong) {
  json t = to_json(example());
  t["turns"][0]["tool_calls"][0]["success"] = "yes";
  try {
    static_cast<void>(parse_trajectory(canonical(t), "a.json"));
    FAIL() << "no error";
  } catch (const util::InfraError& error) {
    EXPECT_EQ(error.code(), "E_TRAJECTORY");
    EXPECT_THAT(error.what(), HasSubstr("a.json: trajectory.turns[0].tool_calls[0].success"));
  }
}

// What the tree of the text says, or its error.
std::string by_tree(const std::string& text) {
  try {
    return canonical(to_json(trajectory_from_json(json::parse(text))));
  } catch (const util::InfraError& error) {
    return error.message().what;
  }
}

std::string by_text(const std::string& text) {
  try {
    return canonical(to_json(parse_trajectory(text, "x")));
  } catch (const util::InfraError& error) {
    return error.message().what;
  }
}

TEST(Trajectory, IsReadFromItsTextAsFromItsTree) {
  const json good = to_json(example());
  for (const json& value : std::vector<json>{nullptr,
                                             true,
                                             1,
                                             -1,
                                             -2.5,
                                             std::uint64_t{1} << 63U,
                                             "x",
                                             json::array({1}),
                                             json::object({{"point", 2}})}) {
    for (const auto& field : good.items()) {
      json one = good;
      one[field.key()] = value;
      EXPECT_EQ(by_text(canonical(one)), by_tree(canonical(one))) << field.key() << " " << value;
    }
    for (const auto& field : good["turns"][0].items()) {
      json one = good;
      one["turns"][0][field.key()] = value;
      EXPECT_EQ(by_text(canonical(one)), by_tree(canonical(one))) << field.key() << " " << value;
    }
  }
}

TEST(Trajectory, TakesTheLastOfEqualKeysInAnyOrder) {
  const std::string text =
      R"({"variant": "a", "model_name": "m", "attempt": 2, "variant": "b", "attempt": 3})";
  EXPECT_EQ(parse_trajectory(text, "x").variant, "b");
  EXPECT_EQ(parse_trajectory(text, "x").attempt, 3);
  EXPECT_EQ(parse_trajectory(text, "x").model_name, "m");
}

TEST(Trajectory, LoadsAReducedSkippedMarker) {
  const Trajectory t = parse_trajectory(
      R"({"problem_id": 3, "level": 1, "outcome": "skipped", "skip_reason": "no key", "finished_at": "2026-01-01T00:00:00Z", "final_result": null})",
      "x");
  EXPECT_TRUE(t.finished());
  EXPECT_EQ(t.skip_reason, "no key");
  EXPECT_FALSE(t.final_result.has_value());
}

TEST(Trajectory, HostileTextEndsInAnErrorOrATrajectory) {
  const std::string text = canonical(to_json(example()));
  std::mt19937 random(11);
  for (int i = 0; i < 5000; ++i) {
    try {
      static_cast<void>(parse_trajectory(testing::mutate(text, random), "x"));
    } catch (const util::InfraError&) {
    }
  }
  EXPECT_THROW(static_cast<void>(parse_trajectory(std::string(200000, '['), "x")),
               util::InfraError);
  EXPECT_THROW(static_cast<void>(parse_trajectory("{\"schema\":1e999}", "x")), util::InfraError);
}

TEST(Json, IsCanonical) {
  EXPECT_EQ(canonical({{"b", 1}, {"a", {1.5, nullptr, "\xff"}}}),
            "{\"a\":[1.5,null,\"\xEF\xBF\xBD\"],\"b\":1}");
  EXPECT_THROW(static_cast<void>(parse_bounded("[[[1]]]", "x", 100, 2)), util::InfraError);
  EXPECT_NO_THROW(static_cast<void>(parse_bounded("[[1]]", "x", 100, 2)));
  EXPECT_THROW(static_cast<void>(parse_bounded("[1,2,3]", "x", 6)), util::InfraError);
  EXPECT_EQ(parse_bounded("\"[[[\\\"[\"", "x", 100, 0), "[[[\"[");
}

}  // namespace
}  // namespace sweep::record
