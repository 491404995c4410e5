// A comparison as tables.
#include "report/compare.h"
#include "report/table_fields.h"
#include "util/text.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace sweep::report {

namespace {

using Side = Comparison::Row;
using SidePair = Comparison::Paired;

std::optional<record::Interval> interval_if(double point, double low, double high) {
  return low > 0 ? std::optional(record::Interval{point, low, high}) : std::nullopt;
}

std::string compared_words(const Comparison::Cell& cell) {
  const std::string speedup =
      cell.timed > 0 ? util::human_ratio(cell.geometric_mean) + " " : std::string();
  return cell.items == 1 ? speedup + cell.standing
                         : fmt::format("{}{}/{} correct", speedup, cell.correct, cell.items);
}

Column column_of(std::string key, std::string title, std::string what, Type type = Type::text) {
  return {std::move(key), std::move(title), "", type, Show::plain, std::move(what), true};
}

Field<Side> side_word(const char* key, const char* what, std::string Side::*member) {
  return text_field<Side>(key, key, what, [member](const Side& r) { return r.*member; });
}

Field<Side> side_count(const char* key,
                       const char* title,
                       const char* what,
                       std::size_t Side::*member) {
  return count_field<Side>(
      key, title, what, [member](const Side& r) { return static_cast<std::int64_t>(r.*member); });
}

Field<SidePair> pair_word(const char* key,
                          const char* title,
                          const char* what,
                          std::string SidePair::*member) {
  return text_field<SidePair>(key, title, what, [member](const SidePair& p) { return p.*member; });
}

Field<SidePair> pair_count(const char* key,
                           const char* title,
                           const char* what,
                           std::size_t SidePair::*member) {
  return count_field<SidePair>(key, title, what, [member](const SidePair& p) {
    return static_cast<std::int64_t>(p.*member);
  });
}

Field<SidePair> pair_timed(
    const char* key, const char* title, Show show, const char* what, double SidePair::*member) {
  return number_field<SidePair>(
      key,
      title,
      "",
      show,
      what,
      [member](const SidePair& p) { return p.timed > 0 ? std::optional(p.*member) : std::nullopt; },
      "no problem was timed in both");
}

Fields<Side> side_fields() {
  return {
      side_word("run", "Its name.", &Side::run),
      side_word("harness", "How the model was led.", &Side::harness),
      side_word("model", "Name in the configuration.", &Side::model),
      side_count("correct", "correct", "Attempts.", &Side::correct),
      side_count("items", "of", "Attempts.", &Side::items),
      {{"correct_rate",
        "correct rate",
        "1",
        Type::interval,
        Show::percent,
        "With Wilson's 95% interval over attempts."},
       [](const Side& r) {
         const double n = static_cast<double>(std::max<std::size_t>(1, r.items));
         return cell(record::Interval{static_cast<double>(r.correct) / n, r.rate_low, r.rate_high});
       }},
      number_field<Side>(
          "geometric_mean",
          "geometric mean",
          "seed time / kernel time",
          Show::ratio,
          "Of the speedups of correct kernels that were timed.",
          [](const Side& r) {
            return r.timed > 0 ? std::optional(r.geometric_mean) : std::nullopt;
          },
          "no correct kernel was timed"),
      {{"geometric_mean_interval",
        "95% interval",
        "seed time / kernel time",
        Type::interval,
        Show::ratio,
        "The same with a bootstrap interval over problems."},
       [](const Side& r) {
         return cell(interval_if(r.geometric_mean, r.mean_low, r.mean_high),
                     "fewer than two problems");
       }},
      side_count("timed", "timed", "Attempts in the mean.", &Side::timed),
      number_field<Side>("turns",
                         "turns",
                         "",
                         Show::plain,
                         "Mean an item.",
                         [](const Side& r) { return std::optional(r.turns); }),
      number_field<Side>("tool_calls",
                         "tool calls",
                         "",
                         Show::plain,
                         "Mean an item.",
                         [](const Side& r) { return std::optional(r.tool_calls); }),
      count_field<Side>(
          "tokens", "tokens", "In and out.", [](const Side& r) { return r.tokens; }, Show::count),
      number_field<Side>(
          "cost_usd",
          "cost",
          "usd",
          Show::dollars,
          "Of the answers that count.",
          [](const Side& r) { return r.cost_usd >= 0 ? std::optional(r.cost_usd) : std::nullopt; },
          "a price is not known")};
}

}  // namespace

DataTable comparison_table(const Comparison& comparison) {
  return table_of<Side>("comparison",
                        "Runs",
                        "One row a run and model, over the problems that ended in every run.",
                        side_fields(),
                        comparison.rows);
}

DataTable pairs_table(const Comparison& comparison) {
  return table_of<SidePair>(
      "comparison_pairs",
      "Paired tests",
      "The first run against each other one, problem by problem. A problem is solved with at least "
      "one correct attempt; p-values are exact, two-sided and not corrected for the number of "
      "rows.",
      {pair_word("other", "run", "The other run.", &SidePair::other),
       pair_word("base", "against", "The first run.", &SidePair::base),
       pair_word("model", "model", "Of both.", &SidePair::model),
       pair_count("both", "both solved", "Problems that both solved.", &SidePair::both),
       pair_count("only_base",
                  "only base",
                  "Problems that only the first run solved.",
                  &SidePair::only_base),
       pair_count("only_other",
                  "only run",
                  "Problems that only the other run solved.",
                  &SidePair::only_other),
       pair_count("neither", "neither", "Problems that none solved.", &SidePair::neither),
       number_field<SidePair>("solved_p",
                              "McNemar p",
                              "",
                              Show::plain,
                              "McNemar's exact test.",
                              [](const SidePair& p) { return std::optional(p.solved_p); }),
       pair_timed("ratio",
                  "speedup ratio",
                  Show::ratio,
                  "Other run's speedup over the first's: geometric mean over problems.",
                  &SidePair::ratio),
       {{"ratio_interval",
         "95% interval",
         "",
         Type::interval,
         Show::ratio,
         "The same with a bootstrap interval over problems."},
        [](const SidePair& p) {
          return cell(interval_if(p.ratio, p.low, p.high), "fewer than two problems");
        }},
       pair_count("timed", "n", "Problems in the ratio.", &SidePair::timed),
       pair_count("faster",
                  "higher",
                  "Problems where the other run's speedup is higher.",
                  &SidePair::faster),
       pair_count("slower", "lower", "Problems where it is lower.", &SidePair::slower),
       pair_timed(
           "speed_p", "sign test p", Show::plain, "Of the two counts before.", &SidePair::speed_p)},
      comparison.pairs);
}

DataTable compared_problems_table(const Comparison& comparison) {
  std::vector<Column> columns = {column_of("problem", "problem", "Level and problem."),
                                 column_of("model", "model", "Name in the configuration."),
                                 column_of("variant", "variant", "Problem set.")};
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    columns.push_back(column_of(fmt::format("run_{}", i + 1),
                                comparison.runs[i],
                                "Speedup and verdict there, or how many attempts are correct."));
  }
  DataTable table("comparison_problems",
                  "Problems",
                  "What became of each problem in each run.",
                  std::move(columns));
  for (const Comparison::Problem& problem : comparison.problems) {
    std::vector<Cell> row = {cell(problem.problem), cell(problem.model), cell(problem.variant)};
    for (const Comparison::Cell& one : problem.cells) {
      row.push_back(cell(compared_words(one)));
    }
    table.add(std::move(row));
  }
  return table;
}

DataTable uses_table(const Comparison& comparison) {
  std::vector<Column> columns = {column_of("what", "what", "An end of a conversation, or a tool.")};
  std::set<std::string> stops;
  std::set<std::string> tools;
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
    const Side& row = comparison.rows[i];
    columns.push_back(column_of(fmt::format("side_{}", i + 1),
                                row.run + ", " + row.model,
                                "How often, in all items of that run and model.",
                                Type::integer));
    for (const auto& [stop, count] : row.stops) {
      stops.insert(stop);
    }
    for (const auto& [tool, count] : row.tools) {
      tools.insert(tool);
    }
  }
  DataTable table("comparison_uses",
                  "Conversations",
                  "How conversations ended, and how often each tool was called.",
                  std::move(columns));
  const auto add = [&](const std::string& prefix,
                       const std::set<std::string>& names,
                       std::map<std::string, std::size_t> Side::*member) {
    for (const std::string& name : names) {
      std::vector<Cell> cells = {cell(prefix + name)};
      for (const Side& row : comparison.rows) {
        const auto found = (row.*member).find(name);
        cells.push_back(cell(found == (row.*member).end() ? std::size_t{0} : found->second));
      }
      table.add(std::move(cells));
    }
  };
  add("ended by ", stops, &Side::stops);
  add("calls of ", tools, &Side::tools);
  return table;
}

}  // namespace sweep::report
