#include "stats/resample.h"

#include "stats/require.h"

#include <algorithm>

namespace sweep::stats {

void for_each_resample(std::size_t problems,
                       const Bootstrap& options,
                       const std::function<void(std::span<const std::uint32_t>)>& use) {
  require(problems >= 1 && problems < (1U << 24U) && options.resamples >= 1,
          "bootstrap: needs a problem, fewer than 2^24 of them, and a resample");
  KeyedRandom random(options.seed, "problems");
  std::vector<std::uint32_t> drawn(problems);
  for (std::size_t r = 0; r < options.resamples; ++r) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < problems; ++i) {
      // Two draws a random number. The product's upper half is uniform but for a bias of at most
      // problems / 2^32, far below what a resample can show; a division each would cost most of the
      // time.
      bits = i % 2 == 0 ? random.next() : bits >> 32U;
      drawn[i] = static_cast<std::uint32_t>(((bits & 0xFFFFFFFFU) * problems) >> 32U);
    }
    use(drawn);
  }
}

namespace {

// Puts the value that would stand there were all sorted, where all before `from` are not above it.
void put_in_place(std::vector<double>& values, std::size_t from, std::size_t at) {
  if (at >= from && at < values.size()) {
    const auto place = [&](std::size_t i) {
      return values.begin() + static_cast<std::ptrdiff_t>(i);
    };
    std::nth_element(place(from), place(at), values.end());
  }
}

}  // namespace

Interval percentile_interval(std::vector<double> results, double confidence) {
  require(!results.empty() && confidence > 0 && confidence < 1,
          "bootstrap: needs results and a confidence in (0, 1)");
  const double tail = (1 - confidence) / 2;
  // Only the neighbours of the two quantiles need stand where a sort would put them.
  std::size_t done = 0;
  for (const double p : {tail, 1 - tail}) {
    const auto below = static_cast<std::size_t>(p * static_cast<double>(results.size() - 1));
    for (const std::size_t at : {below, below + 1}) {
      put_in_place(results, done, at);
      done = std::max(done, at + 1);
    }
  }
  return {quantile_of_sorted(results, tail), quantile_of_sorted(results, 1 - tail)};
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

Columns::Columns(std::size_t problems, std::size_t columns)
    : columns_(columns), sums_(problems * columns, 0), counts_(problems, 0) {
  require(problems >= 1 && columns >= 1, "Columns: needs a problem and a column");
}

void Columns::add(std::size_t problem, std::span<const float> values) {
  require(problem < counts_.size() && values.size() == columns_, "Columns: no such place");
  float* row = sums_.data() + problem * columns_;
  for (std::size_t i = 0; i < columns_; ++i) {
    row[i] += values[i];
  }
  counts_[problem] += 1;
}

std::vector<double> Columns::ratios() const {
  require(std::ranges::all_of(counts_, [](float count) { return count >= 1; }),
          "Columns: a problem without attempts");
  std::vector<double> out(columns_, 0);
  double all = 0;
  for (std::size_t problem = 0; problem < counts_.size(); ++problem) {
    all += static_cast<double>(counts_[problem]);
    for (std::size_t i = 0; i < columns_; ++i) {
      out[i] += static_cast<double>(sums_[problem * columns_ + i]);
    }
  }
  for (double& one : out) {
    one /= all;
  }
  return out;
}

std::vector<Interval> Columns::intervals(const Bootstrap& options) const {
  if (counts_.size() < 2) {
    return {};
  }
  std::vector<std::vector<double>> results(columns_);
  std::vector<float> sums(columns_);
  for_each_resample(counts_.size(), options, [&](std::span<const std::uint32_t> drawn) {
    std::ranges::fill(sums, 0.0F);
    float count = 0;
    for (const std::uint32_t problem : drawn) {
      const float* row = sums_.data() + problem * columns_;
      count += counts_[problem];
      for (std::size_t i = 0; i < columns_; ++i) {
        sums[i] += row[i];
      }
    }
    for (std::size_t i = 0; i < columns_; ++i) {
      results[i].push_back(static_cast<double>(sums[i]) / static_cast<double>(count));
    }
  });
  std::vector<Interval> out;
  for (std::vector<double>& one : results) {
    out.push_back(percentile_interval(std::move(one), options.confidence));
  }
  return out;
}

std::size_t Numbering::of(const std::string& name) {
  const auto [at, fresh] = numbers_.try_emplace(name, names_.size());
  if (fresh) {
    names_.push_back(name);
  }
  return at->second;
}

}  // namespace sweep::stats
