#include "problem/evaluate_rules.h"
#include "problem/groups.h"
#include "problem/stream.h"

#include <algorithm>
#include <numeric>

namespace sweep::problem {
namespace {

// Weight of each part; 0 marks an empty one. As many parts stay non-empty as the total needs.
std::vector<double> weights(const Split& rule,
                            std::int64_t units,
                            std::int64_t most,
                            Stream& stream) {
  std::vector<double> out(static_cast<std::size_t>(rule.parts));
  std::int64_t alive = 0;
  for (double& weight : out) {
    const bool empty = stream.unit() < rule.empty;
    weight = empty ? 0.0 : random::exp_of(rule.skew * stream.normal());
    alive += empty ? 0 : 1;
  }
  const std::int64_t needed = most > 0 ? (units + most - 1) / most : 0;
  for (std::int64_t k = 0; alive < needed && k < rule.parts; ++k) {
    const auto at = random::permuted(
        stream.word() | 1U, static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(rule.parts));
    if (out[at] == 0) {
      out[at] = 1.0;
      ++alive;
    }
  }
  for (std::size_t k = 0; alive < needed; ++k) {
    alive += out[k] == 0 ? 1 : 0;
    out[k] = out[k] == 0 ? 1.0 : out[k];
  }
  return out;
}

// Hands out `left` units one by one, round after round, to parts that may take more.
void spread(std::vector<std::int32_t>& units,
            const std::vector<double>& weight,
            std::int64_t most,
            std::int64_t left,
            Stream& stream) {
  const auto n = static_cast<std::uint64_t>(units.size());
  while (left > 0) {
    const std::uint64_t order = stream.word();
    const std::int64_t before = left;
    for (std::uint64_t k = 0; k < n && left > 0; ++k) {
      const std::uint64_t at = random::permuted(order, k, n);
      if (weight[at] > 0 && units[at] < most) {
        ++units[at];
        --left;
      }
    }
    if (left == before) {
      return;
    }
  }
}

}  // namespace

std::vector<std::int32_t> split(const Split& rule, const Key& key, const Location& where) {
  const auto fail = [&](const std::string& what) { fail_at(where, "E_GROUP", what); };
  if (rule.align < 1 || rule.total % rule.align != 0 || rule.parts < 0 || rule.total < 0) {
    fail("a total of " + std::to_string(rule.total) + " is no multiple of align " +
         std::to_string(rule.align));
  }
  const std::int64_t total = rule.total / rule.align;
  const std::int64_t least = (rule.min + rule.align - 1) / rule.align;
  const std::int64_t most = std::min(rule.max / rule.align, total);
  if (total > 0 && (rule.parts == 0 || most * rule.parts < total)) {
    fail("a total of " + std::to_string(rule.total) + " does not fit " +
         std::to_string(rule.parts) + " parts");
  }
  Stream stream(key.word(0), 1);
  std::vector<double> weight = weights(rule, total, most, stream);
  std::vector<std::int32_t> units(weight.size(), 0);
  std::int64_t left = total;
  for (std::size_t i = 0; i < units.size() && least > 0; ++i) {
    if (weight[i] > 0) {
      units[i] = static_cast<std::int32_t>(least);
      left -= least;
    }
  }
  if (left < 0) {
    fail("min " + std::to_string(rule.min) + " for each part needs more than the total " +
         std::to_string(rule.total));
  }
  const double sum = std::accumulate(weight.begin(), weight.end(), 0.0);
  const auto shared = static_cast<double>(left);
  for (std::size_t i = 0; i < units.size() && sum > 0; ++i) {
    const auto share = static_cast<std::int64_t>(shared * (weight[i] / sum));
    const std::int64_t given = std::clamp<std::int64_t>(std::min(share, left), 0, most - units[i]);
    units[i] += static_cast<std::int32_t>(given);
    left -= given;
  }
  spread(units, weight, most, left, stream);
  for (std::int32_t& unit : units) {
    unit *= static_cast<std::int32_t>(rule.align);
  }
  return units;
}

}  // namespace sweep::problem
