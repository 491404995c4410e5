#include "report/summary.h"

#include "stats/stats.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace sweep::report {

namespace {

template <class Key>
std::vector<std::string> distinct(const std::vector<Item>& items, Key key) {
  std::vector<std::string> out;
  for (const Item& item : items) {
    std::string value = key(item);
    if (std::find(out.begin(), out.end(), value) == out.end()) {
      out.push_back(std::move(value));
    }
  }
  return out;
}

}  // namespace

std::string problem_of(const record::Trajectory& trajectory) {
  const bool number = !trajectory.level.empty() &&
                      std::all_of(trajectory.level.begin(), trajectory.level.end(), [](char c) {
                        return std::isdigit(static_cast<unsigned char>(c)) != 0;
                      });
  return (number ? "level" + trajectory.level : trajectory.level) + "/" + trajectory.problem_id;
}

std::string label_of(const record::Trajectory& trajectory) {
  return problem_of(trajectory) +
         (trajectory.attempt > 1 ? " #" + std::to_string(trajectory.attempt) : "");
}

std::string title_of(const record::Trajectory& trajectory) {
  return trajectory.problem_title.empty() ? trajectory.problem_name : trajectory.problem_title;
}

bool has_ended(std::string_view outcome) {
  constexpr std::array kOpen{std::string_view("in_progress"),
                             std::string_view("unfinished"),
                             std::string_view("queued"),
                             std::string_view("not_started"),
                             std::string_view("unreadable")};
  return std::find(kOpen.begin(), kOpen.end(), outcome) == kOpen.end();
}

std::optional<record::Interval> speedup_of(const record::Trajectory& trajectory) {
  if (trajectory.outcome != "correct" || !trajectory.final_result) {
    return std::nullopt;
  }
  const auto& speedup = trajectory.final_result->speedup;
  return speedup && speedup->point > 0 ? speedup : std::nullopt;
}

std::string reason_of(const record::Trajectory& trajectory) {
  if (!trajectory.error.empty()) {
    return trajectory.error;
  }
  if (!trajectory.skip_reason.empty()) {
    return "skipped: " + trajectory.skip_reason;
  }
  if (trajectory.final_result && !trajectory.final_result->reason.empty()) {
    return trajectory.final_result->reason;
  }
  if (trajectory.final_result && !trajectory.final_result->verdict.empty()) {
    return trajectory.final_result->verdict;
  }
  if (trajectory.outcome == "queued" || trajectory.outcome == "not_started") {
    return "not begun";
  }
  if (trajectory.outcome == "unreadable") {
    return "its trajectory file cannot be read";
  }
  if (trajectory.outcome == "unfinished") {
    return "not finished; the same command goes on with it";
  }
  return trajectory.finished() ? "ended without a submission (" + trajectory.stop_reason + ")"
                               : "still running";
}

Totals total(const std::vector<const Item*>& items) {
  Totals totals;
  double logs = 0;
  bool priced = true;
  double cost = 0;
  for (const Item* item : items) {
    const record::Trajectory& t = item->trajectory;
    ++totals.items;
    ++totals.outcomes[t.outcome];
    const bool ended = has_ended(t.outcome);
    totals.finished += ended ? 1U : 0U;
    totals.judged += ended && t.outcome != "skipped" && t.outcome != "infra_error" ? 1U : 0U;
    totals.correct += t.outcome == "correct" ? 1U : 0U;
    totals.compiled += t.final_result && t.final_result->compiled ? 1U : 0U;
    totals.input_tokens += t.llm_input_tokens;
    totals.output_tokens += t.llm_output_tokens;
    totals.wall_seconds += t.agent_wall_clock_s;
    priced = priced && (t.cost_usd.has_value() || item->page.empty());  // not begun: no cost
    cost += t.cost_usd.value_or(0);
    totals.wasted_usd += t.cost_wasted_usd.value_or(0);
    if (const auto speedup = speedup_of(t)) {
      ++totals.timed;
      totals.faster += t.final_result->verdict == "PASS_FASTER" ? 1U : 0U;
      logs += std::log(speedup->point);
    }
  }
  if (totals.timed > 0) {
    totals.geometric_mean = std::exp(logs / static_cast<double>(totals.timed));
  }
  if (priced && totals.items > 0) {
    totals.cost_usd = cost;
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

std::vector<std::string> models_of(const std::vector<Item>& items) {
  return distinct(items, [](const Item& item) { return item.trajectory.model_name; });
}

std::vector<std::string> problems_of(const std::vector<Item>& items) {
  return distinct(items, [](const Item& item) { return problem_of(item.trajectory); });
}

}  // namespace sweep::report
