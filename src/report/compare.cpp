#include "report/compare.h"

#include "report/summary.h"
#include "report/words.h"
#include "util/error.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <compare>
#include <set>

#include <fmt/format.h>

namespace sweep::report {
namespace {

using Items = std::map<std::string, Row>;  // by item_id: variant, model, problem and attempt

// Those that say something about a model.
Items judged_items(const record::RunDir& run) {
  Items out;
  for (const auto& file : run.trajectory_files()) {
    try {
      Row row = row_of(run.load(file), "page");
      if (row.finished() && counts(row)) {
        std::string id = row.item;
        out.emplace(std::move(id), std::move(row));
      }
    } catch (const util::Error&) {
      continue;
    }
  }
  return out;
}

struct Name {
  std::string model, variant, problem;

  auto operator<=>(const Name&) const = default;
};

using Problems = std::map<Name, std::vector<const Row*>>;  // with the attempts of each

Problems problems_in(const Items& items) {
  Problems out;
  for (const auto& [id, row] : items) {
    out[{row.model, row.variant, row.problem}].push_back(&row);
  }
  return out;
}

bool everywhere(const std::vector<Problems>& runs, const Name& name) {
  return std::all_of(
      runs.begin(), runs.end(), [&](const Problems& one) { return one.contains(name); });
}

Comparison::Cell cell_of(const std::vector<const Row*>& items) {
  const Totals totals = total(items);
  return {items.size(),
          totals.correct,
          totals.timed,
          totals.geometric_mean.value_or(0),
          items.size() == 1 ? standing(*items.front()) : std::string()};
}

void note_device(const Row& row, Comparison& out) {
  const std::string& device = row.gpu.empty() ? row.device : row.gpu;
  if (std::find(out.devices.begin(), out.devices.end(), device) == out.devices.end()) {
    out.devices.push_back(device);
  }
  out.on_cpu = out.on_cpu || row.device == "cpu";
}

Comparison::Row side_of(const std::string& run, const std::vector<const Row*>& items) {
  const Totals totals = total(items);
  Comparison::Row row;
  row.run = run;
  row.harness = items.front()->harness;
  row.model = items.front()->model;
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
  for (const Row* item : items) {
    row.turns += static_cast<double>(item->turns);
    row.tool_calls += static_cast<double>(item->tool_calls);
    ++row.stops[item->stop_reason];
    for (const auto& [tool, count] : item->tools) {
      row.tools[tool] += static_cast<std::size_t>(count.calls);
    }
  }
  row.turns /= static_cast<double>(items.size());
  row.tool_calls /= static_cast<double>(items.size());
  return row;
}

// A problem's identity but for the model.
std::set<std::string> without_model(const Items& items) {
  std::set<std::string> out;
  for (const auto& [id, row] : items) {
    out.insert(row.variant + "/" + row.problem);
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
  return shared.empty() ? "no problem of the same variant ended in all of them"
                        : "the same problems ended, but not of the same model, and the model's "
                          "name is part of an item; give it the same [[models]] name in each "
                          "run, or hold models against each other as [[models]] of one run";
}

}  // namespace

Comparison compare(const std::vector<record::RunDir>& runs) {
  std::vector<Items> all;
  std::vector<Problems> problems;
  for (const record::RunDir& run : runs) {
    all.push_back(judged_items(run));
  }
  for (const Items& items : all) {
    problems.push_back(problems_in(items));
  }
  Comparison out;
  for (const auto& [name, items] : problems.front()) {
    if (!everywhere(problems, name)) {
      continue;
    }
    Comparison::Problem& common =
        out.problems.emplace_back(Comparison::Problem{name.model, name.variant, name.problem, {}});
    for (const Problems& one : problems) {
      common.cells.push_back(cell_of(one.at(name)));
      out.uneven = out.uneven || one.at(name).size() != items.size();
    }
  }
  out.why = out.problems.empty() ? why_none(runs, all) : "";
  for (std::size_t i = 0; i < all.size(); ++i) {
    out.runs.push_back(runs[i].folder().filename().string());
    std::map<std::string, std::vector<const Row*>> by_model;
    for (const auto& [name, items] : problems[i]) {
      if (!everywhere(problems, name)) {
        out.dropped += items.size();
        continue;
      }
      for (const Row* item : items) {
        by_model[name.model].push_back(item);
        note_device(*item, out);
      }
    }
    for (const auto& [model, items] : by_model) {
      out.rows.push_back(side_of(out.runs.back(), items));
    }
  }
  return out;
}

std::string counts_text(const std::map<std::string, std::size_t>& counts) {
  std::string out;
  for (const auto& [name, count] : counts) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", util::printable(name), count);
  }
  return out;
}

std::string common_text(const Comparison& comparison) {
  const auto& all = comparison.problems;
  const bool one_model = std::all_of(
      all.begin(), all.end(), [&](const auto& one) { return one.model == all.front().model; });
  const char* plural = all.size() == 1 ? "" : "s";
  return one_model ? fmt::format("{} problem{}", all.size(), plural)
                   : fmt::format("{} pairs of model and problem", all.size());
}

std::string text(const Comparison& comparison) {
  std::string out =
      fmt::format("{} ended in every run{}\n",
                  common_text(comparison),
                  comparison.dropped > 0 ? fmt::format("; {} item{} of others {} left out",
                                                       comparison.dropped,
                                                       comparison.dropped == 1 ? "" : "s",
                                                       comparison.dropped == 1 ? "is" : "are")
                                         : "");
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
    out +=
        fmt::format("  ended by: {}; tools: {}\n", counts_text(row.stops), counts_text(row.tools));
  }
  if (comparison.uneven) {
    out += "the runs have different numbers of attempts: each rate is over all of its run's\n";
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
  nlohmann::json problems = nlohmann::json::array();
  for (const Comparison::Problem& one : comparison.problems) {
    nlohmann::json cells = nlohmann::json::array();
    for (const Comparison::Cell& cell : one.cells) {
      cells.push_back({{"items", cell.items},
                       {"correct", cell.correct},
                       {"geometric_mean",
                        cell.timed > 0 ? nlohmann::json(cell.geometric_mean) : nlohmann::json()},
                       {"standing", cell.standing}});
    }
    problems.push_back({{"model", one.model},
                        {"variant", one.variant},
                        {"problem", one.problem},
                        {"runs", std::move(cells)}});
  }
  return {{"schema", 2},
          {"runs", comparison.runs},
          {"common", comparison.problems.size()},
          {"problems", std::move(problems)},
          {"dropped", comparison.dropped},
          {"uneven", comparison.uneven},
          {"why", comparison.why.empty() ? nlohmann::json() : nlohmann::json(comparison.why)},
          {"devices", comparison.devices},
          {"on_cpu", comparison.on_cpu},
          {"rows", std::move(rows)}};
}

}  // namespace sweep::report
