#pragma once

#include "report/row.h"
#include "report/table.h"
#include "stats/resample.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

// What the figures have in common: which rows count, how they are grouped, and what captions say.
namespace sweep::report {

using Rows = std::vector<const Row*>;

// Those for which counts() holds: the n of every rate.
[[nodiscard]] Rows judged_of(const Rows& rows);
[[nodiscard]] bool is_correct(const Row& row);

// Point of the final speedup; 0: failed or not timed.
[[nodiscard]] double speedup_of(const Row& row);

// The problem as a cluster of a bootstrap: problems of two variants are two.
[[nodiscard]] std::string cluster_of(const Row& row);
[[nodiscard]] std::size_t problems_in(const Rows& rows);
[[nodiscard]] std::int64_t tokens_of(const Row& row);

// "faster", "equivalent", "slower", "inconclusive", "unstable" for correct rows, else "failed",
// "rejected" or "open" (not ended, skipped, or lost to infrastructure): colour classes of figures.
[[nodiscard]] std::string mark_of(const Row& row);

struct Group {
  std::string name;
  Rows rows;
};

// By model, and by harness and variant too where the rows have several of them; in order of first
// appearance.
[[nodiscard]] std::vector<Group> by_model(const Rows& rows);

// Colours of series: each group has one and the same in every figure of the same rows, unless there
// are more groups than colours; then those that are drawn are numbered.
class Colours {
 public:
  explicit Colours(const Rows& rows);

  [[nodiscard]] std::size_t of(const std::string& group, std::size_t drawn) const;

 private:
  std::map<std::string, std::size_t> numbers_;
};

// "level1", "sci"; and by the domain of the problem, "not recorded" where there is none.
[[nodiscard]] std::vector<Group> by_level(const Rows& rows);
[[nodiscard]] std::vector<Group> by_domain(const Rows& rows);

// "n = 340 judged attempts at 34 problems (12 skipped, unfinished or lost to infrastructure are
// left out)."
[[nodiscard]] std::string n_text(const Rows& rows);

// Sentences that a caption must carry, with a blank in front: that times of the cpu device rank
// nothing, that scripted models are no models, that the devices differ. `timed`: times are shown.
[[nodiscard]] std::string warnings(const Rows& rows, bool timed);

// Four significant digits: figures show no more, and the page stays small.
[[nodiscard]] double rounded(double value);

// How many series a figure draws; the table has all.
inline constexpr std::size_t kMostSeries = 8;

// " The 8 with the highest ... of 23 are drawn, those with one attempt last; the table has all.";
// empty when all are drawn.
[[nodiscard]] std::string drawn_text(std::size_t all, const std::string& which);

// A share with its interval; without one the share alone, said to have none.
[[nodiscard]] Cell interval_cell(double value, const std::optional<stats::Interval>& interval);
[[nodiscard]] Cell ratio_cell(const std::optional<double>& value,
                              const std::optional<stats::Interval>& interval,
                              const std::string& reason);

// [value, low, high], rounded; low and high null without an interval.
[[nodiscard]] nlohmann::json triple(double value, const std::optional<stats::Interval>& interval);

// Every interval of a figure: 95%, 1,000 resamples over problems, the same on every machine.
inline constexpr double kConfidence = 0.95;
[[nodiscard]] stats::Bootstrap figure_bootstrap();

}  // namespace sweep::report
