#pragma once

#include "cli/options.h"
#include "cli/style.h"
#include "config/config.h"
#include "record/run_dir.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::cli {

// `sweep quickstart`: one model, three turns on one problem, as an ordinary run in a folder of its
// own (docs/quickstart.md).
inline constexpr std::string_view kQuickstartProblem = "ptx/gemm";
inline constexpr int kQuickstartTurns = 3;

struct QuickstartOptions {
  enum class Mode { check, run, report };
  Mode mode = Mode::check;
  std::string model = "demo-fixer";
  std::string base_url = "builtin:demo";
  std::string api_key_env;       // empty: no key
  std::string api_kind;          // "openai" or "openai_chat"; empty: the configuration's default
  std::string device;            // "cpu" or "cuda:N"; empty: cuda:0 where it can be used, else cpu
  std::filesystem::path output;  // absolute: the run's folder
  std::optional<double> target;  // least speedup against the seed; none: as before, else 1
  std::string require;           // what the exit code asks besides: "", "correct" or "target"
  GlobalOptions global;
};

// Of a command line; `wall` (seconds since 1970) names the folder where none is given. UsageError
// E_CLI_* or E_QUICKSTART_* for what cannot be meant.
[[nodiscard]] QuickstartOptions parse_quickstart(const std::vector<std::string>& arguments,
                                                 double wall);

// The folder's configuration file.
[[nodiscard]] std::filesystem::path quickstart_file(const std::filesystem::path& output);

// The sweep as TOML; `options.device` is set. UsageError E_QUICKSTART_OPTION for text that no TOML
// file can hold.
[[nodiscard]] std::string quickstart_toml(const QuickstartOptions& options);

// The same, read. UsageError E_QUICKSTART_OPTION that names options where a file would be named.
[[nodiscard]] config::SweepConfig quickstart_config(const QuickstartOptions& options);

// What is said of keys of a configuration, said of options.
[[nodiscard]] std::string as_options(std::string text);

// One line of `--check`.
struct QuickstartCheck {
  std::string label;
  bool ok = false;
  std::string detail;
  std::string next;  // how to mend it, or what to know besides; may be empty
};

// Whether a run would come to its end: machine, problem, folder, key, endpoint. Opens drivers in
// this process and asks the endpoint what `sweep probe` asks it. What fails is a line.
[[nodiscard]] std::vector<QuickstartCheck> quickstart_checks(const QuickstartOptions& options,
                                                             const config::SweepConfig& config);

// The line about the folder: new, empty, or that of the same quickstart.
[[nodiscard]] QuickstartCheck check_quickstart_folder(const std::filesystem::path& output,
                                                      const std::string& toml);

[[nodiscard]] std::string quickstart_check_text(const std::vector<QuickstartCheck>& checks,
                                                const Style& style,
                                                std::size_t width);
[[nodiscard]] nlohmann::json to_json(const std::vector<QuickstartCheck>& checks);

// What became of a quickstart: three answers that do not imply each other.
struct QuickstartResult {
  enum class Runner { finished, failed, unfinished };
  Runner runner = Runner::unfinished;  // did the conversation come to its end?
  std::string runner_text;
  bool submitted = false;
  bool correct = false;
  std::string kernel_text;  // verdict and reason, or why there is no kernel
  double target = 1;        // least speedup
  std::optional<bool> met;  // none: not judged (no correct kernel, cpu device, no result)
  std::string target_text;
  std::vector<std::string> damage;  // of the record, each "file: what is wrong"; empty: intact
  std::size_t rows = 0;             // of the ledger
  record::Trajectory trajectory;    // empty where there is none that can be read
  std::filesystem::path folder;     // absolute
  // Relative to `folder`; empty: not there.
  std::string trajectory_file, kernel_file, page;
};

// From a trajectory alone; `folder`, files and damage are left empty.
[[nodiscard]] QuickstartResult judge_quickstart(const record::Trajectory& trajectory,
                                                double target);

// Of a folder, also a damaged one. Without `target` the one of its last report, else 1. UsageError
// E_QUICKSTART_FOREIGN when it is the run of something else.
[[nodiscard]] QuickstartResult read_quickstart(const record::RunDir& run,
                                               std::optional<double> target);

inline constexpr std::string_view kQuickstartResult = "quickstart-result.json";

// Schema 1 of docs/quickstart.md; `created_at`: UTC.
[[nodiscard]] nlohmann::json to_json(const QuickstartResult& result, const std::string& created_at);
[[nodiscard]] std::string quickstart_text(const QuickstartResult& result,
                                          const Style& style,
                                          std::size_t width);

// kInfra unless the runner finished and its record is whole; kNotCorrect where `require` is not
// met; else kDone.
[[nodiscard]] int quickstart_exit_code(const QuickstartResult& result, const std::string& require);

// Which requirement does not hold, why, and what to do, where the exit code is kNotCorrect; else
// empty.
[[nodiscard]] std::string quickstart_unmet(const QuickstartResult& result,
                                           const std::string& require);

}  // namespace sweep::cli
