#pragma once

#include "evaluate/recompute.h"
#include "record/run_dir.h"
#include "record/trajectory.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace sweep::agent {

// Computes the numbers of a result again: those of the evaluation from its raw samples (see
// evaluate/recompute.h), and speedups, times and verdict of the result from that evaluation. What
// differs, one finding for each; empty for a result without timing. Hostile input is fine.
[[nodiscard]] evaluate::Recomputed recompute(const record::FinalResult& result);

struct Recomputed {
  std::size_t results = 0;              // trajectories with a result and its evaluation
  std::vector<std::string> findings;    // "file: what differs"
  std::map<int, std::size_t> by_rules;  // results that other rules than today's judged
  std::vector<std::string> otherwise;   // "file: what today's rules give for one of these"
};

// The same for every trajectory of a run that can be read; verify_run() names the others.
[[nodiscard]] Recomputed recompute(const record::RunDir& run);

}  // namespace sweep::agent
