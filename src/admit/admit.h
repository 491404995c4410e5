#pragma once

#include "admit/record.h"
#include "device/device.h"
#include "evaluate/evaluation.h"
#include "evaluate/judge_stages.h"
#include "problem/problem.h"

#include <filesystem>

namespace sweep::admit {

struct AdmitOptions {
  device::Id device;
  evaluate::Services services;
  evaluate::admission::Options rules;  // golden vectors and the candidate are filled in here
  std::filesystem::path golden;        // folder with level1_3.json of built-in problems
  double deadline_seconds = 1800;      // of one problem
  bool allow_unsandboxed = false;
  std::string version;  // of this program
};

// Where a problem's golden vectors are or belong: golden.json in its folder; for a built-in problem
// without one `golden`/<level>_<id>.json. It need not exist.
[[nodiscard]] std::filesystem::path golden_file(const AdmitOptions& options,
                                                const problem::Problem& problem);

// Of the files as they are now.
[[nodiscard]] Hashes hashes_now(const AdmitOptions& options, const problem::Problem& problem);

// Examines a problem in a judge process. What the problem does wrong is in the result: a rule that
// fails, or `failure` where the reference or the seed does not compile, is missing or ends the
// judge. Stores nothing. Throws util::Error where the machine fails.
[[nodiscard]] Admission admit(const AdmitOptions& options,
                              const problem::Problem& problem,
                              const evaluate::Tick& tick);

}  // namespace sweep::admit
