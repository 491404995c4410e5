#pragma once

#include "record/run_dir.h"
#include "report/table.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sweep::report {

// Runs side by side, one row a run and model: the same problems under other harnesses, say. Like is
// held against like: only problems (of a model and a variant) of which some attempt has ended in
// every run count, each with all its attempts, since harnesses may take different numbers of them.
// Skipped items and infra errors are left out; how many are dropped is said.
struct Comparison {
  struct Row {
    std::string run, harness, model;
    std::size_t items = 0, correct = 0;  // attempts
    double rate_low = 0, rate_high = 0;  // Wilson, 95%
    std::size_t timed = 0;               // correct with a speedup
    double geometric_mean = 0;           // of their speedups; 0: none
    double mean_low = 0, mean_high = 0;  // bootstrap over problems, 95%; 0: fewer than two problems
    double turns = 0, tool_calls = 0;    // means an item
    std::int64_t tokens = 0;
    double cost_usd = -1;                             // -1: a price is unknown
    std::map<std::string, std::size_t> stops, tools;  // by stop_reason, by tool
  };

  // What became of one problem in one run.
  struct Cell {
    std::size_t items = 0, correct = 0, timed = 0;
    double geometric_mean = 0;  // of the timed
    std::string standing;       // of a single attempt: the word of its verdict; else empty
  };

  struct Problem {
    std::string model, variant, problem;
    std::vector<Cell> cells;  // one a run
  };

  // The first run against another one on the problems in common, of one model. A problem is solved
  // by a run with at least one correct attempt there.
  struct Paired {
    std::string base, other, model;
    std::size_t both = 0, only_base = 0, only_other = 0, neither = 0;
    double solved_p = 1;       // McNemar's exact test, two-sided; not corrected for several
    std::size_t timed = 0;     // problems with a timed correct kernel in both
    double ratio = 0;          // geometric mean of other's speedup over base's; 0: none
    double low = 0, high = 0;  // bootstrap over problems, 95%; 0: fewer than two
    std::size_t faster = 0, slower = 0;  // problems where other's speedup is higher, lower
    double speed_p = 1;                  // sign test of these
  };

  std::vector<std::string> runs;
  std::vector<Row> rows;
  std::vector<Paired> pairs;
  std::vector<Problem> problems;     // those that ended in all runs
  std::size_t dropped = 0;           // items of others
  bool uneven = false;               // the runs have different numbers of attempts
  bool on_cpu = false;               // some times are no GPU's
  std::string why;                   // none is in all runs: why, and what to do; else empty
  std::vector<std::string> devices;  // distinct; more than one: speedups do not compare
};

// At least two runs. Trajectories that cannot be read count as missing.
[[nodiscard]] Comparison compare(const std::vector<record::RunDir>& runs);

[[nodiscard]] std::string text(const Comparison& comparison);

// The same as tables: "comparison", "comparison_pairs", "comparison_problems" and
// "comparison_uses", how often each tool was called and each end was met, one column a run and
// model.
[[nodiscard]] DataTable comparison_table(const Comparison& comparison);
[[nodiscard]] DataTable pairs_table(const Comparison& comparison);
[[nodiscard]] DataTable compared_problems_table(const Comparison& comparison);
[[nodiscard]] DataTable uses_table(const Comparison& comparison);

[[nodiscard]] std::string counts_text(const std::map<std::string, std::size_t>& counts);
[[nodiscard]] nlohmann::json to_json(const Comparison& comparison);  // docs/run_format.md

// "1 problem", "3 pairs of model and problem": what ended in every run.
[[nodiscard]] std::string common_text(const Comparison& comparison);

// Writes the comparison as a page that opens from disk: index.html and what it needs in `folder`,
// which is made if absent and otherwise must be empty or hold such a page. Returns the page.
// UsageError E_COMPARE_OUT for another folder, InfraError on disk trouble.
[[nodiscard]] std::filesystem::path write_comparison(const std::vector<record::RunDir>& runs,
                                                     const Comparison& comparison,
                                                     const std::filesystem::path& folder);

}  // namespace sweep::report
