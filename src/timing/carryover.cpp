#include "timing/guards.h"
#include "timing/shift.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>

namespace sweep::timing {
namespace {

constexpr double kError = 0.001;  // all shapes and both kinds of bound together

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

// Of each shape: log seed / candidate on a content, after the seed [0] and after the candidate [1].
std::vector<Strata> by_predecessor(std::span<const Call> calls, int shapes) {
  std::map<Content, double> candidate;
  for (const Call& call : calls) {
    if (call.arm == Arm::candidate && measured(call)) {
      candidate[content_of(call)] = call.device_seconds;
    }
  }
  std::vector<Strata> result(static_cast<std::size_t>(shapes));
  const Call* before = nullptr;
  for (const Call& call : calls) {
    const auto paired = candidate.find(content_of(call));
    if (call.arm == Arm::seed && measured(call) && before != nullptr && follows(*before, call) &&
        paired != candidate.end()) {
      const std::size_t group = before->arm == Arm::candidate ? 1 : 0;
      result.at(static_cast<std::size_t>(call.shape))[call.replicate].at(group).push_back(
          std::log(call.device_seconds / paired->second));
    }
    before = &call;
  }
  return result;
}

Guard guard_of(const Shift& shift) {
  return {std::expm1(shift.point), shift.bounded ? std::max(std::expm1(shift.low), 0.0) : 0};
}

}  // namespace

Guard carryover(std::span<const Call> calls, int shapes) {
  std::optional<Guard> worst;
  for (const Strata& strata : by_predecessor(calls, shapes)) {
    const double error = kError / (2 * shapes);
    const Guard found =
        worse(guard_of(rank_shift(strata, error)), guard_of(mean_shift(strata, error)));
    worst = worst ? worse(*worst, found) : found;
  }
  return worst.value_or(Guard{});
}

}  // namespace sweep::timing
