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
  std::vector<double> replicate_logs{};  // log ratio of each replicate, which `ratio` is made of
  std::vector<std::vector<double>> block_logs{};  // of each replicate's blocks that count
};

struct Result {
  std::vector<ShapeResult> shapes;
  Estimate ratio;      // geometric mean over the shapes
  Estimate bootstrap;  // replicates, then blocks, resampled; printed beside, decides nothing
  bool uneven = false;
  int replicates = 0, blocks = 0, discarded = 0;
  double replicate_sd = 0;  // of the replicates' log ratios; 0 for one replicate
  double block_error = 0;   // standard error of a replicate's log ratio from its blocks' scatter
  Guard drift;              // of the seed within a replicate, relative
  Guard carryover;          // of the candidate on the seed's next call, relative
  HiddenTime hidden;        // by the host's clock of the runner
  HiddenTime slope;         // by the judge's clock (clocks.h); analyse() leaves it empty
};

// Blocks in which the seed was held up from outside. On a device that a session has for itself that
// is rare, and they say nothing about the candidate. Where it is common (the cpu device: whatever
// else the machine does) the candidate's calls are held up as often, and to leave out the seed's
// alone would make every kernel slower than it is.
enum class Disturbed { discard, keep };

// Statistic of docs/verdicts.md: a block gives d = (log s1 + log s2 - log c1 - log c2) / 2; a
// replicate the median of its d for each shape; the geometric mean over the shapes within a
// replicate; Student t over replicates. Where mean / median of the call times differs between the
// arms by more than 5% for a shape, that shape uses the ratio of the arms' mean times in each
// replicate (`uneven`). With one replicate the interval is Student t over its blocks (of each
// shape; shapes in quadrature). Blocks without four positive times, or with a disturbed seed call
// (above three times the replicate's median), count as discarded. `shapes` = number of shapes;
// every one needs at least one complete block in each replicate that appears, else it throws
// util::InfraError "E_TIMING_SAMPLES". `bootstrap_rounds` 0 leaves Result::bootstrap at the point.
// `calls` in order of time. `launches` of the candidate's plan for each shape; empty: one each.
[[nodiscard]] Result analyse(std::span<const Call> calls,
                             int shapes,
                             int bootstrap_rounds = 1000,
                             std::span<const int> launches = {},
                             Disturbed disturbed = Disturbed::discard);

enum class Decision {
  faster,
  equivalent,
  slower,
  inconclusive,
  unstable,
  rejected_timer,
  rejected_carryover
};

struct Rule {
  double margin = 0.01;  // m: max(2 x A/A half-width, 1%)
  double drift_limit = 0.03;
  double discard_limit = 0.2;  // share of the blocks
  // False on the cpu device, where nobody guards the host's clocks and caches: carry-over, clocks
  // and discarded blocks decide nothing, and with a drift above the limit nothing does but being
  // slower by more than the drift.
  bool guarded = true;
  bool may_say_faster = true;  // false: quick look (--fast), and the cpu device
  bool disturbed = false;      // another program computed on the device meanwhile
};

// m of the band from the half-width of seed against itself.
[[nodiscard]] double margin(double aa_half_width);

// FASTER: low > 1 + m and no shape SLOWER. SLOWER: high < 1 / (1 + m). EQUIVALENT: the interval
// lies in [1 / (1 + m), 1 + m]. Else INCONCLUSIVE. UNSTABLE first: the lower bound of the drift, or
// the share of discarded blocks, above its limit, or another program on the device. Before all of
// these, by lower bounds as well: REJECTED_TIMER where the candidate hides time from its events,
// REJECTED_CARRYOVER where it slows the seed's next call by more than m: what is left of a
// carry-over in the ratio is below m then.
[[nodiscard]] Decision decide(const Result& result, const Rule& rule);

inline constexpr int kMostReplicates = 15;

// Replicates that give a half-width of `target` (relative, 95%) when replicates scatter by `sd`
// (log ratio); 5 to 15.
[[nodiscard]] int replicates_for(double sd, double target);

// Half-width (relative, 95%) that a pilot's replicates are chosen for: 0.5% for calls up to 20 us,
// 0.2% from 100 us up, between them a straight line in logarithms. Below 20 us events resolve less
// than a submission's time is worth.
[[nodiscard]] double target_half_width(double call_seconds);

// Replicates of the verdict after a pilot, whose calls are not used again: replicates_for the
// larger of replicate_sd, which two replicates estimate badly, and what it cannot be below:
// block_error and, in quadrature, 0.1 us of a call's length, by which processes differ beyond
// their blocks' scatter (0.12 us: H200, fifteen sessions of a copy of 27 us: docs/measurements).
// The target is that of target_half_width for the geometric mean of the seed's medians. The
// verdict's own calls have no say, so its interval keeps its error rate.
[[nodiscard]] int replicates_after(const Result& pilot);

// A gain that matters in practice and was confirmed: the estimate is at least 1.05, and the
// interval of a second session, on new contents, lies at 1 or above.
[[nodiscard]] bool practical_win(const Estimate& first, const Estimate& second);

// Tuned to what was shown: on shapes that were not, the speedup is below 0.8 of the visible one.
[[nodiscard]] bool specialised(const Estimate& heldout, const Estimate& visible);

}  // namespace sweep::timing
