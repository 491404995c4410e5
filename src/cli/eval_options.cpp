#include "cli/eval_options.h"

#include "util/error.h"
#include "util/file.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace sweep::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxSource = std::size_t{1} << 20;  // the plan parser's own limit

// Empty where the text names an architecture; else what is wrong.
std::string is_arch(const std::string& text) {
  const bool prefix = text.starts_with("sm_") && text.size() >= 5 && text.size() <= 7;
  std::string_view digits = prefix ? std::string_view(text).substr(3) : std::string_view();
  if (digits.ends_with('a') || digits.ends_with('f')) {
    digits.remove_suffix(1);
  }
  return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos
             ? ""
             : "give an architecture such as sm_90a";
}

// Empty for a decimal number of 64 bits. The option's own reader takes -3 and 10^20 for others.
std::string is_natural(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size()
             ? ""
             : text + ": give a whole number from 0 to 18446744073709551615";
}

void declare_tools(CLI::App& app, EvalOptions& o) {
  app.add_flag("--sass", o.sass, "instruction mix and resources of the compiled kernels");
  app.add_flag("--sanitize",
               o.sanitize,
               "compute-sanitizer over one run of the plan; needs --allow-unsandboxed");
  app.add_flag(
      "--profile", o.profile, "Nsight Compute over one run of the plan; needs --allow-unsandboxed");
  app.add_option("--arch", o.arch, "GPU of --sass and --dump without one here (default sm_90a)")
      ->check(CLI::Validator(is_arch, "sm_NNa"));
  app.add_option("--dump",
                 o.dump,
                 "write source, plans, PTX, cubin, SASS, log and result into this new folder");
}

evaluate::Source read_source(const std::string& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    throw util::UsageError({file,
                            fs::exists(file, error) ? "not a regular file" : "no such file",
                            "start one with `sweep new PROBLEM > mine.cu`"},
                           "E_EVAL_FILE");
  }
  if (fs::file_size(file) > kMaxSource) {
    throw util::UsageError({file, "larger than 1 MiB", "a submission is one text of device code"},
                           "E_EVAL_FILE");
  }
  return {file, util::read_file(file, kMaxSource)};
}

std::map<std::string, std::int64_t> parse_defines(const std::vector<std::string>& defines) {
  std::map<std::string, std::int64_t> out;
  for (const std::string& define : defines) {
    for (const auto& [name, value] : parse_define(define)) {
      out[name] = value;
    }
  }
  return out;
}

// A compiler that was asked for and would not be used is a mistake.
void require_nvcc_compiles(const evaluate::EvaluationRequest& request) {
  const bool cpu = request.device.kind == device::Kind::cpu;
  if (cpu || request.submission.file.ends_with(".ptx")) {
    throw util::UsageError(
        {"--compiler nvcc",
         cpu ? "the cpu device compiles with g++ alone" : "PTX is assembled by ptxas alone",
         cpu ? "leave it out, or give --device cuda" : "leave it out"},
        "E_EVAL_COMPILER");
  }
}

profile::Wanted to_wanted(const EvalOptions& o) {
  profile::Wanted wanted;
  wanted.sass = o.sass;
  wanted.sanitize = o.sanitize;
  wanted.profile = o.profile;
  if (!o.dump.empty()) {
    wanted.dump = o.dump;
  }
  if (!o.arch.empty()) {
    wanted.arch = o.arch;
  }
  wanted.search = profile::default_search();
  return wanted;
}

[[noreturn]] void contradiction(const std::string& options,
                                const std::string& what,
                                const std::string& next) {
  throw util::UsageError({options, what, next}, "E_EVAL_COMBINATION");
}

void require_consistent(const EvalOptions& o, const EvalTask& task) {
  if (o.watch && !task.scan.empty()) {
    contradiction("--watch with --scan", "a scan ends, watching does not", "leave one of them out");
  }
  if (o.watch && task.wanted.dump) {
    contradiction("--watch with --dump", "a dump is of one evaluation", "leave one of them out");
  }
  if (task.scan.empty()) {
    return;
  }
  if (!o.only.empty() && o.only != "time") {
    contradiction("--scan with --only " + o.only,
                  "a scan compares times",
                  "leave --only out, or give --only time");
  }
  if (task.wanted.any()) {
    contradiction("--scan with --sass, --sanitize, --profile or --dump",
                  "these look at one kernel",
                  "scan first, then give the values with -D");
  }
  const auto given = parse_defines(o.defines);
  for (const ScanParameter& parameter : task.scan) {
    if (given.contains(parameter.name)) {
      contradiction(
          "--scan with -D", "both set '" + parameter.name + "'", "leave it out of one of the two");
    }
  }
}

}  // namespace

void declare(CLI::App& app, EvalOptions& o) {
  app.add_option("FILE", o.file, "the kernel: a .cu text with its //@ plan")->required();
  app.add_option("--problem",
                 o.problem,
                 "problem id, or the folder of one (default: the file's `//@ problem` line)");
  app.add_option("--device", o.device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--vs", o.versus, "time against this kernel instead of the seed");
  app.add_option("--shape",
                 o.shapes,
                 "judge this shape only: rows=1000,cols=77 (repeatable); other dims as in the "
                 "first visible shape");
  app.add_option("-D", o.defines, "replace a plan constant: -D TILE=64 (repeatable)");
  app.add_option("--compiler",
                 o.compiler,
                 "of CUDA C++ for a GPU: nvcc is slower and takes what NVRTC cannot")
      ->check(CLI::IsMember({"nvrtc", "nvcc"}))
      ->capture_default_str();
  app.add_option("--isa",
                 o.isa,
                 "what becomes of a kernel without the instructions that its problem asks for")
      ->check(CLI::IsMember({"problem", "off", "warn", "gate"}))
      ->capture_default_str();
  app.add_option("--seed", o.seed, "key of all draws and of the schedule")
      ->check(CLI::Validator(is_natural, ""))
      ->capture_default_str();
  app.add_option(
         "--only", o.only, "this stage alone, after screen and compile (screen: the plan alone)")
      ->check(CLI::IsMember({"screen", "compile", "check", "stress", "time", "held-out"}));
  app.add_option("--require",
                 o.requirements,
                 "exit 4 where a correct kernel is less than not-slower, faster or speedup>=1.2 "
                 "(lower end of the interval); or correct (repeatable)");
  app.add_option("--scan",
                 o.scans,
                 "judge each value of a plan constant, TILE=32,64 or STAGES=2..4, and the fastest "
                 "once more (repeatable: all combinations)");
  app.add_flag("--watch", o.watch, "judge again on each save of FILE, until Ctrl-C");
  CLI::Option* replicates =
      app.add_option("--replicates", o.replicates, "fresh pairs of processes that are timed")
          ->check(CLI::Range(2, 15))
          ->capture_default_str();
  app.add_flag("--fast", o.fast, "visible shapes, one replicate; never says FASTER")
      ->excludes(replicates);
  app.add_flag("--full", o.full, "held-out shapes besides")->excludes("--fast");
  app.add_flag("--no-stress-gate",
               o.no_stress_gate,
               "report stress and held-out, but let the visible shapes decide (variant popcorn)");
  declare_tools(app, o);
  add_global_options(app, o.global);
}

EvalTask to_task(const EvalOptions& options) {
  EvalTask task;
  const std::optional<evaluate::Stage> only =
      options.only.empty() ? std::nullopt : evaluate::parse_stage(options.only);
  for (const std::string& text : options.requirements) {
    task.requirements.push_back(parse_requirement(text));
    require_decidable(task.requirements.back(), only);
  }
  task.scan = parse_scan(options.scans);
  task.wanted = to_wanted(options);
  require_consistent(options, task);
  return task;
}

evaluate::EvaluationRequest to_request(const EvalOptions& o) {
  evaluate::EvaluationRequest request;
  request.submission = read_source(o.file);
  request.problem = o.problem;
  request.device = device::parse_id(o.device);
  request.depth = o.fast   ? evaluate::Depth::fast
                  : o.full ? evaluate::Depth::full
                           : evaluate::Depth::standard;
  if (!o.only.empty()) {
    request.only = evaluate::parse_stage(o.only);
  }
  for (const std::string& text : o.shapes) {
    expr::IntEnv shape;
    for (const auto& [name, value] : parse_shape(text)) {
      shape[name] = value;
    }
    request.shapes.push_back(std::move(shape));
  }
  request.seed = o.seed;
  request.replicates = o.replicates;
  if (!o.versus.empty()) {
    request.versus = read_source(o.versus);
  }
  request.overrides = parse_defines(o.defines);
  request.nvcc = o.compiler == "nvcc";
  if (o.isa != "problem") {
    request.isa = problem::parse_isa_policy(o.isa);
  }
  if (request.nvcc) {
    require_nvcc_compiles(request);
  }
  request.allow_unsandboxed = o.global.allow_unsandboxed;
  request.stress_gates = !o.no_stress_gate;
  request.device_printf = !o.full;
  return request;
}

}  // namespace sweep::cli
