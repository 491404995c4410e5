#include "report/compare.h"

#include "report/summary.h"
#include "report/words.h"
#include "stats/paired.h"
#include "stats/resample.h"
#include "stats/summary.h"
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

void add_interval(const std::vector<const Row*>& items, Comparison::Row& row) {
  stats::Numbering problems;
  std::vector<stats::Attempt> attempts;
  for (const Row* item : items) {
    attempts.push_back({problems.of(item->variant + "/" + item->problem),
                        item->speedup ? item->speedup->point : 0.0});
  }
  const auto mean = stats::geometric_mean(attempts, stats::Failures::leave_out, {});
  if (mean.interval) {
    row.mean_low = mean.interval->low;
    row.mean_high = mean.interval->high;
  }
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
  add_interval(items, row);
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

// The first run against number `other`, of one model.
Comparison::Paired paired_of(const Comparison& comparison,
                             std::size_t other,
                             const std::string& model) {
  Comparison::Paired out;
  out.base = comparison.runs.front();
  out.other = comparison.runs[other];
  out.model = model;
  std::vector<stats::Pair> pairs;
  for (const Comparison::Problem& problem : comparison.problems) {
    if (problem.model != model) {
      continue;
    }
    const Comparison::Cell& a = problem.cells.front();
    const Comparison::Cell& b = problem.cells[other];
    std::size_t& with_base = b.correct > 0 ? out.both : out.only_base;
    std::size_t& without_base = b.correct > 0 ? out.only_other : out.neither;
    ++(a.correct > 0 ? with_base : without_base);
    if (a.timed > 0 && b.timed > 0) {
      pairs.push_back({a.geometric_mean, b.geometric_mean});
    }
  }
  out.solved_p = stats::mcnemar_exact({out.both, out.only_base, out.only_other, out.neither});
  if (pairs.empty()) {
    return out;
  }
  const stats::PairedRatio ratio = stats::paired_ratio(pairs, {});
  out.timed = ratio.n;
  out.ratio = ratio.ratio;
  out.low = ratio.interval ? ratio.interval->low : 0;
  out.high = ratio.interval ? ratio.interval->high : 0;
  out.faster = ratio.higher;
  out.slower = ratio.lower;
  out.speed_p = ratio.p_value;
  return out;
}

void add_pairs(Comparison& out) {
  std::vector<std::string> models;
  for (const Comparison::Problem& problem : out.problems) {
    if (std::find(models.begin(), models.end(), problem.model) == models.end()) {
      models.push_back(problem.model);
    }
  }
  for (std::size_t other = 1; other < out.runs.size(); ++other) {
    for (const std::string& model : models) {
      out.pairs.push_back(paired_of(out, other, model));
    }
  }
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
  add_pairs(out);
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

}  // namespace sweep::report
