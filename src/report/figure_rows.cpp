#include "report/figure_rows.h"

#include "report/summary.h"
#include "report/words.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include <fmt/format.h>

namespace sweep::report {

namespace {

template <class Key>
std::vector<Group> grouped_by(const Rows& rows, Key key) {
  std::vector<Group> out;
  std::map<std::string, std::size_t> places;
  for (const Row* row : rows) {
    std::string name = key(*row);
    const auto [at, fresh] = places.try_emplace(name, out.size());
    if (fresh) {
      out.push_back({std::move(name), {}});
    }
    out[at->second].rows.push_back(row);
  }
  return out;
}

template <class Key>
bool several(const Rows& rows, Key key) {
  return std::ranges::any_of(rows, [&](const Row* row) { return key(*row) != key(*rows.front()); });
}

}  // namespace

Rows judged_of(const Rows& rows) {
  Rows out;
  std::ranges::copy_if(rows, std::back_inserter(out), [](const Row* row) { return counts(*row); });
  return out;
}

bool is_correct(const Row& row) {
  return row.outcome == "correct";
}

double speedup_of(const Row& row) {
  return is_correct(row) && row.speedup && row.speedup->point > 0 ? row.speedup->point : 0;
}

std::string cluster_of(const Row& row) {
  return row.variant + "/" + row.problem;
}

std::size_t problems_in(const Rows& rows) {
  std::set<std::string> out;
  for (const Row* row : rows) {
    out.insert(cluster_of(*row));
  }
  return out.size();
}

std::int64_t tokens_of(const Row& row) {
  return row.input_tokens + row.output_tokens;
}

std::string mark_of(const Row& row) {
  if (!counts(row)) {
    return "open";
  }
  if (!is_correct(row)) {
    return row.outcome == "rejected" ? "rejected" : "failed";
  }
  return standing(row);
}

std::vector<Group> by_model(const Rows& rows) {
  const bool harnesses = several(rows, [](const Row& row) { return row.harness; });
  const bool variants = several(rows, [](const Row& row) { return row.variant; });
  return grouped_by(rows, [&](const Row& row) {
    return row.model + (harnesses && !row.harness.empty() ? ", " + row.harness : "") +
           (variants ? ", " + row.variant : "");
  });
}

Colours::Colours(const Rows& rows) {
  for (const Group& group : by_model(rows)) {
    numbers_.emplace(group.name, numbers_.size());
  }
}

std::size_t Colours::of(const std::string& group, std::size_t drawn) const {
  return numbers_.size() <= kMostSeries ? numbers_.at(group) : drawn;
}

std::vector<Group> by_level(const Rows& rows) {
  return grouped_by(rows, [](const Row& row) { return row.level; });
}

std::vector<Group> by_domain(const Rows& rows) {
  return grouped_by(
      rows, [](const Row& row) { return row.domain.empty() ? "not recorded" : row.domain; });
}

std::string n_text(const Rows& rows) {
  const std::size_t n = judged_of(rows).size();
  const std::size_t problems = problems_in(judged_of(rows));
  const std::size_t others = rows.size() - n;
  return fmt::format("n = {} judged attempt{} at {} problem{}{}.",
                     n,
                     n == 1 ? "" : "s",
                     problems,
                     problems == 1 ? "" : "s",
                     others == 0
                         ? ""
                         : fmt::format(" ({} unfinished, skipped, lost to infrastructure or "
                                       "not admitted {} left out)",
                                       others,
                                       others == 1 ? "is" : "are"));
}

std::string warnings(const Rows& rows, bool timed) {
  const auto any = [&](auto holds) {
    return std::ranges::any_of(rows, [&](const Row* row) { return holds(*row); });
  };
  std::string out;
  if (timed && any([](const Row& row) { return row.device == "cpu"; })) {
    out += " Times of the cpu device are an emulation's: they rank nothing.";
  }
  if (any([](const Row& row) { return row.base_url.starts_with("builtin:"); })) {
    out += " Some of these models are scripts that come with the program.";
  }
  std::set<std::string> devices;
  for (const Row* row : rows) {
    if (!row->gpu.empty()) {
      devices.insert(row->gpu);
    }
  }
  if (timed && devices.size() > 1) {
    out += fmt::format(" The kernels ran on {} unlike devices: their speedups do not compare.",
                       devices.size());
  }
  return out;
}

double rounded(double value) {
  if (!std::isfinite(value) || value == 0) {
    return value;
  }
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::abs(value))));
  return std::isfinite(scale) ? std::round(value * scale) / scale : value;
}

std::string drawn_text(std::size_t all, const std::string& which) {
  return all <= kMostSeries ? std::string()
                            : fmt::format(
                                  " The {} with the highest {} of {} are drawn, those with "
                                  "one attempt last; the table has all.",
                                  kMostSeries,
                                  which,
                                  all);
}

Cell interval_cell(double value, const std::optional<stats::Interval>& interval) {
  if (interval) {
    return cell(record::Interval{value, interval->low, interval->high});
  }
  Cell out = missing("one problem says nothing about others: no interval");
  out.words = fmt::format("{:.0f}%", 100 * value);
  return out;
}

Cell ratio_cell(const std::optional<double>& value,
                const std::optional<stats::Interval>& interval,
                const std::string& reason) {
  if (!value) {
    return missing(reason);
  }
  if (interval) {
    return cell(record::Interval{*value, interval->low, interval->high});
  }
  Cell out = missing("one problem says nothing about others: no interval");
  out.words = util::human_ratio(*value);
  return out;
}

nlohmann::json triple(double value, const std::optional<stats::Interval>& interval) {
  return interval ? nlohmann::json{rounded(value), rounded(interval->low), rounded(interval->high)}
                  : nlohmann::json{rounded(value), nullptr, nullptr};
}

stats::Bootstrap figure_bootstrap() {
  constexpr std::size_t resamples = 1000;
  return {kConfidence, resamples, 1};
}

}  // namespace sweep::report
