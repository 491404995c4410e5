#include "stats/stats.h"
#include "timing/guards.h"
#include "timing/shift.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace sweep::timing {
namespace {

constexpr double kError = 0.001;  // all shapes and kinds of bound together
constexpr int kBounds = 3;

bool measured(const Call& call) {
  return call.device_seconds > 0 && std::isfinite(call.device_seconds);
}

// Replicate, shape, block and half: the content of a call.
using Content = std::array<int, 4>;

Content content_of(const Call& call) {
  return {call.replicate, call.shape, call.block, content_of_position(call.position)};
}

// Whether `before`, the last call in the list, is what ran before `call`: no call is missing.
bool follows(const Call& before, const Call& call) {
  return before.replicate == call.replicate &&
         (call.position == 0 ? before.position == 3
                             : before.position + 1 == call.position && before.block == call.block &&
                                   before.shape == call.shape);
}

// The calls of both arms on one content.
struct Meeting {
  std::array<double, 2> seconds{};           // by Arm; 0: not measured
  std::array<std::optional<Arm>, 2> before;  // whose call was the one before; none: unknown
};

std::map<Content, Meeting> meetings(std::span<const Call> calls) {
  std::map<Content, Meeting> found;
  const Call* before = nullptr;
  for (const Call& call : calls) {
    if (measured(call)) {
      Meeting& meeting = found[content_of(call)];
      const auto arm = static_cast<std::size_t>(call.arm);
      meeting.seconds.at(arm) = call.device_seconds;
      if (before != nullptr && follows(*before, call)) {
        meeting.before.at(arm) = before->arm;
      }
    }
    before = &call;
  }
  return found;
}

struct ShapeMeetings {
  // Log seed / candidate on contents where each came after the other, both after the seed, both
  // after the candidate; by replicate.
  std::map<int, std::array<std::vector<double>, 3>> logs;
  std::vector<double> all;
  // Log seconds of the seed's calls after its own and after the candidate's, and of the
  // candidate's after the seed's and after its own.
  Strata seed_alone, candidate_alone;
};

enum Group : std::size_t { after_other, after_seed, after_candidate };

std::vector<ShapeMeetings> by_predecessor(std::span<const Call> calls, int shapes) {
  std::vector<ShapeMeetings> result(static_cast<std::size_t>(shapes));
  for (const auto& [content, meeting] : meetings(calls)) {
    const auto& [seed, candidate] = meeting.seconds;
    const auto& [before_seed, before_candidate] = meeting.before;
    if (!(seed > 0 && candidate > 0 && before_seed && before_candidate)) {
      continue;
    }
    const bool both = *before_seed == *before_candidate;
    if (!both && *before_seed == Arm::seed) {
      continue;  // no block has it
    }
    const Group group = !both                       ? after_other
                        : *before_seed == Arm::seed ? after_seed
                                                    : after_candidate;
    ShapeMeetings& shape = result.at(static_cast<std::size_t>(content[1]));
    shape.logs[content[0]].at(group).push_back(std::log(seed / candidate));
    shape.all.push_back(std::log(seed / candidate));
    const auto by = [&](Strata& strata, Arm before) -> std::vector<double>& {
      return strata[content[0]].at(before == Arm::seed ? 0 : 1);
    };
    by(shape.seed_alone, *before_seed).push_back(std::log(seed));
    by(shape.candidate_alone, *before_candidate).push_back(std::log(candidate));
  }
  return result;
}

Guard guard_of(const Shift& shift) {
  return {std::expm1(shift.point), shift.bounded ? std::max(std::expm1(shift.low), 0.0) : 0};
}

// With y_o, y_s and y_c for the groups: the seed loses y_o - y_s by the candidate before it, the
// candidate y_c - y_o by the seed before it.
Guard guard_of(const ShapeMeetings& shape, double error) {
  Strata seed, seed_all, candidate;
  double other = 0, same_seed = 0, same_candidate = 0;  // contents
  for (const auto& [replicate, logs] : shape.logs) {
    const auto& [o, s, c] = logs;
    seed[replicate] = {s, o};
    candidate[replicate] = {c, o};
    seed_all[replicate] = {s, o};
    seed_all[replicate][1].insert(seed_all[replicate][1].end(), c.begin(), c.end());
    other += static_cast<double>(o.size());
    same_seed += static_cast<double>(s.size());
    same_candidate += static_cast<double>(c.size());
  }
  if (!(other > 0 && same_seed > 0 && same_candidate > 0)) {
    return {};
  }
  const double k = std::exp(-stats::median(shape.all));
  const Shift gained = rank_shift(candidate, error);
  // y_o is in both.
  const double correlation = 1 / std::sqrt((1 + other / same_seed) * (1 + other / same_candidate));
  const Shift by_ranks = sum_of(rank_shift(seed, error), k, gained, correlation);
  // What the candidate loses is in y_s and, as often as contents say, in y_o; for contents of equal
  // scatter the two terms are independent.
  const double lost = same_candidate / (other + same_candidate);
  const Shift by_means = sum_of(mean_shift(seed_all, error), lost + k, gained, 0);
  // Ranks take a loss in a little more than half of the candidate's calls for one in all, and one
  // where each came after the other alone is in both differences: here no call of the candidate's
  // says what the seed lost.
  // Both arms have the same contents: where these make all the scatter, what is common to
  // the two differences of means is this correlation.
  const double contents =
      std::sqrt(same_seed * same_candidate / ((other + same_candidate) * (other + same_seed)));
  const Shift alone = sum_of(
      mean_shift(shape.seed_alone, error), k, mean_shift(shape.candidate_alone, error), contents);
  return worse(worse(guard_of(by_ranks), guard_of(by_means)), guard_of(alone));
}

}  // namespace

Guard carryover(std::span<const Call> calls, int shapes) {
  std::optional<Guard> worst;
  for (const ShapeMeetings& shape : by_predecessor(calls, shapes)) {
    const Guard found = guard_of(shape, kError / (kBounds * shapes));
    worst = worst ? worse(*worst, found) : found;
  }
  return worst.value_or(Guard{});
}

}  // namespace sweep::timing
