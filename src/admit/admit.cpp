#include "admit/admit.h"

#include "compile/compiler.h"
#include "evaluate/admission/narrowed_reference.h"
#include "evaluate/argument_check.h"
#include "evaluate/harness.h"
#include "evaluate/judge_client.h"
#include "evaluate/preparation.h"
#include "evaluate/signature.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace sweep::admit {
namespace {

using evaluate::Code;
using evaluate::admission::Options;

constexpr std::size_t kMostGolden = std::size_t{16} << 20U;

// What the problem, not the machine, is to blame for.
constexpr std::array kProblemCodes = std::to_array<std::string_view>({"E_SEED_COMPILE",
                                                                      "E_SEED_MISSING",
                                                                      "E_EVALUATE_UNSUPPORTED",
                                                                      "E_ORACLE",
                                                                      "E_ORACLE_TIMEOUT",
                                                                      "E_JUDGE_LOST"});

std::string golden_text(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) ? util::read_file(file, kMostGolden) : "";
}

class Examination {
 public:
  Examination(const AdmitOptions& options,
              const problem::Problem& problem,
              const evaluate::Tick& tick)
      : options_(options), problem_(problem), tick_(tick) {}

  void run(Admission& made) {
    evaluate::JudgeClient judge(judge_spec());
    judge.begin();
    made.device = judge.info().name;
    made.driver = judge.info().driver;
    evaluate::require_supported(problem_);
    const compile::Target target{options_.device.kind, judge.info().arch};
    tick_("compiling", 0, 0);
    const evaluate::Trusted ours =
        evaluate::compile_trusted(compile_options(), target, problem_, options_.services);
    evaluate::StageOptions with;
    with.admit = options_.rules;
    Options& rules = *with.admit;
    const std::filesystem::path golden = golden_file(options_.services, problem_);
    rules.golden = golden_text(golden);
    rules.golden_file = golden.string();
    const std::optional<Code> narrowed = narrow(target, judge.info().sm_count, rules);
    const Code* candidate = narrowed ? &*narrowed : &ours.seed;
    judge.open(problem_, {&ours.reference, &ours.seed, candidate}, ours.harness, 1, tick_);
    const nlohmann::json found = judge.stage("admit", with, tick_);
    for (const nlohmann::json& rule : found.at("rules")) {
      made.rules.push_back(evaluate::admission::rule_result_from_json(rule));
    }
  }

 private:
  [[nodiscard]] compile::Options compile_options() const {
    compile::Options made;
    made.cache = options_.services.cache;
    made.allow_unsandboxed = options_.allow_unsandboxed;
    made.program = options_.services.program;
    return made;
  }

  [[nodiscard]] evaluate::JudgeSpec judge_spec() const {
    evaluate::EvaluationRequest request;
    request.device = options_.device;
    request.allow_unsandboxed = options_.allow_unsandboxed;
    request.deadline_seconds = options_.deadline_seconds;
    return evaluate::judge_spec(request, options_.services);
  }

  // The reference in fp32, where it compiles; else says why not.
  [[nodiscard]] std::optional<Code> narrow(const compile::Target& target,
                                           int sms,
                                           Options& rules) const {
    rules.narrowed = false;
    if (!rules.wants(evaluate::admission::Rule::honest)) {
      return std::nullopt;
    }
    const auto source = evaluate::admission::narrowed_reference(problem_);
    rules.narrowed_reason = source.reason;
    if (source.text.empty()) {
      return std::nullopt;
    }
    auto parsed = submission::parse("reference in fp32", source.text);
    if (const auto* error = std::get_if<submission::PlanError>(&parsed)) {
      rules.narrowed_reason = error->what;
      return std::nullopt;
    }
    auto& submission = std::get<submission::Submission>(parsed);
    compile::Compiler compiler(compile_options());
    const compile::Result compiled =
        compiler.compile(evaluate::compile_request(submission, target, false));
    if (compiled.status != compile::Result::Status::ok) {
      rules.narrowed_reason = "it does not compile with float for double";
      return std::nullopt;
    }
    Code code = evaluate::make_code(
        std::move(submission), {}, evaluate::candidate_signature(problem_), compiled);
    if (const auto error = evaluate::argument_error(code, problem_, sms)) {
      rules.narrowed_reason = error->what;
      return std::nullopt;
    }
    rules.narrowed = true;
    return code;
  }

  const AdmitOptions& options_;
  const problem::Problem& problem_;
  const evaluate::Tick& tick_;
};

}  // namespace

std::filesystem::path golden_file(const evaluate::Services& services,
                                  const problem::Problem& problem) {
  std::filesystem::path beside = problem.folder / "golden.json";
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(problem.folder, error);
  const std::filesystem::path built_in =
      std::filesystem::weakly_canonical(services.problems, error);
  if (std::filesystem::is_regular_file(beside, error) ||
      folder.parent_path().parent_path() != built_in) {
    return beside;
  }
  std::string name = problem.id;
  std::ranges::replace(name, '/', '_');
  return services.golden / (name + ".json");
}

Hashes hashes_now(const evaluate::Services& services, const problem::Problem& problem) {
  Hashes hashes{problem.hash(), problem.reference.hash, "", ""};
  std::error_code ignored;
  if (std::filesystem::is_regular_file(evaluate::seed_file(services, problem), ignored)) {
    hashes.seed = util::sha256_hex(evaluate::find_seed(services, problem).text);
  }
  const std::string golden = golden_text(golden_file(services, problem));
  hashes.golden = golden.empty() ? "" : util::sha256_hex(golden);
  return hashes;
}

Standing standing_now(const evaluate::Services& services, const problem::Problem& problem) {
  std::error_code ignored;
  if (!std::filesystem::exists(problem.folder / kRecordFile, ignored)) {
    return {};
  }
  return standing(problem.folder, hashes_now(services, problem));
}

Admission admit(const AdmitOptions& options,
                const problem::Problem& problem,
                const evaluate::Tick& tick) {
  Admission made;
  made.problem = problem.id;
  made.cuda = options.device.kind == device::Kind::cuda;
  made.version = options.version;
  made.hashes = hashes_now(options.services, problem);
  util::RealClock clock;
  made.made = util::iso_time(clock.wall());
  try {
    Examination(options, problem, tick).run(made);
  } catch (const util::Error& error) {
    if (std::ranges::find(kProblemCodes, error.code()) == kProblemCodes.end()) {
      throw;
    }
    made.failure = error.what();
  }
  return made;
}

}  // namespace sweep::admit
