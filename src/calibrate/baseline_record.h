#pragma once

#include "evaluate/baselines.h"
#include "evaluate/evaluation.h"
#include "problem/problem.h"

#include <functional>
#include <span>
#include <string>

namespace sweep::calibrate {

struct BaselineOptions {
  device::Id device;  // on the cpu device a library's call is a failure
  evaluate::Services services;
  int replicates = 5;
  double deadline_seconds = 600;  // of one baseline
  bool allow_unsandboxed = false;
  std::string version;  // of this program
};

// Times the seed of each problem against itself and every declared baseline against the seed, as
// `sweep eval` times a candidate: a judge, runner pairs, schedule, washer, flush, graphs,
// comparison of each output. A baseline is checked with the reference first. What fails becomes its
// entry's `failure`, a baseline without times. The device's table is stored after each problem; it
// keeps the entries of others. `say` gets a line for each baseline. Throws what the judge throws
// where the seed or the machine fails.
[[nodiscard]] evaluate::BaselineTable record_baselines(
    const BaselineOptions& options,
    std::span<const problem::Problem> problems,
    const std::function<void(const std::string&)>& say);

}  // namespace sweep::calibrate
