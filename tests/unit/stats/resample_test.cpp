#include "stats/resample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sweep::stats {
namespace {

TEST(PercentileInterval, IsOfTheSortedResults) {
  std::mt19937 random(1);
  for (std::size_t size = 1; size < 120; ++size) {
    std::vector<double> results(size);
    for (double& one : results) {
      one = static_cast<double>(random() % 40);  // with ties
    }
    std::vector<double> sorted = results;
    std::ranges::sort(sorted);
    for (const double confidence : {0.5, 0.9, 0.95, 0.999, 1e-6}) {
      const Interval interval = percentile_interval(results, confidence);
      EXPECT_EQ(interval.low, quantile_of_sorted(sorted, (1 - confidence) / 2)) << size;
      EXPECT_EQ(interval.high, quantile_of_sorted(sorted, 1 - (1 - confidence) / 2)) << size;
    }
  }
}

}  // namespace
}  // namespace sweep::stats
