#include "report/tool_use.h"

#include "util/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::report {
namespace {

constexpr std::string_view kHead =
    "item,harness,model,variant,problem,attempt,turn,call,tool,origin,success,verdict,started_s,"
    "seconds,tokens_before,tokens_after,best_visible_speedup,replayed\r\n";

// Spreadsheets take a text that begins so for a formula, and model and tool names are hostile.
std::string field(std::string_view text) {
  std::string clean = util::printable(std::string(text));
  if (!clean.empty() && std::string_view("=+-@").find(clean.front()) != std::string_view::npos) {
    clean.insert(clean.begin(), '\'');
  }
  if (clean.find_first_of(",\"\r\n") == std::string::npos) {
    return clean;
  }
  std::string out = "\"";
  for (const char c : clean) {
    out += c;
    out += c == '"' ? "\"" : "";
  }
  return out + "\"";
}

std::string verdict_of(const record::ToolCall& call) {
  const auto found =
      call.metadata.is_object() ? call.metadata.find("verdict") : call.metadata.end();
  return found != call.metadata.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string row(const record::Trajectory& t,
                const record::Turn& turn,
                std::size_t number,
                const record::ToolCall* call) {
  std::string out = fmt::format("{},{},{},{},{},{},{},",
                                field(t.item_id),
                                field(t.harness),
                                field(t.model_name),
                                field(t.variant),
                                field(problem_of(t)),
                                t.attempt,
                                turn.turn_id + 1);
  out += call == nullptr ? fmt::format(",,,,,{:.3f},,", turn.started_s)
                         : fmt::format("{},{},{},{},{},{:.3f},{:.3f},",
                                       number + 1,
                                       field(call->tool_name),
                                       field(call->origin),
                                       call->success ? "true" : "false",
                                       field(verdict_of(*call)),
                                       call->started_s,
                                       call->wall_clock_s);
  return out + fmt::format("{},{},{},{}\r\n",
                           turn.tokens_before,
                           turn.tokens_after,
                           turn.best_visible_speedup
                               ? fmt::format("{:.6g}", *turn.best_visible_speedup)
                               : "",
                           turn.replayed ? "true" : "false");
}

}  // namespace

std::string tool_use_csv(const std::vector<Item>& items) {
  std::string out(kHead);
  for (const Item& item : items) {
    for (const record::Turn& turn : item.trajectory.turns) {
      if (turn.tool_calls.empty()) {
        out += row(item.trajectory, turn, 0, nullptr);
      }
      for (std::size_t i = 0; i < turn.tool_calls.size(); ++i) {
        out += row(item.trajectory, turn, i, &turn.tool_calls[i]);
      }
    }
  }
  return out;
}

}  // namespace sweep::report
