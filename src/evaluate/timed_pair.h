#pragma once

#include "evaluate/session.h"
#include "timing/schedule.h"

namespace sweep::evaluate {

// The arms of a replicate: processes of its own.
struct Pair {
  Player seed, candidate;
  // Started and warmed first. Where the seed always was, a scan read 2% faster than itself in one
  // shape on an H200 (docs/measurements); why is not known, nor whether taking turns cures it.
  timing::Arm first = timing::Arm::seed;
  int replicate = 0;  // those of a pilot counted

  // Calls seed() and candidate() in the pair's order.
  template <class Seed, class Candidate>
  void in_order(const Seed& seed_part, const Candidate& candidate_part) const {
    if (first == timing::Arm::seed) {
      seed_part();
      candidate_part();
    } else {
      candidate_part();
      seed_part();
    }
  }
};

// Arm::started() of both, as far as they have processes.
[[nodiscard]] bool started(const Pair& pair);

// Starts the processes and does not wait.
[[nodiscard]] Pair start_pair(Session& session, timing::Arm first, int replicate);

}  // namespace sweep::evaluate
