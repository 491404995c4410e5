#include "stats/summary.h"

#include "stats/require.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sweep::stats {

namespace {

void add(Account& account, const Expense& expense) {
  ++account.items;
  account.known_spent += expense.spent.value_or(0);
  account.known_wasted += expense.wasted.value_or(0);
  account.unknown += expense.spent ? 0U : 1U;
}

}  // namespace

std::string_view text(Failures policy) {
  return policy == Failures::leave_out ? "failed attempts are left out"
                                       : "failed attempts count as 1.0x";
}

GeometricMean geometric_mean(std::span<const Attempt> attempts,
                             Failures policy,
                             const Bootstrap& options) {
  std::size_t problems = 0;
  for (const Attempt& one : attempts) {
    problems = std::max(problems, one.problem + 1);
  }
  require(problems <= attempts.size(), "geometric_mean: problems are numbered without gaps");
  std::vector<Tally> logs(problems);
  GeometricMean out;
  for (const Attempt& one : attempts) {
    const bool failed = !(one.speedup > 0);
    out.failed += failed ? 1U : 0U;
    if (!failed || policy == Failures::count_as_one) {
      logs[one.problem].sum += failed ? 0 : std::log(one.speedup);
      logs[one.problem].count += 1;
      ++out.n;
    }
  }
  std::erase_if(logs, [](const Tally& one) { return one.count < 1; });
  if (out.n == 0) {
    return out;
  }
  const double sum = std::accumulate(
      logs.begin(), logs.end(), 0.0, [](double at, const Tally& one) { return at + one.sum; });
  out.value = std::exp(sum / static_cast<double>(out.n));
  if (const auto interval = ratio_interval(logs, options)) {
    out.interval = Interval{std::exp(interval->low), std::exp(interval->high)};
  }
  return out;
}

CostLedger cost_ledger(std::span<const Expense> expenses) {
  CostLedger out;
  Numbering models;
  for (const Expense& expense : expenses) {
    const std::size_t at = models.of(expense.model);
    if (at == out.models.size()) {
      out.models.push_back({expense.model, 0, 0, 0, 0});
    }
    add(out.models[at], expense);
    add(out.total, expense);
  }
  return out;
}

std::vector<bool> pareto_front(std::span<const Offer> offers) {
  std::vector<std::size_t> order(offers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return offers[a].cost != offers[b].cost ? offers[a].cost < offers[b].cost
                                            : offers[a].worth > offers[b].worth;
  });
  std::vector<bool> front(offers.size(), false);
  double best = -std::numeric_limits<double>::infinity();
  double best_cost = 0;
  for (const std::size_t i : order) {
    const bool equal = offers[i].worth == best && offers[i].cost == best_cost;
    if (offers[i].worth > best || equal) {
      front[i] = true;
      best = offers[i].worth;
      best_cost = offers[i].cost;
    }
  }
  return front;
}

}  // namespace sweep::stats
