#include "report/compare.h"

#include "report/summary.h"
#include "util/error.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace sweep::report {
namespace {

using Items = std::map<std::string, Item>;  // by item_id: variant, model, problem and attempt

// Those that say something about a model.
Items judged_items(const record::RunDir& run) {
  Items out;
  for (const auto& file : run.trajectory_files()) {
    try {
      Item item{run.load(file), "page"};
      const record::Trajectory& t = item.trajectory;
      if (t.finished() && t.outcome != "skipped" && t.outcome != "infra_error") {
        out.emplace(t.item_id, std::move(item));
      }
    } catch (const util::Error&) {
      continue;
    }
  }
  return out;
}

bool everywhere(const std::vector<Items>& runs, const std::string& id) {
  return std::all_of(runs.begin(), runs.end(), [&](const Items& one) { return one.contains(id); });
}

void note_device(const record::Trajectory& t, Comparison& out) {
  const std::string device =
      t.provenance.gpu_name.empty() ? t.provenance.device : t.provenance.gpu_name;
  if (std::find(out.devices.begin(), out.devices.end(), device) == out.devices.end()) {
    out.devices.push_back(device);
  }
  out.on_cpu = out.on_cpu || t.provenance.device == "cpu";
}

Comparison::Row row_of(const std::string& run, const std::vector<const Item*>& items) {
  const Totals totals = total(items);
  Comparison::Row row;
  row.run = run;
  row.harness = items.front()->trajectory.harness;
  row.model = items.front()->trajectory.model_name;
  row.items = items.size();
  row.correct = totals.correct;
  if (totals.correct_rate) {
    row.rate_low = totals.correct_rate->low;
    row.rate_high = totals.correct_rate->high;
  }
  row.timed = totals.timed;
  row.geometric_mean = totals.geometric_mean.value_or(0);
  row.tokens = totals.input_tokens + totals.output_tokens;
  row.cost_usd = totals.cost_usd.value_or(-1);
  for (const Item* item : items) {
    const record::Trajectory& t = item->trajectory;
    row.turns += static_cast<double>(t.turns.size());
    row.tool_calls += static_cast<double>(t.total_tool_calls);
    ++row.stops[t.stop_reason];
    for (const record::Turn& turn : t.turns) {
      for (const record::ToolCall& call : turn.tool_calls) {
        ++row.tools[call.tool_name];
      }
    }
  }
  row.turns /= static_cast<double>(items.size());
  row.tool_calls /= static_cast<double>(items.size());
  return row;
}

std::string counts(const std::map<std::string, std::size_t>& all) {
  std::string out;
  for (const auto& [name, count] : all) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", util::printable(name), count);
  }
  return out;
}

// An item's identity but for the model.
std::set<std::string> without_model(const Items& items) {
  std::set<std::string> out;
  for (const auto& [id, item] : items) {
    const record::Trajectory& t = item.trajectory;
    out.insert(fmt::format("{}/{}/{}", t.variant, problem_of(t), t.attempt));
  }
  return out;
}

// Why no item is in all of them.
std::string why_none(const std::vector<record::RunDir>& runs, const std::vector<Items>& all) {
  std::set<std::string> shared = without_model(all.front());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].empty()) {
      return fmt::format("no item of {} has ended yet",
                         util::printable(runs[i].folder().filename().string()));
    }
    const std::set<std::string> here = without_model(all[i]);
    std::erase_if(shared, [&](const std::string& id) { return !here.contains(id); });
  }
  return shared.empty() ? "no problem (with variant and attempt) ended in all of them"
                        : "the same problems ended, but not of the same model, and the model's "
                          "name is part of an item; give it the same [[models]] name in each "
                          "run, or hold models against each other as [[models]] of one run";
}

}  // namespace

Comparison compare(const std::vector<record::RunDir>& runs) {
  std::vector<Items> all;
  for (const record::RunDir& run : runs) {
    all.push_back(judged_items(run));
  }
  Comparison out;
  for (const auto& [id, item] : all.front()) {
    out.common += everywhere(all, id) ? 1U : 0U;
  }
  out.why = out.common == 0 ? why_none(runs, all) : "";
  for (std::size_t i = 0; i < all.size(); ++i) {
    out.dropped += all[i].size() - out.common;
    std::map<std::string, std::vector<const Item*>> by_model;
    for (const auto& [id, item] : all[i]) {
      if (everywhere(all, id)) {
        by_model[item.trajectory.model_name].push_back(&item);
        note_device(item.trajectory, out);
      }
    }
    for (const auto& [model, items] : by_model) {
      out.rows.push_back(row_of(runs[i].folder().filename().string(), items));
    }
  }
  return out;
}

std::string text(const Comparison& comparison) {
  std::string out = fmt::format(
      "{} item{} ended in every run{}\n",
      comparison.common,
      comparison.common == 1 ? "" : "s",
      comparison.dropped > 0 ? fmt::format("; {} others are left out", comparison.dropped) : "");
  if (comparison.rows.empty()) {
    return out + comparison.why + "\n";
  }
  out += fmt::format("{:<20}  {:<12}  {:<20}  {:>9}  {:>11}  {:>8}  {:>6}  {:>6}  {:>8}\n",
                     "run",
                     "harness",
                     "model",
                     "correct",
                     "95%",
                     "speedup",
                     "turns",
                     "calls",
                     "tokens");
  for (const Comparison::Row& row : comparison.rows) {
    out += fmt::format("{:<20}  {:<12}  {:<20}  {:>9}  {:>11}  {:>8}  {:>6.1f}  {:>6.1f}  {:>8}\n",
                       util::printable(row.run),
                       util::printable(row.harness),
                       util::printable(row.model),
                       fmt::format("{}/{}", row.correct, row.items),
                       fmt::format("{:.0f}%-{:.0f}%", 100 * row.rate_low, 100 * row.rate_high),
                       row.timed > 0 ? fmt::format("{:.2f}x", row.geometric_mean) : "-",
                       row.turns,
                       row.tool_calls,
                       util::human_count(static_cast<std::uint64_t>(row.tokens)));
    out += fmt::format("  ended by: {}; tools: {}\n", counts(row.stops), counts(row.tools));
  }
  if (comparison.devices.size() > 1) {
    out += "the runs are from different devices: their speedups do not compare\n";
  }
  return out + (comparison.on_cpu ? "times of the cpu device are no GPU times\n" : "") +
         "speedup: geometric mean over correct kernels that were timed, against the seed\n";
}

nlohmann::json to_json(const Comparison& comparison) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Comparison::Row& row : comparison.rows) {
    rows.push_back(
        {{"run", row.run},
         {"harness", row.harness},
         {"model", row.model},
         {"items", row.items},
         {"correct", row.correct},
         {"rate_low", row.rate_low},
         {"rate_high", row.rate_high},
         {"timed", row.timed},
         {"geometric_mean", row.timed > 0 ? nlohmann::json(row.geometric_mean) : nlohmann::json()},
         {"turns", row.turns},
         {"tool_calls", row.tool_calls},
         {"tokens", row.tokens},
         {"cost_usd", row.cost_usd >= 0 ? nlohmann::json(row.cost_usd) : nlohmann::json()},
         {"stops", row.stops},
         {"tools", row.tools}});
  }
  return {{"schema", 1},
          {"common", comparison.common},
          {"dropped", comparison.dropped},
          {"why", comparison.why.empty() ? nlohmann::json() : nlohmann::json(comparison.why)},
          {"devices", comparison.devices},
          {"on_cpu", comparison.on_cpu},
          {"rows", std::move(rows)}};
}

}  // namespace sweep::report
