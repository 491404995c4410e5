#include "report/summary.h"

#include "stats/stats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

namespace sweep::report {

namespace {

template <class Key>
std::vector<std::string> distinct(const std::vector<Row>& rows, Key key) {
  std::vector<std::string> out;
  std::unordered_set<std::string> known;
  for (const Row& row : rows) {
    if (known.insert(key(row)).second) {
      out.push_back(key(row));
    }
  }
  return out;
}

}  // namespace

std::string label_of(const Row& row) {
  return row.problem + (row.attempt > 1 ? " #" + std::to_string(row.attempt) : "");
}

bool has_ended(std::string_view outcome) {
  constexpr std::array kOpen{std::string_view("in_progress"),
                             std::string_view("unfinished"),
                             std::string_view("queued"),
                             std::string_view("not_started"),
                             std::string_view("unreadable")};
  return std::find(kOpen.begin(), kOpen.end(), outcome) == kOpen.end();
}

std::string reason_of(const Row& row) {
  if (!row.error.empty()) {
    return row.error;
  }
  if (!row.skip_reason.empty()) {
    return "skipped: " + row.skip_reason;
  }
  if (!row.result_reason.empty()) {
    return row.result_reason;
  }
  if (!row.verdict.empty()) {
    return row.verdict;
  }
  if (row.outcome == "queued" || row.outcome == "not_started") {
    return "not begun";
  }
  if (row.outcome == "unreadable") {
    return "its trajectory file cannot be read";
  }
  if (row.outcome == "unfinished") {
    return "not finished; the same command goes on with it";
  }
  return row.finished() ? "ended without a submission (" + row.stop_reason + ")" : "still running";
}

bool counts(const Row& row) {
  return row.scored() && has_ended(row.outcome) && row.outcome != "skipped" &&
         row.outcome != "infra_error";
}

Totals total(const std::vector<const Row*>& rows) {
  Totals totals;
  double logs = 0;
  for (const Row* row : rows) {
    const Row& t = *row;
    ++totals.items;
    ++totals.outcomes[t.outcome];
    const bool ended = has_ended(t.outcome);
    totals.finished += ended ? 1U : 0U;
    totals.unscored += t.scored() ? 0U : 1U;
    totals.input_tokens += t.input_tokens;
    totals.output_tokens += t.output_tokens;
    totals.wall_seconds += t.wall_seconds;
    totals.unpriced += t.cost_usd || t.page.empty() ? 0U : 1U;  // not begun: no cost
    totals.known_usd += t.cost_usd.value_or(0);
    totals.wasted_usd += t.wasted_usd.value_or(0);
    if (!counts(t)) {
      continue;
    }
    ++totals.judged;
    totals.correct += t.outcome == "correct" ? 1U : 0U;
    totals.compiled += t.compiled ? 1U : 0U;
    if (t.speedup) {
      ++totals.timed;
      totals.faster += t.verdict == "PASS_FASTER" ? 1U : 0U;
      logs += std::log(t.speedup->point);
    }
  }
  if (totals.timed > 0) {
    totals.geometric_mean = std::exp(logs / static_cast<double>(totals.timed));
  }
  if (totals.unpriced == 0 && totals.items > 0) {
    totals.cost_usd = totals.known_usd;
  }
  if (totals.judged > 0) {
    const stats::Interval rate = stats::wilson_interval(totals.correct, totals.judged, 0.95);
    totals.correct_rate =
        record::Interval{static_cast<double>(totals.correct) / static_cast<double>(totals.judged),
                         rate.low,
                         rate.high};
  }
  return totals;
}

std::vector<std::string> models_of(const std::vector<Row>& rows) {
  return distinct(rows, [](const Row& row) { return row.model; });
}

std::vector<std::string> problems_of(const std::vector<Row>& rows) {
  return distinct(rows, [](const Row& row) { return row.problem; });
}

}  // namespace sweep::report
