#pragma once

#include "evaluate/evaluation.h"
#include "profile/dump.h"
#include "profile/ncu_page.h"
#include "profile/ncu_source.h"
#include "profile/sanitizer_log.h"
#include "profile/sass.h"
#include "profile/tools.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sweep::profile {

// A kernel of the plan with what the compiler says that it takes; -1: unknown.
struct KernelSass {
  std::string name;  // name expression: "gemm<64, 64>"
  int registers = -1, spill_bytes = -1, shared_bytes = -1, stack_bytes = -1;
  SassFunction code;
};

struct SassReport {
  std::string arch;
  std::string tool;                  // path of the disassembler
  std::vector<KernelSass> kernels;   // that the plan launches
  std::vector<SassFunction> others;  // further functions of the cubin
  bool complete = true;              // false: the listing was cut
  std::string text;                  // the listing; only in the dump, not in JSON
};

struct CheckerResult {
  std::string checker;  // "memcheck"
  Result<SanitizerLog> log;
  std::string text;  // what it printed; only in the dump
};

struct SanitizerReport {
  std::string tool;   // path of compute-sanitizer
  std::string shape;  // that the plan was replayed on
  std::vector<CheckerResult> checkers;
};

struct NcuReport {
  std::string tool;           // path of ncu
  std::string shape;          // that the plan was replayed on
  std::int64_t launches = 0;  // of the plan; kernels may be fewer (kMostProfiled)
  std::vector<KernelProfile> kernels;
  Result<ExecutedOpcodes> executed = Unavailable{"ncu's source page was not read", ""};
  bool compared = false;  // with an earlier profile of the same file
  std::string report;     // bytes of the .ncu-rep file; only in the dump
  std::string log;        // what ncu printed; only in the dump
};

// What `sweep eval` is asked to show besides the verdict.
struct Wanted {
  bool sass = false;
  bool sanitize = false;
  bool profile = false;
  std::optional<std::filesystem::path> dump;
  std::string arch = "sm_90a";  // where no GPU was judged on
  ToolSearch search;
  double checker_seconds = 60;   // of each of compute-sanitizer's checkers
  double profile_seconds = 180;  // of ncu's run
  bool compare = true;           // the profile with the last one of the same file, and remember it

  [[nodiscard]] bool any() const { return sass || sanitize || profile || dump.has_value(); }
};

struct Report {
  std::optional<Result<SassReport>> sass;
  std::optional<Result<SanitizerReport>> sanitize;
  std::optional<Result<NcuReport>> profile;
  std::filesystem::path dump;  // empty: none
  std::vector<DumpFolder::Written> written;
  // Files that the dump lacks, with the reason: "kernel.sass: nvdisasm was not found; ...".
  std::vector<std::string> left_out;
};

// Runs what is wanted for a finished evaluation of `request`, and writes the dump (`dump` was made
// before the evaluation; null: none). Tools that cannot work are values in the report. Throws
// util::Error for what the user or the machine got wrong besides.
// `say` is told what runs now ("compute-sanitizer"), for a progress line.
[[nodiscard]] Report inspect(const evaluate::EvaluationRequest& request,
                             const evaluate::Services& services,
                             const evaluate::Evaluation& evaluation,
                             const Wanted& wanted,
                             DumpFolder* dump,
                             const std::function<void(const std::string&)>& say = {});

// Member "tools" of an evaluation's JSON: each tool that was asked for, with its figures or
// {"unavailable": why, "next": cure}.
[[nodiscard]] nlohmann::json to_json(const Report& report);

}  // namespace sweep::profile
