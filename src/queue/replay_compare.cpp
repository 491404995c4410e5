#include "queue/replay_compare.h"

#include "endpoint/replay_server.h"
#include "record/json.h"

#include <algorithm>

namespace sweep::queue {

namespace {

using nlohmann::json;

std::string compared(const json& recorded, const json& now) {
  return endpoint::first_difference(record::canonical(recorded), record::canonical(now));
}

json calls_json(const record::Turn& turn) {
  json out = json::array();
  for (const record::ToolCall& call : turn.tool_calls) {
    out.push_back({{"tool", call.tool_name},
                   {"id", call.call_id},
                   {"origin", call.origin},
                   {"args", call.args},
                   {"result", call.result_text},
                   {"success", call.success}});
  }
  return out;
}

// A timing that a verdict rests on may fall out otherwise.
std::string without_speed(const std::string& verdict) {
  return verdict.starts_with("PASS") ? "PASS" : verdict;
}

std::string verdict_of(const agent::ToolOutcome& outcome) {
  const auto found = outcome.metadata.find("verdict");
  return found != outcome.metadata.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::vector<std::string> differences(const record::Trajectory& recorded,
                                     const record::Trajectory& now) {
  std::vector<std::string> out;
  const std::size_t both = std::min(recorded.turns.size(), now.turns.size());
  for (std::size_t i = 0; i < both && out.empty(); ++i) {
    const record::Turn& before = recorded.turns[i];
    const record::Turn& after = now.turns[i];
    const auto note = [&](const char* what, const std::string& difference) {
      if (!difference.empty()) {
        out.push_back("turn " + std::to_string(i + 1) + ", " + what + ": " + difference);
      }
    };
    note("messages sent", compared(before.messages_in, after.messages_in));
    note("answer", compared(before.response, after.response));
    note("tool calls", compared(calls_json(before), calls_json(after)));
  }
  if (out.empty() && recorded.turns.size() != now.turns.size()) {
    out.push_back("recorded " + std::to_string(recorded.turns.size()) + " turns, now " +
                  std::to_string(now.turns.size()));
  }
  if (recorded.outcome != now.outcome) {
    out.push_back("recorded outcome " + recorded.outcome + ", now " + now.outcome +
                  (now.error.empty() ? "" : " (" + now.error + ")"));
  }
  if (recorded.stop_reason != now.stop_reason) {
    out.push_back("recorded end '" + recorded.stop_reason + "', now '" + now.stop_reason + "'");
  }
  return out;
}

std::string judged_differently(const agent::ToolOutcome& recorded, const agent::ToolOutcome& now) {
  const std::string before = verdict_of(recorded);
  const std::string after = verdict_of(now);
  if (recorded.success == now.success && without_speed(before) == without_speed(after)) {
    return {};
  }
  return "recorded " + before + (recorded.success ? " (passed)" : " (failed)") + ", now " + after +
         (now.success ? " (passed)" : " (failed)");
}

}  // namespace sweep::queue
