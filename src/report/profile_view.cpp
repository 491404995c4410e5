#include "report/profile_view.h"

#include "report/json_look.h"
#include "report/shown_text.h"
#include "util/text.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sweep::report {

namespace {

constexpr std::size_t kMostProfiledKernels = 8;
constexpr std::size_t kMostCounters = 200;

// The facts of the last profile, and the turn that it was made in, as people count.
std::pair<const nlohmann::json*, std::int64_t> last_profile(const record::Trajectory& trajectory) {
  std::pair<const nlohmann::json*, std::int64_t> found{nullptr, 0};
  for (const record::Turn& turn : trajectory.turns) {
    for (const record::ToolCall& call : turn.tool_calls) {
      const nlohmann::json* facts = look(call.metadata, {"profile"});
      if (facts != nullptr && facts->is_object()) {
        found = {facts, turn.turn_id + 1};
      }
    }
  }
  return found;
}

Markup counter_table(const nlohmann::json& facts) {
  Table table{"counters", "", {"counter"}, {false}, {}};
  std::map<std::string, std::vector<std::string>> counters;  // by name, one value a kernel
  std::size_t kernels = 0;
  for (const nlohmann::json& kernel : look_list(facts, {"kernels"})) {
    const nlohmann::json* metrics = look(kernel, {"metrics"});
    if (kernels == kMostProfiledKernels || metrics == nullptr || !metrics->is_object()) {
      continue;
    }
    table.header.push_back(look_text(kernel, {"kernel"}));
    table.numeric.push_back(true);
    ++kernels;
    for (const auto& [name, value] : metrics->items()) {
      if (value.is_number() && (counters.size() < kMostCounters || counters.contains(name))) {
        counters[name].resize(kernels - 1, "\u2014");
        counters[name].push_back(fmt::format("{:.4g}", value.get<double>()));
      }
    }
  }
  for (auto& [name, values] : counters) {
    values.resize(kernels, "\u2014");
    std::vector<Markup> row = {element("code", text(name))};
    for (const std::string& value : values) {
      row.push_back(text(value));
    }
    table.rows.push_back(std::move(row));
  }
  return table.rows.empty() ? Markup{} : render(table);
}

}  // namespace

Markup profile_view(const record::Trajectory& trajectory) {
  const auto [facts, turn] = last_profile(trajectory);
  if (facts == nullptr) {
    return {};
  }
  std::string words = fmt::format("Of the version of turn {}", turn);
  const std::string shape = look_text(*facts, {"shape"});
  words += shape.empty() ? "" : ", on " + shape;
  const auto seconds = look_number(*facts, {"total_seconds"});
  words += seconds ? ", " + util::human_seconds(*seconds) + " under the profiler" : "";
  words += ".";
  const std::string bound = look_text(*facts, {"bottleneck"});
  words += bound.empty() ? "" : " What bounds the slowest launch: " + bound + ".";
  const std::string stall = look_text(*facts, {"top_stall"});
  words += stall.empty() ? "" : " Its warps wait most for: " + stall + ".";
  return element("h2", {{"id", "profile"}}, text("Profile")) + element("p", text(words)) +
         fold("counters-fold", "All counters", counter_table(*facts));
}

}  // namespace sweep::report
