#include "cli/command.h"
#include "cli/installation.h"
#include "cli/quickstart.h"
#include "cli/runs.h"
#include "queue/devices.h"
#include "record/json.h"
#include "report/build.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

namespace sweep::cli {

namespace fs = std::filesystem;

namespace {

using Mode = QuickstartOptions::Mode;

constexpr double kCheckSeconds =
    900;  // an endpoint that answers slowly has minutes for each answer

std::string dumped(const nlohmann::json& body) {
  return body.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// The first GPU where it can be used, else the cpu device; asked of a child.
std::string default_device() {
  try {
    (void)queue::lanes(program_path(), "cuda:0", 1, "");
    return "cuda:0";
  } catch (const util::UsageError&) {
    return "cpu";
  }
}

int check(const QuickstartOptions& options, const config::SweepConfig& config) {
  const std::vector<QuickstartCheck> checks = quickstart_checks(options, config);
  const auto failed = std::ranges::count_if(checks, [](const auto& line) { return !line.ok; });
  if (options.global.json) {
    std::cout << dumped({{"schema", 1},
                         {"ready", failed == 0},
                         {"device", options.device},
                         {"checks", to_json(checks)}});
    return failed == 0 ? kDone : kNotCorrect;
  }
  std::vector<QuickstartCheck> shown = checks;
  if (options.global.quiet) {
    std::erase_if(shown, [](const QuickstartCheck& line) { return line.ok; });
  }
  std::cout << quickstart_check_text(shown, Style::for_stdout(), output_columns());
  if (failed > 0 || !options.global.quiet) {
    std::cout << (failed == 0 ? "all checks passed\n"
                              : fmt::format("{} of {} checks failed\n", failed, checks.size()));
  }
  return failed == 0 ? kDone : kNotCorrect;
}

// The same command line as --check.
std::vector<std::string> check_arguments(const QuickstartOptions& o) {
  std::vector<std::string> out{
      "sweep", "quickstart", "--check", "--device", o.device, "--output", o.output.string()};
  if (o.global.quiet) {
    out.emplace_back("--quiet");
  }
  if (o.global.allow_unsandboxed) {
    out.emplace_back("--allow-unsandboxed");
  }
  if (o.base_url != QuickstartOptions().base_url || o.model != QuickstartOptions().model) {
    out.insert(out.end(), {"--model", o.model, "--base-url", o.base_url});
    for (const auto& [name, value] :
         {std::pair("--api-kind", o.api_kind), std::pair("--api-key-env", o.api_key_env)}) {
      if (!value.empty()) {
        out.insert(out.end(), {name, value});
      }
    }
  }
  return out;
}

// In a process of its own, since the supervisor opens no driver. Standard output is kept for the
// result where that is JSON.
bool checked_by_child(const QuickstartOptions& options) {
  util::SpawnSpec spec;
  spec.argv = check_arguments(options);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    spec.env.emplace_back(*entry);
  }
  spec.fds = {{options.global.json ? STDERR_FILENO : STDOUT_FILENO, STDOUT_FILENO},
              {STDERR_FILENO, STDERR_FILENO}};
  spec.work_folder = fs::current_path();
  spec.deadline = kCheckSeconds;
  std::cout << std::flush;
  const util::ExitStatus status =
      util::Process::start_self(util::Self::open(program_path()), spec).wait();
  if (status.code != kDone && status.code != kNotCorrect) {
    throw util::InfraError({"sweep quickstart", "the check ended with " + status.text(), ""},
                           "E_QUICKSTART_CHECK");
  }
  return status.ok();
}

// Prints the result and writes it into the folder.
void show(const QuickstartResult& result, const GlobalOptions& global) {
  const nlohmann::json body = to_json(result, record::utc_now());
  if (global.json) {
    std::cout << dumped(body);
  } else {
    std::cout << quickstart_text(result, Style::for_stdout(), output_columns());
  }
  util::write_file_atomic(result.folder / kQuickstartResult, dumped(body));
}

// The exit code; what is required and does not hold is said.
int concluded(const QuickstartResult& result, const std::string& require) {
  if (const std::string unmet = quickstart_unmet(result, require); !unmet.empty()) {
    std::cout << std::flush;
    std::cerr << "sweep: quickstart: " << unmet << '\n';
  }
  return quickstart_exit_code(result, require);
}

int start(const QuickstartOptions& options) {
  queue::SweepOptions sweep;
  sweep.config = quickstart_file(options.output);
  sweep.quiet = options.global.quiet;
  sweep.json = options.global.json;
  sweep.summary = false;
  sweep.allow_unsandboxed = options.global.allow_unsandboxed;
  util::make_folders(options.output);
  util::write_file_atomic(sweep.config, quickstart_toml(options));
  if (!options.global.quiet && !options.global.json) {
    std::cout << fmt::format("\n{} turns on {} in {}\n",
                             kQuickstartTurns,
                             kQuickstartProblem,
                             options.output.string())
              << std::flush;
  }
  return queue::run_sweep(sweep, sweep_installation());
}

int run_and_report(const QuickstartOptions& options) {
  if (!checked_by_child(options)) {
    std::cerr << "sweep: quickstart: not started: see the lines that FAIL\n";
    return kInfra;
  }
  int code = kInfra;
  try {
    code = start(options);
  } catch (const util::InfraError& error) {
    // What was recorded until then is still reported.
    std::cerr << "sweep: " << error.what() << " [" << error.code() << "]\n";
  }
  if (!options.global.json && !options.global.quiet) {
    std::cout << '\n';
  }
  const QuickstartResult result =
      read_quickstart(open_run(options.output.string()), options.target);
  show(result, options.global);
  return code != kDone ? code : concluded(result, options.require);
}

int report_again(const QuickstartOptions& options) {
  const record::RunDir run = open_run(options.output.string());
  // A foreign folder is refused before pages are made in it.
  QuickstartResult result = read_quickstart(run, options.target);
  try {
    (void)report::build(run);
  } catch (const util::Error& error) {
    std::cerr << "report: " << error.what() << '\n';
  }
  result = read_quickstart(run, options.target);
  show(result, options.global);
  return concluded(result, options.require);
}

}  // namespace

int run_quickstart(const std::vector<std::string>& arguments) {
  util::RealClock clock;
  QuickstartOptions options = parse_quickstart(arguments, clock.wall());
  if (options.mode == Mode::report) {
    return report_again(options);
  }
  if (options.device.empty()) {
    options.device = default_device();
  }
  const config::SweepConfig config = quickstart_config(options);
  return options.mode == Mode::check ? check(options, config) : run_and_report(options);
}

}  // namespace sweep::cli
