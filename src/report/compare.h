#pragma once

#include "record/run_dir.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sweep::report {

// Runs side by side, one row a run and model: the same problems under other harnesses, say. Like is
// held against like: only items (model, variant, problem, attempt) that have ended in every run
// count, skipped ones and infra errors left out; how many are dropped is said.
struct Comparison {
  struct Row {
    std::string run, harness, model;
    std::size_t items = 0, correct = 0;
    double rate_low = 0, rate_high = 0;  // Wilson, 95%
    std::size_t timed = 0;               // correct with a speedup
    double geometric_mean = 0;           // of their speedups; 0: none
    double turns = 0, tool_calls = 0;    // means an item
    std::int64_t tokens = 0;
    double cost_usd = -1;                             // -1: a price is unknown
    std::map<std::string, std::size_t> stops, tools;  // by stop_reason, by tool
  };

  std::vector<Row> rows;
  std::size_t common = 0;            // items in all runs
  std::size_t dropped = 0;           // others
  bool on_cpu = false;               // some times are no GPU's
  std::string why;                   // none is in all runs: why, and what to do; else empty
  std::vector<std::string> devices;  // distinct; more than one: speedups do not compare
};

// At least two runs. Trajectories that cannot be read count as missing.
[[nodiscard]] Comparison compare(const std::vector<record::RunDir>& runs);

[[nodiscard]] std::string text(const Comparison& comparison);
[[nodiscard]] nlohmann::json to_json(const Comparison& comparison);  // docs/run_format.md

}  // namespace sweep::report
