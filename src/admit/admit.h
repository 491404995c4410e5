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
  double deadline_seconds = 1800;      // of one problem
  bool allow_unsandboxed = false;
  std::string version;  // of this program
};

// Where a problem's golden vectors are or belong: golden.json in its folder; for a built-in problem
// without one services.golden/<level>_<id>.json. It need not exist.
[[nodiscard]] std::filesystem::path golden_file(const evaluate::Services& services,
                                                const problem::Problem& problem);

// Of the files as they are now.
[[nodiscard]] Hashes hashes_now(const evaluate::Services& services,
                                const problem::Problem& problem);

// Where a problem stands with its files as they are now.
[[nodiscard]] Standing standing_now(const evaluate::Services& services,
                                    const problem::Problem& problem);

// Examines a problem in a judge process. What the problem does wrong is in the result: a rule that
// fails, or `failure` where the reference or the seed does not compile, is missing or ends the
// judge. Stores nothing. Throws util::Error where the machine fails.
[[nodiscard]] Admission admit(const AdmitOptions& options,
                              const problem::Problem& problem,
                              const evaluate::Tick& tick);

}  // namespace sweep::admit
