#include "report/figures_effort.h"
#include "stats/resample.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace {

using nlohmann::json;

constexpr std::size_t kMostTurns = 64;
constexpr std::size_t kMostTools = 24;

std::size_t turns_in(const Rows& rows) {
  std::size_t most = 0;
  for (const Row* row : rows) {
    most = std::max(most, row->series.size());
  }
  return std::min(most, kMostTurns);
}

// Log of the best speedup after each turn; 0 before a version was timed; the last one stays.
std::vector<float> best_after(const Row& row, std::size_t turns) {
  std::vector<float> out(turns, 0);
  float best = 0;
  for (std::size_t i = 0; i < turns; ++i) {
    if (i < row.series.size()) {
      const auto& now = row.series[i].best_visible_speedup;
      best = now && *now > 0 ? static_cast<float>(std::log(*now)) : best;
    }
    out[i] = best;
  }
  return out;
}

struct TurnProgress {
  std::string name;
  std::size_t n = 0, timed = 0;  // conversations, and those with a timed version
  std::vector<double> logs;
  std::vector<stats::Interval> bands;
};

TurnProgress turn_progress(const Group& group, std::size_t turns) {
  stats::Numbering numbers;
  for (const Row* row : group.rows) {
    (void)numbers.of(cluster_of(*row));
  }
  TurnProgress out{group.name, group.rows.size(), 0, {}, {}};
  stats::Columns columns(numbers.size(), turns);
  for (const Row* row : group.rows) {
    columns.add(numbers.of(cluster_of(*row)), best_after(*row, turns));
    out.timed +=
        std::ranges::any_of(
            row->series, [](const RowTurn& turn) { return turn.best_visible_speedup.has_value(); })
            ? 1U
            : 0U;
  }
  out.logs = columns.ratios();
  out.bands = columns.intervals(figure_bootstrap());
  return out;
}

DataTable progress_table() {
  return {"figure_best_so_far",
          "Best speedup so far by turn",
          "One row a model and turn: geometric mean of the best speedup on the published shapes so "
          "far; 1.0x where no version was timed.",
          {{"model", "model", "", Type::text, Show::plain, "Model", true},
           {"conversations",
            "conversations",
            "",
            Type::integer,
            Show::plain,
            "Judged attempts of the model",
            true},
           {"turn", "turn", "", Type::integer, Show::plain, "Turn, from 1", true},
           {"best",
            "best so far",
            "seed time / kernel time",
            Type::interval,
            Show::ratio,
            "Geometric mean; 95% by a bootstrap over problems",
            true}}};
}

std::optional<stats::Interval> band_at(const TurnProgress& progress, std::size_t turn) {
  if (progress.bands.empty()) {
    return std::nullopt;
  }
  const stats::Interval& logs = progress.bands[turn];
  return stats::Interval{std::exp(logs.low), std::exp(logs.high)};
}

std::string progress_caption(const Rows& rows, std::size_t models, std::size_t timed) {
  const bool one = rows.size() == 1;
  return (one ? std::string("Best speedup on the published shapes of any version up to the turn; "
                            "1.0x, the seed, until one was timed. n = 1 conversation: no interval.")
              : "Geometric mean over conversations of the best speedup on the published shapes so "
                "far. A conversation without a timed version so far counts as 1.0x, the seed; one "
                "that has ended keeps its last value. Bands: 95% at each turn alone, bootstrap "
                "over problems. " +
                    n_text(rows) + fmt::format(" {} had a timed version.", timed)) +
         " The final timing is another: fresh processes and other shapes too." +
         drawn_text(models, "last value") + warnings(rows, true);
}

}  // namespace

Figure best_so_far_figure(const Rows& rows) {
  Figure out{"best_so_far", "Best speedup so far.", "", "", {}, progress_table()};
  // A conversation that goes on is shown on its own page.
  const Rows counted = rows.size() == 1 ? rows : judged_of(rows);
  const std::size_t turns = turns_in(counted);
  std::vector<TurnProgress> all;
  std::size_t timed = 0;
  for (const Group& group : turns > 0 ? by_model(rows) : std::vector<Group>{}) {
    const Rows mine = rows.size() == 1 ? rows : judged_of(group.rows);
    if (!mine.empty()) {
      all.push_back(turn_progress({group.name, mine}, turns));
      timed += all.back().timed;
    }
  }
  const Colours colours(rows);
  std::stable_sort(all.begin(), all.end(), [](const TurnProgress& a, const TurnProgress& b) {
    return std::pair(a.n > 1, a.logs.back()) > std::pair(b.n > 1, b.logs.back());
  });
  json series = json::array();
  for (const TurnProgress& one : all) {
    json points = json::array();
    for (std::size_t i = 0; i < turns; ++i) {
      const double best = std::exp(one.logs[i]);
      points.push_back(triple(best, band_at(one, i)));
      out.table.add(
          {cell(one.name), cell(one.n), cell(i + 1), ratio_cell(best, band_at(one, i), "")});
    }
    if (series.size() < kMostSeries) {
      series.push_back({{"name", one.name},
                        {"colour", colours.of(one.name, series.size())},
                        {"n", one.n},
                        {"points", points}});
    }
  }
  out.data = {{"series", series}};
  out.empty = timed == 0 ? "no version was timed under way" : "";
  out.caption = progress_caption(rows, all.size(), timed);
  return out;
}

namespace {

struct ToolUse {
  std::size_t used = 0, used_correct = 0;
  std::size_t without = 0, without_correct = 0;
  std::int64_t calls = 0, failed = 0;
};

DataTable tool_table() {
  return {
      "figure_tool_use",
      "Tool use against success",
      "One row a tool: correct share of the judged attempts that called it and of those that "
      "did not, with Wilson's 95% intervals.",
      {{"tool", "tool", "", Type::text, Show::plain, "Tool", true},
       {"used",
        "attempts with it",
        "",
        Type::integer,
        Show::plain,
        "Attempts that called it",
        true},
       {"share_with",
        "correct with it",
        "",
        Type::interval,
        Show::percent,
        "Correct share of these",
        true},
       {"unused",
        "attempts without",
        "",
        Type::integer,
        Show::plain,
        "Attempts that did not call it",
        true},
       {"share_without",
        "correct without",
        "",
        Type::interval,
        Show::percent,
        "Correct share of these",
        true},
       {"calls", "calls", "", Type::integer, Show::plain, "Calls in all", true},
       {"failed", "calls failed", "", Type::integer, Show::plain, "Calls without success", true}}};
}

std::map<std::string, ToolUse> uses_of(const Rows& rows) {
  std::map<std::string, ToolUse> out;
  for (const Row* row : rows) {
    for (const auto& [tool, count] : row->tools) {
      ToolUse& use = out[tool];
      use.calls += count.calls;
      use.failed += count.failed;
      ++use.used;
      use.used_correct += is_correct(*row) ? 1U : 0U;
    }
  }
  const auto correct = static_cast<std::size_t>(
      std::ranges::count_if(rows, [](const Row* row) { return is_correct(*row); }));
  for (auto& [tool, use] : out) {
    use.without = rows.size() - use.used;
    use.without_correct = correct - use.used_correct;
  }
  return out;
}

std::optional<stats::Interval> use_interval(std::size_t hits, std::size_t n) {
  return n == 0 ? std::nullopt : std::optional(stats::wilson_interval(hits, n, kConfidence));
}

double use_share(std::size_t hits, std::size_t n) {
  return n == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(n);
}

}  // namespace

Figure tool_use_figure(const Rows& rows) {
  Figure out{"tool_use", "Tool use against success.", "", "", {}, tool_table()};
  const Rows ended = judged_of(rows);
  const std::map<std::string, ToolUse> uses = uses_of(ended);
  json tools = json::array();
  for (const auto& [tool, use] : uses) {
    const auto with = use_interval(use.used_correct, use.used);
    const auto without = use_interval(use.without_correct, use.without);
    out.table.add({cell(tool),
                   cell(use.used),
                   interval_cell(use_share(use.used_correct, use.used), with),
                   cell(use.without),
                   without ? interval_cell(use_share(use.without_correct, use.without), without)
                           : missing("every attempt called it"),
                   cell(use.calls),
                   cell(use.failed)});
    if (tools.size() < kMostTools) {
      tools.push_back(
          {{"name", tool},
           {"used", use.used},
           {"unused", use.without},
           {"with", triple(use_share(use.used_correct, use.used), with)},
           {"without",
            without ? triple(use_share(use.without_correct, use.without), without) : json()}});
    }
  }
  out.data = {{"tools", tools}};
  out.empty = ended.empty()  ? "nothing has been judged yet"
              : uses.empty() ? "no judged attempt called a tool"
                             : "";
  out.caption =
      "Correct share of the judged attempts that called a tool at least once, and of those that "
      "did not, with Wilson's 95% intervals. It shows what goes together, not what causes what: "
      "who needs more tries calls more tools. " +
      n_text(rows);
  if (uses.size() > kMostTools) {
    out.caption += fmt::format(" The first {} of {} tools are drawn.", kMostTools, uses.size());
  }
  out.caption += warnings(rows, false);
  return out;
}

}  // namespace sweep::report
