#include "report/figures_speed.h"

#include "stats/fast_p.h"
#include "stats/summary.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace {

using nlohmann::json;

constexpr std::array kQuoted = {0.0, 0.5, 0.8, 1.0, 1.5, 2.0};  // thresholds that papers quote
constexpr std::size_t kSteps = 40;
constexpr std::size_t kMostWhiskers = 60;
constexpr std::size_t kMostProblems = 120;

std::vector<stats::Judged> judged_list(const Rows& rows) {
  std::vector<stats::Judged> out;
  stats::Numbering problems;
  for (const Row* row : judged_of(rows)) {
    const double speedup = speedup_of(*row);
    out.push_back({problems.of(cluster_of(*row)),
                   is_correct(*row),
                   speedup,
                   speedup > 0 ? row->speedup->low : 0});
  }
  return out;
}

// A round end of the axis that holds 19 of 20 speedups: 2, 4, 8, ..
double fast_p_top(const Rows& rows) {
  std::vector<double> speedups;
  for (const Row* row : judged_of(rows)) {
    if (const double speedup = speedup_of(*row); speedup > 0) {
      speedups.push_back(speedup);
    }
  }
  const double reach = speedups.empty() ? 2 : stats::quantile(speedups, 0.95);
  double top = 2;
  while (top < reach && top < 1024) {
    top *= 2;
  }
  return top;
}

// The grid of the curve, then the quoted thresholds.
std::vector<double> thresholds_to(double top) {
  std::vector<double> out;
  for (std::size_t i = 0; i <= kSteps; ++i) {
    out.push_back(top * static_cast<double>(i) / kSteps);
  }
  out.insert(out.end(), kQuoted.begin(), kQuoted.end());
  return out;
}

std::string fast_p_key(const char* counting, double p) {
  return fmt::format("{}_{}", counting, static_cast<int>(std::lround(100 * p)));
}

DataTable fast_p_table() {
  std::vector<Column> columns = {
      {"model", "model", "", Type::text, Show::plain, "Model", true},
      {"judged", "judged", "", Type::integer, Show::plain, "Judged attempts", true},
      {"problems", "problems", "", Type::integer, Show::plain, "Distinct problems", true}};
  for (const double p : kQuoted) {
    columns.push_back({fast_p_key("fast", p),
                       fmt::format("fast_{:g}", p),
                       "",
                       Type::interval,
                       Show::percent,
                       fmt::format("Share of judged attempts that are correct and faster than "
                                   "{:g} times the seed",
                                   p),
                       true});
  }
  for (const double p : kQuoted) {
    columns.push_back({fast_p_key("sure", p),
                       fmt::format("fast_{:g} by lower bound", p),
                       "",
                       Type::interval,
                       Show::percent,
                       fmt::format("The same where the lower bound of the speedup's interval "
                                   "exceeds {:g}",
                                   p),
                       true});
  }
  return {"figure_fast_p",
          "fast_p by model",
          "One row a model: shares of all judged attempts with 95% intervals by a bootstrap over "
          "problems.",
          std::move(columns)};
}

struct FastCurve {
  std::string name;
  std::size_t n = 0, problems = 0;
  std::vector<stats::Share> point, sure;

  // fast_1, by which the series to draw are chosen.
  [[nodiscard]] double rank() const { return point.empty() ? -1 : point[kSteps + 4].share; }
};

json fast_p_series(const FastCurve& curve, std::size_t colour) {
  json point = json::array();
  json sure = json::array();
  for (std::size_t i = 0; i <= kSteps; ++i) {
    point.push_back(triple(curve.point[i].share, curve.point[i].band));
    sure.push_back(triple(curve.sure[i].share, curve.sure[i].band));
  }
  return {
      {"name", curve.name}, {"colour", colour}, {"n", curve.n}, {"point", point}, {"sure", sure}};
}

std::vector<Cell> fast_p_cells(const FastCurve& curve) {
  std::vector<Cell> out = {cell(curve.name), cell(curve.n), cell(curve.problems)};
  for (const auto* shares : {&curve.point, &curve.sure}) {
    for (std::size_t i = 0; i < kQuoted.size(); ++i) {
      const stats::Share& one = (*shares)[kSteps + 1 + i];
      out.push_back(interval_cell(one.share, one.band));
    }
  }
  return out;
}

}  // namespace

Figure fast_p_figure(const Rows& rows) {
  Figure out{"fast_p", "fast_p.", "", "", {}, fast_p_table()};
  const double top = fast_p_top(rows);
  const std::vector<double> thresholds = thresholds_to(top);
  const Colours colours(rows);
  std::vector<FastCurve> curves;
  for (const Group& group : by_model(rows)) {
    const std::vector<stats::Judged> list = judged_list(group.rows);
    if (!list.empty()) {
      curves.push_back(
          {group.name,
           list.size(),
           problems_in(judged_of(group.rows)),
           stats::fast_p_curve(list, thresholds, stats::Counting::point, figure_bootstrap()),
           stats::fast_p_curve(
               list, thresholds, stats::Counting::lower_bound, figure_bootstrap())});
      out.table.add(fast_p_cells(curves.back()));
    }
  }
  std::stable_sort(curves.begin(), curves.end(), [](const FastCurve& a, const FastCurve& b) {
    return std::pair(a.n > 1, a.rank()) > std::pair(b.n > 1, b.rank());
  });
  json series = json::array();
  for (std::size_t i = 0; i < std::min(curves.size(), kMostSeries); ++i) {
    series.push_back(fast_p_series(curves[i], colours.of(curves[i].name, i)));
  }
  json p = json::array();
  for (std::size_t i = 0; i <= kSteps; ++i) {
    p.push_back(rounded(thresholds[i]));
  }
  out.data = {{"p", p}, {"series", series}};
  out.empty = curves.empty() ? "nothing has been judged yet" : "";
  out.caption =
      "Share of all judged attempts that are correct with a speedup over the seed above p: by the "
      "measured speedup, and by the lower bound of its 95% interval. Failures count in n; correct "
      "kernels without a timing count at p = 0 alone. Bands: 95% at each p alone, bootstrap over "
      "problems. " +
      n_text(rows) + drawn_text(curves.size(), "fast_1") + warnings(rows, true);
  return out;
}

namespace {

DataTable speedup_table() {
  return {"figure_speedup",
          "Speedups",
          "One row a kernel, problem or level, as the figure shows them: correct kernels that were "
          "timed.",
          {{"label", "kernel", "", Type::text, Show::plain, "Kernel, problem or level", true},
           {"standing", "verdict", "", Type::text, Show::plain, "Word of the verdict", true},
           {"speedup",
            "speedup",
            "seed time / kernel time",
            Type::interval,
            Show::ratio,
            "Speedup with its 95% interval; of several kernels the geometric mean and the range",
            true},
           {"n", "kernels", "", Type::integer, Show::plain, "Kernels in it", true}}};
}

struct Whisker {
  std::string label, standing;
  double ratio = 0, low = 0, high = 0;
  std::size_t n = 1;
};

Rows timed_rows(const Rows& rows) {
  Rows out;
  std::ranges::copy_if(
      rows, std::back_inserter(out), [](const Row* row) { return speedup_of(*row) > 0; });
  return out;
}

std::vector<Whisker> each_kernel(const Rows& timed, bool models) {
  std::vector<Whisker> out;
  for (const Row* row : timed) {
    out.push_back({row->problem + (row->attempt > 1 ? fmt::format(" #{}", row->attempt) : "") +
                       (models ? " " + row->model : ""),
                   mark_of(*row),
                   row->speedup->point,
                   row->speedup->low,
                   row->speedup->high,
                   1});
  }
  return out;
}

template <class Key>
std::vector<Whisker> kernels_together(const Rows& timed, Key key) {
  std::vector<Whisker> out;
  std::map<std::string, std::size_t> places;
  for (const Row* row : timed) {
    const std::string name = key(*row);
    const auto [at, fresh] = places.try_emplace(name, out.size());
    const double speedup = row->speedup->point;
    if (fresh) {
      out.push_back({name, "range", 0, speedup, speedup, 0});
    }
    Whisker& one = out[at->second];
    one.ratio += std::log(speedup);
    one.low = std::min(one.low, speedup);
    one.high = std::max(one.high, speedup);
    ++one.n;
  }
  for (Whisker& one : out) {
    one.ratio = std::exp(one.ratio / static_cast<double>(one.n));
  }
  return out;
}

}  // namespace

Figure speedup_figure(const Rows& rows) {
  Figure out{"speedup", "Speedups.", "", "", {}, speedup_table()};
  const Rows timed = timed_rows(rows);
  const bool each = timed.size() <= kMostWhiskers;
  std::vector<Whisker> whiskers =
      each ? each_kernel(timed, by_model(rows).size() > 1)
           : kernels_together(timed, [](const Row& row) { return row.problem; });
  const bool problems = whiskers.size() <= kMostProblems;
  if (!problems) {
    whiskers = kernels_together(timed, [](const Row& row) { return row.level; });
  }
  json list = json::array();
  for (const Whisker& one : whiskers) {
    const bool known = one.low > 0;
    list.push_back({{"label", one.label},
                    {"standing", one.standing},
                    {"ratio", rounded(one.ratio)},
                    {"low", known ? json(rounded(one.low)) : json()},
                    {"high", known ? json(rounded(one.high)) : json()},
                    {"n", one.n}});
    out.table.add({cell(one.label),
                   cell(one.standing),
                   cell(record::Interval{one.ratio, one.low, one.high}),
                   cell(one.n)});
  }
  out.data = {{"rows", list}};
  out.empty = timed.empty() ? "no correct kernel was timed" : "";
  out.caption =
      each ? fmt::format(
                 "Correct kernels that were timed, n = {}: seed time over kernel time with "
                 "its 95% interval. A hollow dot claims nothing. ",
                 timed.size())
           : fmt::format(
                 "Correct kernels that were timed, n = {}, by {}: geometric mean of seed "
                 "time over kernel time, and the range from the smallest to the largest. ",
                 timed.size(),
                 problems ? "problem" : "level");
  out.caption += fmt::format("Failed attempts are left out: {} of {} judged.",
                             judged_of(rows).size() - timed.size(),
                             judged_of(rows).size()) +
                 warnings(rows, true);
  return out;
}

}  // namespace sweep::report
