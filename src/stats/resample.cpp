#include "stats/resample.h"

#include "stats/require.h"

#include <algorithm>

namespace sweep::stats {

void for_each_resample(std::size_t problems,
                       const Bootstrap& options,
                       const std::function<void(std::span<const std::uint32_t>)>& use) {
  require(problems >= 1 && options.resamples >= 1, "bootstrap: needs a problem and a resample");
  KeyedRandom random(options.seed, "problems");
  std::vector<std::uint32_t> drawn(problems);
  for (std::size_t r = 0; r < options.resamples; ++r) {
    for (std::uint32_t& one : drawn) {
      one = static_cast<std::uint32_t>(random.below(problems));
    }
    use(drawn);
  }
}

Interval percentile_interval(std::vector<double> results, double confidence) {
  require(!results.empty() && confidence > 0 && confidence < 1,
          "bootstrap: needs results and a confidence in (0, 1)");
  const double tail = (1 - confidence) / 2;
  return {quantile(results, tail), quantile(results, 1 - tail)};
}

std::optional<Interval> ratio_interval(std::span<const Tally> problems, const Bootstrap& options) {
  require(std::ranges::all_of(problems, [](const Tally& one) { return one.count >= 1; }),
          "bootstrap: a problem without attempts");
  if (problems.size() < 2) {
    return std::nullopt;
  }
  std::vector<double> results;
  results.reserve(options.resamples);
  for_each_resample(problems.size(), options, [&](std::span<const std::uint32_t> drawn) {
    Tally all;
    for (const std::uint32_t one : drawn) {
      all.sum += problems[one].sum;
      all.count += problems[one].count;
    }
    results.push_back(all.sum / all.count);
  });
  return percentile_interval(std::move(results), options.confidence);
}

std::optional<Interval> share_interval(std::span<const Tally> problems, const Bootstrap& options) {
  Tally all;
  for (const Tally& one : problems) {
    require(one.sum >= 0 && one.sum <= one.count, "bootstrap: more successes than attempts");
    all.sum += one.sum;
    all.count += one.count;
  }
  if (!problems.empty() && (all.sum <= 0 || all.sum >= all.count)) {
    return wilson_interval(all.sum <= 0 ? 0 : problems.size(), problems.size(), options.confidence);
  }
  return ratio_interval(problems, options);
}

std::size_t Numbering::of(const std::string& name) {
  const auto [at, fresh] = numbers_.try_emplace(name, names_.size());
  if (fresh) {
    names_.push_back(name);
  }
  return at->second;
}

}  // namespace sweep::stats
