#pragma once

#include "record/run_dir.h"
#include "record/trajectory.h"

#include <string>
#include <vector>

namespace sweep::agent {

// Computes the numbers of a result again: those of the evaluation from its raw samples (see
// evaluate/recompute.h), and speedups, times and verdict of the result from that evaluation. What
// differs, one finding for each; empty for a result without timing. Hostile input is fine.
[[nodiscard]] std::vector<std::string> recompute(const record::FinalResult& result);

struct Recomputed {
  std::size_t results = 0;            // trajectories with a result and its evaluation
  std::vector<std::string> findings;  // "file: what differs"
};

// The same for every trajectory of a run that can be read; verify_run() names the others.
[[nodiscard]] Recomputed recompute(const record::RunDir& run);

}  // namespace sweep::agent
