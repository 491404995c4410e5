#include "report/figures_paired.h"

#include "report/figure_rows.h"
#include "stats/paired.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace sweep::report {

namespace {

using nlohmann::json;

constexpr std::size_t kMostPairs = 80;

DataTable paired_table() {
  return {"figure_comparison",
          "Speedups of two runs on the same problems",
          "One row a problem that ended in both runs.",
          {{"problem", "problem", "", Type::text, Show::plain, "Problem", true},
           {"first_correct",
            "first correct",
            "",
            Type::integer,
            Show::plain,
            "Correct attempts of the first run",
            true},
           {"first_attempts",
            "of",
            "",
            Type::integer,
            Show::plain,
            "Judged attempts of the first run",
            true},
           {"second_correct",
            "second correct",
            "",
            Type::integer,
            Show::plain,
            "Correct attempts of the second run",
            true},
           {"second_attempts",
            "of",
            "",
            Type::integer,
            Show::plain,
            "Judged attempts of the second run",
            true},
           {"first_speedup",
            "first",
            "seed time / kernel time",
            Type::number,
            Show::ratio,
            "Geometric mean of the first run's correct kernels",
            true},
           {"second_speedup",
            "second",
            "seed time / kernel time",
            Type::number,
            Show::ratio,
            "Geometric mean of the second run's correct kernels",
            true},
           {"ratio",
            "second over first",
            "",
            Type::number,
            Show::ratio,
            "Ratio of the two, where both have one",
            true}}};
}

Cell paired_cell(double value) {
  return value > 0 ? cell(value) : missing("no correct kernel was timed");
}

stats::Agreement agreement_of(const std::vector<PairedProblem>& problems) {
  stats::Agreement out;
  for (const PairedProblem& one : problems) {
    const bool first = one.first_correct > 0;
    const bool second = one.second_correct > 0;
    ++(first && second ? out.both
       : first         ? out.only_first
       : second        ? out.only_second
                       : out.neither);
  }
  return out;
}

std::string p_value_text(double p) {
  return p < 0.001 ? std::string("p < 0.001") : fmt::format("p = {:.3f}", p);
}

std::string paired_text(const stats::PairedRatio& ratio) {
  std::string out =
      fmt::format(" Where both have a timed kernel (n = {}) the second is {} as fast as the first",
                  ratio.n,
                  util::human_ratio(ratio.ratio));
  if (ratio.interval) {
    const auto [low, high] = util::human_bounds(ratio.interval->low, ratio.interval->high);
    out += fmt::format(" [{}, {}] (geometric mean, 95%, bootstrap over problems)", low, high);
  }
  return out + fmt::format("; faster on {}, slower on {}, sign test {}.",
                           ratio.higher,
                           ratio.lower,
                           p_value_text(ratio.p_value));
}

}  // namespace

Figure comparison_figure(const PairedRuns& runs) {
  Figure out{"comparison", "The same problems in both runs.", "", "", {}, paired_table()};
  std::vector<stats::Pair> pairs;
  json rows = json::array();
  for (const PairedProblem& one : runs.problems) {
    const bool both = one.first_speedup > 0 && one.second_speedup > 0;
    const double ratio = both ? one.second_speedup / one.first_speedup : 0;
    out.table.add({cell(one.label),
                   cell(one.first_correct),
                   cell(one.first_attempts),
                   cell(one.second_correct),
                   cell(one.second_attempts),
                   paired_cell(one.first_speedup),
                   paired_cell(one.second_speedup),
                   both ? cell(ratio) : missing("only where both have a timed kernel")});
    if (both) {
      pairs.push_back({one.first_speedup, one.second_speedup});
      rows.push_back({{"label", one.label},
                      {"ratio", rounded(ratio)},
                      {"first", rounded(one.first_speedup)},
                      {"second", rounded(one.second_speedup)}});
    }
  }
  const stats::Agreement agreement = agreement_of(runs.problems);
  out.caption = fmt::format(
      "First: {}; second: {}. n = {} problem{} that ended in both; solved (at least one correct "
      "attempt) by both {}, by the first alone {}, by the second alone {}, by neither {}: "
      "McNemar's exact test {}.",
      runs.first,
      runs.second,
      agreement.n(),
      agreement.n() == 1 ? "" : "s",
      agreement.both,
      agreement.only_first,
      agreement.only_second,
      agreement.neither,
      p_value_text(stats::mcnemar_exact(agreement)));
  json mean;
  if (!pairs.empty()) {
    const stats::PairedRatio ratio = stats::paired_ratio(pairs, figure_bootstrap());
    out.caption +=
        paired_text(ratio) + " Problems without a timed kernel in both are not in that mean.";
    mean = triple(ratio.ratio, ratio.interval);
  }
  out.data = {{"rows", rows},
              {"mean", mean},
              {"first", runs.first},
              {"second", runs.second},
              {"distribution", rows.size() > kMostPairs}};
  out.empty = runs.problems.empty() ? "no problem ended in both runs"
              : pairs.empty()       ? "no problem has a timed, correct kernel in both runs"
                                    : "";
  out.caption +=
      runs.on_cpu ? " Times of the cpu device are an emulation's: they rank nothing." : "";
  out.caption += runs.devices_differ
                     ? " The runs are from different devices: their speedups do not compare."
                     : "";
  return out;
}

}  // namespace sweep::report
