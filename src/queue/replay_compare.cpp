#include "queue/replay_compare.h"

#include "endpoint/replay_server.h"

#include <algorithm>
#include <string>

namespace sweep::queue {

namespace {

using nlohmann::json;

// Of a long text a trajectory keeps head and tail, or a word about where it came first, and how
// much is a matter of the program's version. What went over the wire is compared to the last byte.
constexpr std::size_t kCompared = std::size_t{8} << 10U;

bool names_another_turn(const std::string& text) {
  return text.starts_with('[') && text.ends_with(']') && text.size() < 200 &&
         text.find(" bytes as in turn ") != std::string::npos;
}

bool is_long(const json& value) {
  return value.is_string() && value.get_ref<const std::string&>().size() > kCompared;
}

// Takes out of both what is not compared.
void align(json& a, json& b) {
  if (a.is_string() && b.is_string()) {
    auto& left = a.get_ref<std::string&>();
    auto& right = b.get_ref<std::string&>();
    if (names_another_turn(left) || names_another_turn(right)) {
      a = b = nullptr;
    } else if (is_long(a) && is_long(b)) {
      left.resize(kCompared);
      right.resize(kCompared);
    }
  } else if ((a.is_object() && b.is_object()) || (a.is_array() && b.is_array())) {
    for (auto& [key, value] : a.items()) {
      json* other = nullptr;
      if (b.is_object()) {
        other = b.contains(key) ? &b[key] : nullptr;
      } else if (const std::size_t at = std::stoul(key); at < b.size()) {
        other = &b[at];
      }
      if (other != nullptr) {
        align(value, *other);
      }
    }
  } else if (is_long(a) || is_long(b)) {
    a = b = nullptr;
  }
}

std::string compared(json recorded, json now) {
  align(recorded, now);
  // A cut may have fallen into a character.
  const auto text = [](const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
  };
  return endpoint::first_difference(text(recorded), text(now));
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
