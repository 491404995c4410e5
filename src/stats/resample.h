#pragma once

#include "stats/stats.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

// Bootstrap over problems. Attempts at one problem are not independent of each other as evidence
// about other problems, so whole problems are drawn, with all their attempts.
namespace sweep::stats {

// How an interval is made. Equal options and equal data give the same interval everywhere.
struct Bootstrap {
  double confidence = 0.95;      // in (0, 1)
  std::size_t resamples = 2000;  // >= 1
  std::uint64_t seed = 1;
};

// Calls `use` once for each resample with the numbers of the problems drawn: `problems` numbers in
// [0, problems), with repeats. 1 <= problems < 2^24.
void for_each_resample(std::size_t problems,
                       const Bootstrap& options,
                       const std::function<void(std::span<const std::uint32_t>)>& use);

// Percentile interval of `results`, one number a resample.
[[nodiscard]] Interval percentile_interval(std::vector<double> results, double confidence);

// Percentile interval of the mean over problems, each given as a sum and a count of its attempts:
// sum of the sums over sum of the counts. Unset with fewer than two problems, which say nothing
// about how problems differ. Every count >= 1.
struct Tally {
  double sum = 0;
  double count = 0;
};

[[nodiscard]] std::optional<Interval> ratio_interval(std::span<const Tally> problems,
                                                     const Bootstrap& options);

// The same for a share, whose sums are counts of successes. Where no attempt or every attempt
// succeeded every resample is alike and the bootstrap's interval would have no width: Wilson's
// interval over the problems is taken there.
[[nodiscard]] std::optional<Interval> share_interval(std::span<const Tally> problems,
                                                     const Bootstrap& options);

// Many ratios over the same problems, with the same resamples for all of them.
class Columns {
 public:
  // `problems` >= 1, `columns` >= 1; all sums and counts begin at 0.
  Columns(std::size_t problems, std::size_t columns);

  // Adds one attempt at `problem`: `values` holds a number a column.
  void add(std::size_t problem, std::span<const float> values);

  [[nodiscard]] std::size_t problems() const { return counts_.size(); }

  // Sum over number of attempts, a column; each problem with an attempt.
  [[nodiscard]] std::vector<double> ratios() const;

  // Percentile intervals of ratios(), a column; empty with fewer than two problems.
  [[nodiscard]] std::vector<Interval> intervals(const Bootstrap& options) const;

 private:
  std::size_t columns_;
  std::vector<float> sums_;    // problem by column; whole numbers below 2^24 or sums of few values
  std::vector<float> counts_;  // attempts at a problem
};

// Numbers names in order of first appearance: the problem of each attempt as a small number.
class Numbering {
 public:
  [[nodiscard]] std::size_t of(const std::string& name);

  [[nodiscard]] std::size_t size() const { return names_.size(); }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> numbers_;
};

}  // namespace sweep::stats
