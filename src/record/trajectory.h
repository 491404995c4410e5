#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::record {

// The final schema of a trajectory file: a superset of PopcornBench's (same names where it has
// one). docs/run_format.md has every field. Times are seconds unless the name says otherwise,
// instants are UTC "2026-01-31T12:00:00.123Z", kernel times microseconds.

inline constexpr std::string_view kPolicy = "evaluation-only/do-not-train";

struct Interval {
  double point = 0;
  double low = 0;
  double high = 0;
};

struct Usage {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;  // reasoning included
  std::int64_t reasoning_tokens = 0;
  std::int64_t cached_input_tokens = 0;
  bool estimated = false;   // true: counted here because the endpoint did not say
  nlohmann::json provider;  // as received; null: none
};

struct ToolCall {
  std::string tool_name;
  std::string call_id;
  std::string origin = "native";  // "native", "text:json", "text:hermes", ...; "auto" for a
                                  // submission made by the harness
  nlohmann::json args;            // object, or the raw string when it was no JSON
  std::string kernel_sha256;  // artifact: the kernel of args, which are cut; empty: they are not
  std::string result_text;
  bool success = false;
  nlohmann::json metadata;  // the tool's facts: verdict, shapes, seeds, timings
  double started_s = 0;     // since the item's session began
  double wall_clock_s = 0;
  double lock_wait_s = 0;
  bool output_truncated = false;
};

// One HTTP request to a model, finished or failed; retries of a turn are requests of their own.
struct Request {
  std::int64_t index = 0;        // within the item, from 0
  std::string ledger_hash;       // its row
  std::string prompt_sha256;     // artifacts
  std::string response_sha256;   // empty: no response
  std::int64_t http_status = 0;  // 0: no answer
  std::string error;             // empty: ok; "rate_limited", "cut_stream", "timeout", ...
  double latency_s = 0;
  std::optional<double> first_token_s;
  double wait_s = 0;  // permits, buckets and back-off before it
};

struct Turn {
  std::int64_t turn_id = 0;
  // Full input sent; a long text stands in the turn that has it first (docs/run_format.md).
  nlohmann::json messages_in = nlohmann::json::array();
  nlohmann::json response =
      nlohmann::json::array();  // Responses-shaped items: reasoning, message, function_call
  std::string reasoning;        // plain text of the reasoning, for readers
  std::string text;             // plain text of the answer
  std::string feedback_to_model;
  std::vector<Request> requests;
  std::vector<ToolCall> tool_calls;
  double llm_latency_s = 0;
  double turn_wall_clock_s = 0;
  double tools_wall_clock_s = 0;
  bool tool_output_truncated = false;
  bool reasoning_logged_truncated = false;
  bool provider_truncated = false;
  std::vector<std::string> provider_truncation_hints;
  bool is_final = false;
  std::optional<std::string> submitted_kernel;  // over 64 KiB cut; FinalResult::kernel_sha256
  std::optional<Usage> llm_usage;
  std::optional<double> cost_usd;
  bool replayed = false;           // taken from the ledger after an interruption
  double started_s = 0;            // since the item's session began
  std::int64_t tokens_before = 0;  // of the item's answers so far, prompts included
  std::int64_t tokens_after = 0;
  // Largest speedup on the visible shapes of any version up to this turn; unset: none was timed.
  std::optional<double> best_visible_speedup;
  // What an overflow of the model's context took out: {reason, messages, results_cut, bytes_before,
  // bytes_after}; null: nothing.
  nlohmann::json trimmed;
};

// Timing of one shape.
struct ShapeTiming {
  std::string shape;  // "rows=4096,cols=64"
  double seed_us = 0;
  double candidate_us = 0;
  std::optional<Interval> speedup;       // seed / candidate
  std::optional<double> share_of_floor;  // 0..1
  std::int64_t replicates = 0;
  std::int64_t blocks = 0;
  // Of a short call in a graph of many; unset: not measured.
  std::optional<double> throughput_us = {}, seed_throughput_us = {};
  std::optional<Interval> throughput_speedup = {};  // seed / candidate
};

// One stage of the evaluation.
struct Stage {
  std::string name;  // "compile", "check", "stress", "time", "held_out"
  bool ran = false;
  bool passed = false;
  std::string summary;  // one line
  double seconds = 0;
  std::int64_t passed_count = 0;
  std::int64_t total_count = 0;
};

struct FinalResult {
  bool compiled = false;
  bool correctness = false;
  std::string verdict;                   // "PASS_FASTER"
  std::vector<std::string> flags;        // "UNEVEN"
  std::string inner_verdict;             // of a stress or held-out failure; empty: none
  std::string reason;                    // one line for a reader, made from the verdict
  std::string reproduce;                 // command
  std::optional<Interval> speedup;       // geometric mean over shapes, against the seed
  double confidence = 0.95;              // of every interval
  std::optional<double> runtime_us;      // geometric mean over shapes
  std::optional<double> ref_runtime_us;  // the seed's
  std::vector<ShapeTiming> timings;
  std::vector<Stage> stages;
  std::string kernel_sha256;  // artifact: the submission as judged
  std::string plan_sha256;
  nlohmann::json plan;                                      // canonical plan; null: did not parse
  nlohmann::json runtime_stats = nlohmann::json::object();  // microseconds
  nlohmann::json ref_runtime_stats = nlohmann::json::object();  // likewise
  std::optional<double> source_runtime_us;  // hardware translation only, here and below
  nlohmann::json source_runtime_stats;
  std::string source_backend;
  std::optional<double> speedup_vs_source;
  nlohmann::json memory_stats;  // null: not measured, here and below
  nlohmann::json numerical_precision;
  nlohmann::json kernel_launch_stats;
  nlohmann::json sol_stats;
  nlohmann::json energy_stats;
  nlohmann::json roofline_stats;
  nlohmann::json metadata = nlohmann::json::object();
  nlohmann::json evaluation;  // the judge's whole answer: seeds, shapes, samples
};

// Number of the rules that the evaluation was judged by (docs/timing.md); 1 where it does not say,
// 0 without an evaluation.
[[nodiscard]] std::int64_t rules_of(const FinalResult& result);

struct Provenance {
  std::string sweep_version;
  std::string git_commit;
  std::string config_sha256;
  std::string judge_version;
  std::string device;  // "cuda:0", "cpu"
  std::string gpu_name;
  std::string gpu_uuid;
  std::string driver;
  std::string arch;
  std::string compiler;  // "NVRTC 13.0", "g++ 12.2"
  std::string host;
  std::string base_url;
  std::string deployment_name;
  std::string api_kind;
  nlohmann::json endpoint_profile;  // how the server was spoken to; null: recorded before profiles
  std::string problem_sha256;
  std::string seed_sha256;
  std::string prompts_sha256;
  std::int64_t seed = 0;
  bool sandboxed = true;
  std::string data_policy{kPolicy};
};

struct Trajectory {
  std::int64_t schema = 1;
  std::string item_id;
  std::string run_name;
  std::string model_name;  // the configuration's name
  std::string variant;
  std::string level;                        // written as a number where it is one
  std::string problem_id;                   // likewise
  std::string problem_name;                 // "spmm_csr"
  std::string problem_title;                // the problem's own; empty: recorded before titles were
  std::string problem_domain;               // "graph"; empty: recorded before domains were
  std::vector<std::string> problem_slates;  // that it is part of; likewise
  // When the item began: "admitted", "not admitted", "stale", "unreadable", "none"
  // (docs/admission.md); empty: recorded before admissions were.
  std::string problem_admission;
  std::int64_t attempt = 1;
  std::string backend = "cuda";
  std::string precision;
  std::string harness;
  nlohmann::json harness_rules;  // base, stop, feedback, show_seed, warn_turns_remaining; null:
                                 // recorded before there were any
  std::int64_t max_turns = 0;
  std::int64_t max_tool_calls = 0;
  std::vector<std::string> tools_enabled;
  nlohmann::json sampling = nlohmann::json::object();
  std::string started_at;
  std::optional<std::string> finished_at;
  double agent_wall_clock_s = 0;
  bool chat_history_window_truncated = false;
  bool truncation_occurred = false;
  std::int64_t answers_cut = 0;  // by the output limit
  std::int64_t total_turns = 0;
  std::int64_t total_tool_calls = 0;
  std::int64_t llm_input_tokens = 0;
  std::int64_t llm_output_tokens = 0;
  std::int64_t llm_total_tokens = 0;
  std::optional<double> cost_usd;           // of the answers that count; unset: a price is unknown
  std::optional<double> cost_wasted_usd;    // of answers that were lost, estimated; likewise
  std::optional<double> cost_provider_usd;  // what the endpoint says it charged; unset: it does not
  std::string price_sha256;                 // of the price that cost_usd was counted by
  std::string outcome = "in_progress";      // PopcornBench's words plus rejected and infra_error
  std::string stop_reason;  // "submitted", "turns", "policy_stop", "endpoint", "timeout", ...
  std::string skip_reason;
  std::string error;               // one line, for error and infra_error
  std::string error_code;          // "E_..."
  std::int64_t times_retried = 0;  // how often the item was begun anew by --retry
  std::int64_t interruptions = 0;  // how often it was continued
  std::string system_prompt;
  std::string bench_slate;
  nlohmann::json stress_eval;  // null: off
  std::optional<FinalResult> final_result;
  std::vector<Turn> turns;
  Provenance provenance;

  [[nodiscard]] bool finished() const {
    return finished_at.has_value() && outcome != "in_progress";
  }
};

[[nodiscard]] nlohmann::json to_json(const Trajectory& trajectory);

// Strict about types, lenient about absent fields (PopcornBench's own files load). Text of at most
// 256 MiB and depth 100. InfraError E_TRAJECTORY naming the field.
[[nodiscard]] Trajectory trajectory_from_json(nlohmann::json from);
[[nodiscard]] Trajectory parse_trajectory(std::string_view text, const std::string& where);

}  // namespace sweep::record
