#include "stats/pass_at_k.h"

#include "stats/require.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace sweep::stats {

namespace {

struct Attempts {
  std::uint64_t n = 0;
  std::uint64_t solved = 0;
  std::set<std::string> seeds;
  bool repeated = false;  // a seed was used twice
};

std::map<std::string, Attempts> by_problem(std::span<const Unit> units) {
  std::map<std::string, Attempts> out;
  for (const Unit& unit : units) {
    Attempts& at = out[unit.problem];
    ++at.n;
    at.solved += unit.solved ? 1U : 0U;
    at.repeated = at.repeated || (!unit.seed.empty() && !at.seeds.insert(unit.seed).second);
  }
  return out;
}

std::string why_not(std::span<const Unit> units,
                    const std::map<std::string, Attempts>& problems,
                    std::uint64_t k) {
  if (units.empty()) {
    return "no judged attempts";
  }
  const std::string& first = units.front().configuration;
  if (std::ranges::any_of(units, [&](const Unit& one) { return one.configuration != first; })) {
    return "the attempts were made under unlike configurations";
  }
  for (const auto& [name, at] : problems) {
    if (at.repeated) {
      return fmt::format("attempts at {} share a sampling seed, so they are not independent", name);
    }
  }
  const auto fewest =
      std::ranges::min_element(problems, {}, [](const auto& one) { return one.second.n; });
  if (fewest->second.n < k) {
    return fmt::format("k = {} needs {} judged attempts at every problem, and {} has {}",
                       k,
                       k,
                       fewest->first,
                       fewest->second.n);
  }
  return {};
}

}  // namespace

double pass_estimate(std::uint64_t n, std::uint64_t c, std::uint64_t k) {
  require(k >= 1 && k <= n && c <= n, "pass@k: needs 1 <= k <= n and c <= n");
  if (n - c < k) {
    return 1;
  }
  // C(n - c, k) / C(n, k) as a product of factors below 1: no factorial overflows.
  double none = 1;
  for (std::uint64_t i = 0; i < k; ++i) {
    none *= static_cast<double>(n - c - i) / static_cast<double>(n - i);
  }
  return 1 - none;
}

PassAtK pass_at_k(std::span<const Unit> units, std::uint64_t k, const Bootstrap& options) {
  require(k >= 1, "pass@k: k must be >= 1");
  const std::map<std::string, Attempts> problems = by_problem(units);
  PassAtK out;
  out.problems = problems.size();
  out.units = units.size();
  out.why_not = why_not(units, problems, k);
  if (!out.why_not.empty()) {
    return out;
  }
  std::vector<Tally> tallies;
  double sum = 0;
  for (const auto& [name, at] : problems) {
    tallies.push_back({pass_estimate(at.n, at.solved, k), 1});
    sum += tallies.back().sum;
  }
  out.value = sum / static_cast<double>(tallies.size());
  out.interval = share_interval(tallies, options);
  return out;
}

}  // namespace sweep::stats
