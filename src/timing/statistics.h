#pragma once

#include "timing/guards.h"
#include "timing/samples.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sweep::timing {

// Ratio seed / candidate: above 1 the candidate is faster.
struct Estimate {
  double point = 1, low = 1, high = 1;  // 95% interval
};

struct ShapeResult {
  double seed_seconds = 0, candidate_seconds = 0;  // medians over all calls
  Estimate ratio;
  bool uneven = false;
  int blocks = 0;
};

struct Result {
  std::vector<ShapeResult> shapes;
  Estimate ratio;      // geometric mean over the shapes
  Estimate bootstrap;  // replicates, then blocks, resampled; printed beside, decides nothing
  bool uneven = false;
  int replicates = 0, blocks = 0, discarded = 0;
  Guard drift;  // of the seed within a replicate, relative
};

// Statistic of docs/verdicts.md: a block gives d = (log s1 + log s2 - log c1 - log c2) / 2; a
// replicate the median of its d for each shape; the geometric mean over the shapes within a
// replicate; Student t over replicates. Where mean / median of the call times differs between the
// arms by more than 5% for a shape, that shape uses the ratio of the arms' mean times in each
// replicate (`uneven`). With one replicate the interval is Student t over its blocks (of each
// shape; shapes in quadrature). Blocks without four positive times, or with a seed call above three
// times the replicate's median, count as discarded. `shapes` = number of shapes; every one needs at
// least one complete block in each replicate that appears, else it throws util::InfraError
// "E_TIMING_SAMPLES". `bootstrap_rounds` 0 leaves Result::bootstrap at the point.
[[nodiscard]] Result analyse(std::span<const Call> calls, int shapes, int bootstrap_rounds = 1000);

enum class Decision { faster, equivalent, slower, inconclusive, unstable };

struct Rule {
  double margin = 0.01;  // m: max(2 x A/A half-width, 1%)
  double drift_limit = 0.03;
  double discard_limit = 0.2;  // share of the blocks
  bool may_say_faster = true;  // false: quick look (--fast), and the cpu device
};

// m of the band from the half-width of seed against itself.
[[nodiscard]] double margin(double aa_half_width);

// FASTER: low > 1 + m and no shape SLOWER. SLOWER: high < 1 / (1 + m). EQUIVALENT: the interval
// lies in [1 / (1 + m), 1 + m]. Else INCONCLUSIVE. UNSTABLE first: the lower bound of the drift, or
// the share of discarded blocks, above its limit.
[[nodiscard]] Decision decide(const Result& result, const Rule& rule);

// Replicates that give a half-width of `target` (relative, 95%) when replicates scatter by `sd`
// (log ratio); 5 to 15.
[[nodiscard]] int replicates_for(double sd, double target);

}  // namespace sweep::timing
