// A comparison as text and JSON.
#include "report/compare.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace sweep::report {

namespace {

std::string interval_words(double low, double high) {
  if (low <= 0) {
    return "-";
  }
  const auto [from, to] = util::human_bounds(low, high);
  return from + " .. " + to;
}

// As it fits a column.
std::string name_in_column(const std::string& name) {
  constexpr std::size_t widest = 24;
  const std::string shown = util::printable(name);
  return shown.size() <= widest ? shown : util::to_valid_utf8(shown.substr(0, widest - 3)) + "...";
}

std::string sides_text(const Comparison& comparison) {
  constexpr std::string_view line =
      "{:<24}  {:<12}  {:<24}  {:>7}  {:>9}  {:>7}  {:>14}  {:>5}  {:>5}  {:>6}\n";
  std::string out = fmt::format(fmt::runtime(line),
                                "run",
                                "harness",
                                "model",
                                "correct",
                                "95%",
                                "speedup",
                                "95%",
                                "turns",
                                "calls",
                                "tokens");
  for (const Comparison::Row& row : comparison.rows) {
    out += fmt::format(fmt::runtime(line),
                       name_in_column(row.run),
                       name_in_column(row.harness),
                       name_in_column(row.model),
                       fmt::format("{}/{}", row.correct, row.items),
                       fmt::format("{:.0f}%-{:.0f}%", 100 * row.rate_low, 100 * row.rate_high),
                       row.timed > 0 ? util::human_ratio(row.geometric_mean) : "-",
                       interval_words(row.mean_low, row.mean_high),
                       fmt::format("{:.1f}", row.turns),
                       fmt::format("{:.1f}", row.tool_calls),
                       util::human_count(static_cast<std::uint64_t>(row.tokens)));
    out +=
        fmt::format("  ended by: {}; tools: {}\n", counts_text(row.stops), counts_text(row.tools));
  }
  return out;
}

std::string paired_text(const Comparison::Paired& pair) {
  std::string out = fmt::format("{} against {}, {}:\n",
                                util::printable(pair.other),
                                util::printable(pair.base),
                                util::printable(pair.model));
  out += fmt::format(
      "  solved by both {}, only by {} {}, only by {} {}, by neither {}; McNemar's "
      "exact test p = {:.3g}\n",
      pair.both,
      util::printable(pair.base),
      pair.only_base,
      util::printable(pair.other),
      pair.only_other,
      pair.neither,
      pair.solved_p);
  if (pair.timed == 0) {
    return out + "  no problem has a timed correct kernel in both\n";
  }
  return out + fmt::format(
                   "  its speedups over those: {} [{}] on {} problem{}, higher on {}, lower "
                   "on {}; sign test p = {:.3g}\n",
                   util::human_ratio(pair.ratio),
                   interval_words(pair.low, pair.high),
                   pair.timed,
                   pair.timed == 1 ? "" : "s",
                   pair.faster,
                   pair.slower,
                   pair.speed_p);
}

nlohmann::json pairs_json(const Comparison& comparison) {
  nlohmann::json out = nlohmann::json::array();
  const auto known = [](double value) {
    return value > 0 ? nlohmann::json(value) : nlohmann::json();
  };
  for (const Comparison::Paired& pair : comparison.pairs) {
    out.push_back({{"base", pair.base},
                   {"other", pair.other},
                   {"model", pair.model},
                   {"both", pair.both},
                   {"only_base", pair.only_base},
                   {"only_other", pair.only_other},
                   {"neither", pair.neither},
                   {"solved_p", pair.solved_p},
                   {"timed", pair.timed},
                   {"ratio", known(pair.ratio)},
                   {"low", known(pair.low)},
                   {"high", known(pair.high)},
                   {"faster", pair.faster},
                   {"slower", pair.slower},
                   {"speed_p", pair.timed > 0 ? nlohmann::json(pair.speed_p) : nlohmann::json()}});
  }
  return out;
}

}  // namespace

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
  out += sides_text(comparison);
  for (const Comparison::Paired& pair : comparison.pairs) {
    out += paired_text(pair);
  }
  if (comparison.pairs.size() > 1) {
    out += fmt::format("the p-values are of {} comparisons and are not corrected for that\n",
                       comparison.pairs.size());
  }
  if (comparison.uneven) {
    out +=
        "the runs have different numbers of attempts: each rate is over all of its run's, and a "
        "run with more of them solves a problem more easily\n";
  }
  if (comparison.devices.size() > 1) {
    out += "the runs are from different devices: their speedups do not compare\n";
  }
  return out + (comparison.on_cpu ? "times of the cpu device are no GPU times\n" : "") +
         "speedup: geometric mean over correct kernels that were timed, against the seed; its "
         "interval is a bootstrap over problems\n";
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
         {"mean_low", row.mean_low > 0 ? nlohmann::json(row.mean_low) : nlohmann::json()},
         {"mean_high", row.mean_high > 0 ? nlohmann::json(row.mean_high) : nlohmann::json()},
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
  return {{"schema", 3},
          {"runs", comparison.runs},
          {"common", comparison.problems.size()},
          {"problems", std::move(problems)},
          {"dropped", comparison.dropped},
          {"uneven", comparison.uneven},
          {"why", comparison.why.empty() ? nlohmann::json() : nlohmann::json(comparison.why)},
          {"devices", comparison.devices},
          {"on_cpu", comparison.on_cpu},
          {"rows", std::move(rows)},
          {"pairs", pairs_json(comparison)}};
}

}  // namespace sweep::report
