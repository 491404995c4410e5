#pragma once

#include "report/figure.h"

#include <string>
#include <vector>

// The figure of a comparison of two runs on the same problems.
namespace sweep::report {

// One problem that ended in both. With several attempts: the share of correct ones, and the
// geometric mean of the speedups of correct kernels that were timed (0: there is none).
struct PairedProblem {
  std::string label;  // "level1/3", with the model where there are several
  std::size_t first_attempts = 0, first_correct = 0;
  std::size_t second_attempts = 0, second_correct = 0;
  double first_speedup = 0, second_speedup = 0;
};

struct PairedRuns {
  std::string first, second;  // names
  std::vector<PairedProblem> problems;
  bool on_cpu = false;
  bool devices_differ = false;
};

// Second speedup over first, problem by problem, where both have one; and in the caption McNemar's
// exact test of the problems that only one of them solved (a problem counts as solved with at least
// one correct attempt), the sign test and the geometric mean of the ratios with its interval. More
// than 80 problems are drawn as a distribution.
[[nodiscard]] Figure comparison_figure(const PairedRuns& runs);

}  // namespace sweep::report
