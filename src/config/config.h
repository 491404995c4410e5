#pragma once

#include "config/harness.h"
#include "config/price.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::config {

// Which wire protocol an endpoint speaks: `openai` in TOML is Responses, `openai_chat` is Chat
// Completions.
enum class ApiKind { responses, chat };

// As written in TOML: "openai", "openai_chat".
[[nodiscard]] std::string_view name(ApiKind kind);

// Unset members are not sent to the endpoint.
struct Sampling {
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<std::int64_t> max_tokens;
  std::optional<std::int64_t> seed;
};

// [models.endpoint]: how the server is spoken to.
struct EndpointKeys {
  std::string profile = "auto";  // row of the endpoint's table of profiles; "auto": by host
  // What the model sets besides, as text: a word, "true" or "false", words joined by commas, JSON.
  std::map<std::string, std::string> values;
};

struct Model {
  std::string name;             // display name and folder; unique in a configuration
  std::string deployment_name;  // model id on the wire; = name unless given
  ApiKind api_kind = ApiKind::responses;
  std::string base_url;     // "https://host/v1", or "builtin:SCRIPTS" for the built-in server
  std::string api_key_env;  // name of the environment variable; empty: no key is sent (builtin and
                            // loopback hosts only)
  std::optional<std::string> reasoning_effort;  // the model's own, else [agent]'s
  bool omit_responses_reasoning = false;
  bool omit_chat_run_meta = false;  // kept for the record: no request carries such a description
  bool stream = true;               // ask for answers as they are made
  double request_timeout_s = 600;   // > 0
  std::optional<std::int64_t> rpm;  // requests a minute; unset: unlimited
  std::optional<std::int64_t> tpm;  // tokens a minute; unset: unlimited
  std::int64_t max_concurrency =
      10;  // permits; derived as clamp(tpm / 25000, 2, 10) with tpm = 250000 unless given
  bool reserve_full = false;  // tpm: reserve max_tokens for an answer, not what answers take
  double burst_s = 10;        // rpm, tpm: seconds' worth that may go at once; 0.1 to 60
  std::int64_t priority = 0;  // its items start before those of models with less; -1000 to 1000
  std::string limits_group;   // shares limits with all models of this group; empty: with its like
  Sampling sampling;
  std::optional<Price> price;  // unset: unknown, which is not the same as free
  EndpointKeys endpoint;
};

// Played by scripts of the built-in server: nothing is charged, a price is an example.
[[nodiscard]] bool scripted(const Model& model);

// Whether the server of a base_url runs on this machine: a loopback address or a Unix socket.
[[nodiscard]] bool on_this_machine(std::string_view base_url);

// What `[run]` selects. Ids are the catalogue's: "level1/3", "sci/heat2d".
struct Selection {
  std::vector<std::string> variants;  // sweep axis, never empty
  std::vector<std::int64_t> levels;   // empty: as slate or problems say
  std::optional<std::string> slate;   // name, or path of a [slate] file as written
  std::map<std::int64_t, std::vector<std::int64_t>>
      slate_levels;                   // content of a [slate] file, in the file's order
  std::vector<std::string> problems;  // ids and globs
  std::vector<std::int64_t> subset;   // problem_subset
  std::map<std::int64_t, std::vector<std::int64_t>> subset_by_level;
  std::map<std::string, std::map<std::int64_t, std::vector<std::int64_t>>> subset_by_variant_level;
  // "FILE:LINE:COLUMN" of each choice, for messages: "problem sci/heat2d", "level 2", "subset 7",
  // "slate popcorn2". Of one that is there twice the first.
  std::map<std::string, std::string> places;
};

struct Run {
  std::string name;
  std::filesystem::path runs_dir;  // absolute
  Selection selection;
  std::string precision;        // as written; problems decide their own
  std::string device = "cuda";  // "cuda", "cuda:N" or "cpu"
  std::string require_gpu;      // substring of the GPU's name; empty: any
  bool nvcc = false;            // submissions are compiled by nvcc in place of NVRTC (cuda)
  std::string source_gpu;  // source_hardware_gpu_name: what prompts of translation problems call it
  std::string isa_policy = "problem";  // "problem", or for all of them "off", "warn", "gate"
  std::optional<bool> stress;          // popcorn_stress_eval; unset: stress_gates() decides
  std::int64_t correct_trials = 5;
  std::int64_t submit_correct_trials = 5;
  std::int64_t attempts_per_problem = 1;
  std::int64_t seed = 0;
  std::int64_t epoch = 0;
  std::optional<double> confirm_usd;
  std::optional<double> budget_usd;
  std::optional<std::int64_t> budget_tokens;
  std::string on_finish;  // program and arguments split at blanks; run without a shell; empty: none
  bool force_rerun = false;
};

struct Agent {
  Harness harness = builtin_harness("default");  // with what [run] tools and [agent] set
  std::string ptx_hub = "off";  // fact sheets in the prompt: "off", "auto", "sm_80", "sm_90a"
  double turn_delay_s = 0;
  std::optional<std::string> reasoning_effort;
  std::int64_t llm_error_retries = 5;
  std::int64_t tool_output_context_max_chars = 120000;  // 0: no limit
  std::int64_t reasoning_context_max_chars = 0;         // 0: no limit
  std::optional<std::int64_t> chat_context_tail_messages;
};

struct Parallelism {
  std::int64_t num_gpu_devices = 0;  // 0: all that are present
  std::int64_t agents_per_gpu = 4;
  std::int64_t cpu_compilers = 0;           // 0: one a core
  double worker_timeout_s = 1800;           // wall limit of one item; <= 0: none
  double eval_timeout_s = 3600;             // limit of one evaluation without waiting
  std::int64_t llm_global_concurrency = 0;  // 0: none
  bool multi_gpu = false;
};

struct Report {
  bool enabled = true;
  double refresh_seconds = 30;
  bool serve = true;
  std::string serve_host = "127.0.0.1";
  std::int64_t serve_port = 8765;
};

struct SweepConfig {
  std::filesystem::path file;  // as given
  std::filesystem::path root;  // folder that relative paths are relative to
  Run run;
  Agent agent;
  Parallelism parallelism;
  Report report;
  std::vector<Model> models;  // at least one
};

// One remark about the input: "file:line:column", what, what to do.
struct Diagnostic {
  std::string where;
  std::string what;
  std::string next;

  [[nodiscard]] std::string text() const;
};

struct Loaded {
  SweepConfig config;
  std::vector<Diagnostic> warnings;  // keys that mean nothing here, each once
};

// Reads a TOML configuration of at most 1 MiB and its [slate] file if it names one. UsageError
// E_CONFIG_* whose text has one line for every mistake found ("file:line:column: what; what to
// do").
[[nodiscard]] Loaded load(const std::filesystem::path& file);

// The same from text; `file` is used in messages, `root` for relative paths.
[[nodiscard]] Loaded parse(std::string_view text,
                           const std::string& file,
                           const std::filesystem::path& root);

// The configuration as a run keeps it: the same keys without comments. UsageError
// E_CONFIG_SYNTAX.
[[nodiscard]] std::string recorded_text(std::string_view text, const std::string& file);

// parse() of recorded_text without what selects items and sets prices: the run knows its items, and
// the files that a slate or a price table named need not be here.
[[nodiscard]] Loaded parse_recorded(std::string_view text,
                                    const std::string& file,
                                    const std::filesystem::path& root);

// Nearest folder above `file` with a `.git`; else the parent of a folder named `configs`; else the
// file's folder. Absolute.
[[nodiscard]] std::filesystem::path root_of(const std::filesystem::path& file);

// Every key with its table, type, default and meaning, for `--help config` and the docs.
[[nodiscard]] std::string key_reference();

// The whole configuration as canonical JSON (sorted keys, no blanks, no absolute paths, no key
// values).
[[nodiscard]] std::string canonical_json(const SweepConfig& config);

}  // namespace sweep::config
