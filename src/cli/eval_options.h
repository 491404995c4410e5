#pragma once

#include "cli/options.h"
#include "cli/requirement.h"
#include "cli/scan.h"
#include "evaluate/evaluation.h"
#include "profile/report.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sweep::cli {

// The command line of `sweep eval` as given.
struct EvalOptions {
  std::string file;
  std::string problem;
  std::string device = "cuda";
  std::string versus;
  std::vector<std::string> shapes;
  std::vector<std::string> defines;
  std::string compiler = "nvrtc";
  std::string isa = "problem";
  std::string only;
  std::vector<std::string> requirements;
  std::vector<std::string> scans;
  bool watch = false;
  std::uint64_t seed = 1;
  int replicates = evaluate::EvaluationRequest{}.replicates;
  bool fast = false;
  bool full = false;
  bool no_stress_gate = false;
  bool sass = false;
  bool sanitize = false;
  bool profile = false;
  std::string arch;
  std::string dump;
  GlobalOptions global;
};

void declare(CLI::App& app, EvalOptions& options);

// What `sweep eval` was told to do, held against itself: texts parsed, no option contradicts
// another.
struct EvalTask {
  std::vector<Requirement> requirements;
  std::vector<ScanParameter> scan;  // empty: one evaluation
  profile::Wanted wanted;
};

// Reads no file. Throws util::UsageError where options are malformed or contradict each other.
[[nodiscard]] EvalTask to_task(const EvalOptions& options);

// Reads the kernel's file and that of --vs. Throws util::UsageError naming the file or option.
[[nodiscard]] evaluate::EvaluationRequest to_request(const EvalOptions& options);

}  // namespace sweep::cli
