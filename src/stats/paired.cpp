#include "stats/paired.h"

#include "stats/require.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sweep::stats {

double sign_test(std::uint64_t positive, std::uint64_t negative) {
  const std::uint64_t n = positive + negative;
  const std::uint64_t fewer = std::min(positive, negative);
  if (positive == negative) {
    return 1;
  }
  // P(X <= fewer) of a binomial with chance 1/2 is I_{1/2}(n - fewer, fewer + 1).
  const double tail =
      incomplete_beta(static_cast<double>(n - fewer), static_cast<double>(fewer + 1), 0.5);
  return std::min(1.0, 2 * tail);
}

double mcnemar_exact(const Agreement& agreement) {
  return sign_test(agreement.only_first, agreement.only_second);
}

PairedRatio paired_ratio(std::span<const Pair> pairs, const Bootstrap& options) {
  require(!pairs.empty(), "paired_ratio: no pairs");
  PairedRatio out;
  std::vector<Tally> logs;
  double sum = 0;
  for (const Pair& pair : pairs) {
    require(pair.first > 0 && pair.second > 0, "paired_ratio: speedups must be > 0");
    logs.push_back({std::log(pair.second / pair.first), 1});
    sum += logs.back().sum;
    out.higher += pair.second > pair.first ? 1U : 0U;
    out.lower += pair.second < pair.first ? 1U : 0U;
  }
  out.n = pairs.size();
  out.ratio = std::exp(sum / static_cast<double>(out.n));
  if (const auto interval = ratio_interval(logs, options)) {
    out.interval = Interval{std::exp(interval->low), std::exp(interval->high)};
  }
  out.p_value = sign_test(out.higher, out.lower);
  return out;
}

}  // namespace sweep::stats
