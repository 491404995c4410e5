#include "cli/command.h"
#include "cli/eval_view.h"
#include "cli/installation.h"
#include "cli/options.h"
#include "cli/tools_view.h"
#include "evaluate/evaluation.h"
#include "profile/report.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <exception>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

namespace sweep::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxSource = std::size_t{1} << 20;  // the plan parser's own limit

struct EvalOptions {
  std::string file;
  std::string problem;
  std::string device = "cuda";
  std::string versus;
  std::vector<std::string> shapes;
  std::vector<std::string> defines;
  std::string compiler = "nvrtc";
  std::string only;
  std::vector<std::string> requires_verdict;
  std::uint64_t seed = 1;
  int replicates = evaluate::EvaluationRequest{}.replicates;
  bool fast = false;
  bool full = false;
  bool no_stress_gate = false;
  bool sass = false;
  bool sanitize = false;
  bool profile = false;
  std::string arch;
  std::string dump;
  GlobalOptions global;
};

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
  app.add_option("--seed", o.seed, "key of all draws and of the schedule")->capture_default_str();
  app.add_option(
         "--only", o.only, "this stage alone, after screen and compile (screen: the plan alone)")
      ->check(CLI::IsMember({"screen", "compile", "check", "stress", "time", "held-out"}));
  app.add_option("--require", o.requires_verdict, "exit 1 unless the verdict is at least this")
      ->check(CLI::IsMember({"faster", "not-slower", "correct"}));
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
  if (request.nvcc) {
    require_nvcc_compiles(request);
  }
  request.allow_unsandboxed = o.global.allow_unsandboxed;
  request.stress_gates = !o.no_stress_gate;
  request.device_printf = !o.full;
  return request;
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

// One line on stderr that is replaced as the stages go by; nothing when it is no terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool on) : on_(on && ::isatty(STDERR_FILENO) == 1) {}

  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  ~ProgressLine() { clear(); }

  void show(const evaluate::ProgressEvent& event) {
    if (!on_ || event.state == evaluate::ProgressEvent::State::finished) {
      return;
    }
    std::string line = fmt::format(" {} ", evaluate::name(event.stage));
    if (event.total > 0) {
      line += fmt::format("{}/{} ", event.done, event.total);
    }
    std::cerr << "\r\x1b[K" << line << util::printable(event.text) << std::flush;
    shown_ = true;
  }

  // One of the tools is at work.
  void say(const std::string& what) {
    if (on_) {
      std::cerr << "\r\x1b[K " << util::printable(what) << std::flush;
      shown_ = true;
    }
  }

  void clear() {
    if (shown_) {
      std::cerr << "\r\x1b[K" << std::flush;
      shown_ = false;
    }
  }

 private:
  bool on_;
  bool shown_ = false;
};

int exit_code(const evaluate::Evaluation& evaluation, const std::vector<std::string>& required) {
  using evaluate::Verdict;
  if (evaluation.outcome() == evaluate::Outcome::infra_error) {
    return kInfra;
  }
  if (evaluation.outcome() != evaluate::Outcome::correct) {
    return kNotCorrect;
  }
  if (!required.empty() && !evaluation.judged()) {
    return kNotCorrect;
  }
  for (const std::string& word : required) {
    const bool faster = evaluation.verdict == Verdict::pass_faster;
    const bool not_slower = faster || evaluation.verdict == Verdict::pass_equivalent;
    if ((word == "faster" && !faster) || (word == "not-slower" && !not_slower)) {
      return kNotCorrect;
    }
  }
  return kDone;
}

void print(const evaluate::Evaluation& evaluation,
           const profile::Report& tools,
           const profile::Wanted& wanted,
           const GlobalOptions& global) {
  if (global.json) {
    nlohmann::json body = evaluate::to_json(evaluation, evaluate::View::archive);
    if (wanted.any()) {
      body["tools"] = profile::to_json(tools);
    }
    std::cout << body.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  } else if (global.quiet) {
    std::cout << verdict_line(evaluation, Style::for_stdout());
  } else {
    std::cout << eval_text(evaluation, Style::for_stdout(), output_columns())
              << tools_text(tools, Style::for_stdout(), output_columns());
  }
}

}  // namespace

int run_eval(const std::vector<std::string>& arguments) {
  EvalOptions options;
  CLI::App app{
      "Judges one kernel: compiles, checks, stresses and times it against the problem's seed.",
      "sweep eval"};
  declare(app, options);
  parse(app, arguments);
  const evaluate::Services services = evaluation_services();
  const evaluate::EvaluationRequest request = to_request(options);
  const profile::Wanted wanted = to_wanted(options);
  std::optional<profile::DumpFolder> dump;
  if (wanted.dump) {
    dump.emplace(*wanted.dump);
  }
  ProgressLine progress(!options.global.quiet && !options.global.json);
  const evaluate::Evaluation evaluation = evaluate::evaluate(
      request, services, [&](const evaluate::ProgressEvent& event) { progress.show(event); });
  profile::Report tools;
  std::exception_ptr broken;
  if (wanted.any()) {
    try {
      tools = profile::inspect(request,
                               services,
                               evaluation,
                               wanted,
                               dump ? &*dump : nullptr,
                               [&](const std::string& what) { progress.say(what); });
    } catch (const util::Error&) {
      broken = std::current_exception();  // the verdict is said first
    }
  }
  progress.clear();
  print(evaluation, tools, wanted, options.global);
  if (broken) {
    std::rethrow_exception(broken);
  }
  return exit_code(evaluation, options.requires_verdict);
}

}  // namespace sweep::cli
