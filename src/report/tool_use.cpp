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

// What every line of an item begins with.
std::string line_head(const Row& row) {
  return fmt::format("{},{},{},{},{},{},",
                     field(row.item),
                     field(row.harness),
                     field(row.model),
                     field(row.variant),
                     field(row.problem),
                     row.attempt);
}

std::string line(const std::string& head,
                 const RowTurn& turn,
                 std::size_t number,
                 const RowCall* call) {
  std::string out = fmt::format("{}{},", head, turn.turn);
  out += call == nullptr ? fmt::format(",,,,,{:.3f},,", turn.started_s)
                         : fmt::format("{},{},{},{},{},{:.3f},{:.3f},",
                                       number + 1,
                                       field(call->tool),
                                       field(call->origin),
                                       call->success ? "true" : "false",
                                       field(call->verdict),
                                       call->started_s,
                                       call->seconds);
  return out + fmt::format("{},{},{},{}\r\n",
                           turn.tokens_before,
                           turn.tokens_after,
                           turn.best_visible_speedup
                               ? fmt::format("{:.6g}", *turn.best_visible_speedup)
                               : "",
                           turn.replayed ? "true" : "false");
}

}  // namespace

std::string tool_use_csv(const std::vector<Row>& rows) {
  std::string out(kHead);
  for (const Row& row : rows) {
    const std::string head = line_head(row);
    for (const RowTurn& turn : row.series) {
      if (turn.calls.empty()) {
        out += line(head, turn, 0, nullptr);
      }
      for (std::size_t i = 0; i < turn.calls.size(); ++i) {
        out += line(head, turn, i, &turn.calls[i]);
      }
    }
  }
  return out;
}

}  // namespace sweep::report
