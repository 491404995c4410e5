#pragma once

#include "record/run_dir.h"
#include "record/trajectory.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::report {

// How often a tool was called, and how often without success.
struct ToolCount {
  std::int64_t calls = 0;
  std::int64_t failed = 0;
};

struct RowCall {
  std::string tool;
  std::string origin;  // "native", "text:hermes", "auto"
  bool success = false;
  std::string verdict;   // empty: the tool gives none
  double started_s = 0;  // since the item's session began
  double seconds = 0;
};

struct RowTurn {
  std::int64_t turn = 0;                             // from 1, as people count
  std::int64_t tokens_before = 0, tokens_after = 0;  // of the item's answers, prompts included
  double started_s = 0;                              // since the item's session began
  double seconds = 0;                                // the whole turn
  double latency_s = 0;                              // of the model in it
  std::optional<double> best_visible_speedup;        // up to this turn; unset: none was timed
  bool replayed = false;                             // its times are those of the replay
  std::vector<RowCall> calls;
};

// A number that the judge gave for one timed shape: "memory_ratio", "launch_ratio",
// "energy_per_call", "energy_ratio", "speed_of_light", "roofline", "bytes_per_second",
// "flop_per_second", "throughput_per_call", "throughput_ratio".
struct RowMetric {
  std::string name;
  std::string shape;
  double value = 0;
  std::string unit;
};

// Where the kernel stands under the roofline on one timed shape. 0: unknown.
struct RooflinePoint {
  std::string shape;
  double intensity = 0;         // flop a byte, by the problem's work model
  double achieved = 0;          // flop/s
  double bytes_per_second = 0;  // achieved
  double memory_ceiling = 0;    // bytes/s
  double compute_ceiling = 0;   // flop/s
  double share = 0;             // of the roofline, 0..1
  std::string unit;             // that the flops are counted on: "fp32", "tensor-bf16"
  std::string bound;   // ceiling that bounds it: "DRAM read"; without a share, why there is none
  std::string source;  // where the ceilings are from; empty: none are known

  // flop a byte from which on compute bounds; 0: unknown.
  [[nodiscard]] double ridge() const {
    return memory_ceiling > 0 ? compute_ceiling / memory_ceiling : 0;
  }
};

// All that tables, figures and exports need of one item of a run; only its own page needs more.
// Every text is valid UTF-8 and bounded (row.cpp says how); `cut` says that something was.
struct Row {
  // Which item.
  std::string item;  // id: "custom/gpt-5.5/level1/3"
  std::string run, variant, model;
  std::string level;    // first part of `problem`: "level1", "sci"
  std::string problem;  // "level1/3"
  std::string title;    // the problem's; its folder's name where none is recorded
  std::string domain;   // empty: recorded before domains were
  std::vector<std::string> slates;
  std::string admission;  // "admitted", "not admitted", "stale", "unreadable", "none"; empty:
                          // recorded before admissions were
  std::int64_t attempt = 1;
  std::string harness, backend, precision;
  std::int64_t max_turns = 0, max_tool_calls = 0;
  std::string page;  // relative to the report folder: "t/custom/m/level_1_problem_3.html"; empty:
                     // the item has no file, or none that can be read

  // What became of it. Without a file: "queued", "not_started", "unreadable"; left in progress by
  // a run that is not running: "unfinished".
  std::string outcome = "in_progress";
  bool has_result = false;  // a kernel was judged: what follows means something
  std::string verdict, inner_verdict;
  std::vector<std::string> flags;
  std::string result_reason;  // one line, made from the verdict
  std::string stop_reason, skip_reason;
  std::string error, error_code;  // of "error" and "infra_error"
  bool compiled = false, correct = false;
  std::vector<record::Stage> stages;
  std::string reproduce;  // command

  // Of the kernel that was handed in.
  std::optional<record::Interval>
      speedup;               // over the seed; only of a correct kernel that was timed
  double confidence = 0.95;  // of every interval
  std::optional<double> runtime_us, seed_us;
  std::optional<double> share_of_floor;  // geometric mean over shapes, where all have one
  std::vector<record::ShapeTiming> timings;
  std::vector<RowMetric> metrics;
  std::vector<RooflinePoint> roofline;
  std::optional<double> worst_share;  // of the allowed error, 0..1
  std::int64_t launches = 0;          // of the plan, on the first timed shape; 0: unknown
  std::string kernel_sha256;

  // What it took.
  std::int64_t input_tokens = 0, output_tokens = 0, reasoning_tokens = 0, cached_tokens = 0;
  std::optional<double> cost_usd, wasted_usd, provider_usd;
  std::string started_at, finished_at;  // UTC; empty: not yet
  double wall_seconds = 0;
  std::int64_t turns = 0, tool_calls = 0, answers_cut = 0, retried = 0, interruptions = 0;
  std::map<std::string, ToolCount> tools;
  std::vector<RowTurn> series;

  // Where it ran and what decides it.
  std::string device;  // "cuda:0", "cpu"
  std::string gpu, driver, arch, compiler, version, git_commit, judge_version, host;
  std::int64_t judge_rules = 0;  // that the result was judged by (docs/timing.md); 0: no result
  std::string base_url, deployment, api_kind;
  bool sandboxed = true;
  std::int64_t seed = 0;
  std::string problem_sha256, seed_sha256, prompts_sha256, config_sha256, price_sha256;

  bool cut = false;  // some text or list is longer in the trajectory

  // Of all the fields above (digest_of() in row_cache.h), so that what was made from the row need
  // not be made again; empty: not known.
  std::string digest;

  // Whether the item counts in rates, means and figures: problems that were not admitted by test
  // do not (docs/admission.md); what was recorded before admissions were counts.
  [[nodiscard]] bool scored() const { return admission.empty() || admission == "admitted"; }

  [[nodiscard]] bool finished() const { return !finished_at.empty() && outcome != "in_progress"; }
};

// `page` is kept as it is given.
[[nodiscard]] Row row_of(const record::Trajectory& trajectory, std::string page);

// Of an item without a file that can be read.
[[nodiscard]] Row row_without_file(const record::ItemName& name, std::string outcome);

// {"schema": 1, ...}: every field by its name, null for what is unset.
[[nodiscard]] nlohmann::json to_json(const Row& row);

// Reverses to_json(). Strict: each field there, of its type, no other. InfraError E_ROW naming it.
[[nodiscard]] Row row_from_json(const nlohmann::json& from);

// Whether a stage ("check", "stress", "held_out", ..) passed; unset: it did not run.
[[nodiscard]] std::optional<bool> passed(const Row& row, std::string_view stage);

}  // namespace sweep::report
