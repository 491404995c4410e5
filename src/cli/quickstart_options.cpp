#include "cli/quickstart.h"
#include "device/device.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <cctype>

#include <fmt/format.h>

namespace sweep::cli {

namespace fs = std::filesystem;

namespace {

constexpr double kMostTarget = 1000;

[[noreturn]] void refuse(const std::string& what, const std::string& next) {
  throw util::UsageError({"sweep quickstart", what, next}, "E_QUICKSTART_OPTION");
}

// What was typed.
struct Typed {
  bool check = false, run = false;
  std::string report, output;
  double target = 0;
  QuickstartOptions options;
};

void add_options(CLI::App& app, Typed& typed) {
  QuickstartOptions& o = typed.options;
  app.add_flag("--check", typed.check, "say what would keep a run from ending; start none");
  app.add_flag("--run", typed.run, "check, then lead the conversation and report it");
  app.add_option("--report", typed.report, "report the quickstart in this folder again");
  app.add_option("--model", o.model, "model id on the wire; left out: the built-in demo model");
  app.add_option("--base-url", o.base_url, "e.g. http://127.0.0.1:8000/v1; needs --model");
  app.add_option("--api-key-env", o.api_key_env, "environment variable that holds the key");
  app.add_option("--api-kind", o.api_kind, "openai (Responses, the default) or openai_chat")
      ->check(CLI::IsMember({"openai", "openai_chat"}));
  app.add_option("--device", o.device, "cpu or cuda:N; left out: cuda:0 if it can be used");
  app.add_option("--output", typed.output, "the run's folder; one that was begun is continued");
  app.add_option("--target", typed.target, "speedup over the seed to reach (1)")
      ->check(CLI::Range(1e-3, kMostTarget));
  app.add_option("--require", o.require, "exit with 1 unless this holds: correct or target")
      ->check(CLI::IsMember({"correct", "target"}));
  add_global_options(app, o.global);
}

bool given(const CLI::App& app, const char* name) {
  return app.get_option(name)->count() > 0;
}

QuickstartOptions::Mode mode_of(const CLI::App& app, const Typed& typed) {
  const int modes = (typed.check ? 1 : 0) + (typed.run ? 1 : 0) + (given(app, "--report") ? 1 : 0);
  if (modes > 1) {
    refuse("--check, --run and --report exclude each other", "give one of them");
  }
  return typed.run                ? QuickstartOptions::Mode::run
         : given(app, "--report") ? QuickstartOptions::Mode::report
                                  : QuickstartOptions::Mode::check;
}

void check_together(const CLI::App& app, QuickstartOptions::Mode mode) {
  for (const char* name :
       {"--model", "--base-url", "--api-key-env", "--api-kind", "--device", "--output"}) {
    if (mode == QuickstartOptions::Mode::report && given(app, name)) {
      refuse(std::string(name) + " says nothing about a run that has been made",
             "leave it out beside --report");
    }
  }
  for (const char* name : {"--target", "--require"}) {
    if (mode == QuickstartOptions::Mode::check && given(app, name)) {
      refuse(std::string(name) + " is of --run and --report", "add one of them");
    }
  }
  if (given(app, "--model") != given(app, "--base-url")) {
    refuse(given(app, "--model") ? "--model needs --base-url" : "--base-url needs --model",
           "give both, or neither for the built-in demo model");
  }
  for (const char* name : {"--api-key-env", "--api-kind"}) {
    if (given(app, name) && !given(app, "--model")) {
      refuse(std::string(name) + " needs --model and --base-url", "give them, or leave it out");
    }
  }
}

// "runs/quickstart-20260131-120000"
std::string default_folder(double wall) {
  std::string digits;
  for (const char c : util::iso_time(wall).substr(0, 19)) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      digits += c;
    }
  }
  return "runs/quickstart-" + digits.substr(0, 8) + "-" + digits.substr(8);
}

fs::path folder_of(const std::string& output) {
  fs::path folder = fs::absolute(output).lexically_normal();
  if (!folder.has_filename()) {
    folder = folder.parent_path();
  }
  const std::string name = folder.filename().string();
  // The last part is the run's name and must stand for itself.
  if (name.empty() || util::encode_path_part(name) != name) {
    refuse("--output '" + util::printable(output.substr(0, 200)) + "' cannot be a run's folder",
           "let its last part be of letters, digits, '.', '_' and '-', without a dot in front");
  }
  return folder;
}

// Text as a TOML string: what JSON escapes, TOML reads.
std::string quoted(const std::string& text, const char* option) {
  if (!util::valid_utf8(text) || util::printable(text) != text ||
      text.find_first_of("\n\t") != std::string::npos) {
    refuse(std::string(option) + " holds bytes that are no text", "write it as plain text");
  }
  return nlohmann::json(text).dump();
}

}  // namespace

QuickstartOptions parse_quickstart(const std::vector<std::string>& arguments, double wall) {
  Typed typed;
  CLI::App app{
      "One model, three turns on ptx/gemm: the shortest way from a key to a report. Without a "
      "model "
      "a built-in one plays, and nothing is charged.",
      "sweep quickstart"};
  add_options(app, typed);
  parse(app, arguments);
  QuickstartOptions out = typed.options;
  out.mode = mode_of(app, typed);
  check_together(app, out.mode);
  if (given(app, "--target")) {
    out.target = typed.target;
  }
  if (out.mode == QuickstartOptions::Mode::report) {
    out.output = fs::absolute(typed.report).lexically_normal();
    return out;
  }
  if (!given(app, "--model")) {
    out.api_kind = "openai_chat";
  }
  if (!out.device.empty()) {
    out.device = device::text(device::parse_id(out.device));
  }
  out.output = folder_of(given(app, "--output") ? typed.output : default_folder(wall));
  return out;
}

std::string as_options(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kWords = {{
      {"api_kind = \"openai_chat\"  in [[models]]", "--api-kind openai_chat"},
      {"api_kind = \"openai\"  in [[models]]", "--api-kind openai"},
      {"deployment_name = ", "--model "},
      {"deployment_name", "--model"},
      {"base_url = ", "--base-url "},
      {"base_url", "--base-url"},
      {"api_key_env = ", "--api-key-env "},
      {"api_key_env", "--api-key-env"},
      {"api_kind", "--api-kind"},
  }};
  for (const auto& [key, option] : kWords) {
    if (const std::size_t at = text.find(key); at != std::string::npos) {
      text.replace(at, key.size(), option);
    }
  }
  return text;
}

config::SweepConfig quickstart_config(const QuickstartOptions& options) {
  const fs::path file = quickstart_file(options.output);
  try {
    return config::parse(quickstart_toml(options), file.string(), config::root_of(file)).config;
  } catch (const util::UsageError& error) {
    if (!error.code().starts_with("E_CONFIG")) {
      throw;
    }
    // "FILE:LINE:COLUMN: what; next" a line, of a file that need not be there.
    std::string text;
    for (const std::string_view line : util::split(error.what(), '\n')) {
      const bool placed = line.starts_with(file.string());
      const std::size_t end = placed ? line.find(": ") : std::string_view::npos;
      text += (text.empty() ? "" : "; ") +
              as_options(std::string(end == std::string_view::npos ? line : line.substr(end + 2)));
    }
    refuse(text, "see `sweep quickstart --help`");
  }
}

fs::path quickstart_file(const fs::path& output) {
  return output / "quickstart.toml";
}

std::string quickstart_toml(const QuickstartOptions& o) {
  std::string out = fmt::format(
      "# Made by `sweep quickstart --run`; an ordinary sweep: `sweep quickstart.toml` goes on with "
      "it.\n"
      "[run]\nname     = {}\nruns_dir = {}\nproblems = [\"{}\"]\ndevice   = {}\n\n"
      "[agent]\nharness   = \"default\"\nmax_turns = {}\n\n"
      "[parallelism]\nnum_gpu_devices = 1\nagents_per_gpu  = 1\n\n"
      "[report]\nserve = false\n\n"
      "[[models]]\nname     = {}\nbase_url = {}\n",
      quoted(o.output.filename().string(), "--output"),
      quoted(o.output.parent_path().string(), "--output"),
      kQuickstartProblem,
      quoted(o.device, "--device"),
      kQuickstartTurns,
      quoted(o.model, "--model"),
      quoted(o.base_url, "--base-url"));
  if (!o.api_kind.empty()) {
    out += "api_kind = " + quoted(o.api_kind, "--api-kind") + "\n";
  }
  if (!o.api_key_env.empty()) {
    out += "api_key_env = " + quoted(o.api_key_env, "--api-key-env") + "\n";
  }
  return out;
}

}  // namespace sweep::cli
