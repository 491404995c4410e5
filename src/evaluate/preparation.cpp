#include "evaluate/preparation.h"

#include "compile/code_hash.h"
#include "evaluate/signature.h"
#include "problem/catalog.h"
#include "problem/draw.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <sys/stat.h>

namespace sweep::evaluate {
namespace {

constexpr std::size_t kMaxSource = std::size_t{1} << 20U;
constexpr std::size_t kSaltBytes = 32;
// Screening opens no device: plans are expanded as on an H200, and again with the true numbers in
// the judge.
constexpr std::int64_t kScreenSms = 132;
constexpr std::size_t kMaxPlanText = std::size_t{64} << 10U;

std::filesystem::path salt_path(const std::filesystem::path& path) {
  if (!path.empty()) {
    return path;
  }
  if (const char* named = std::getenv("SWEEP_SALT_FILE"); named != nullptr && *named != '\0') {
    return named;
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::filesystem::path(home) / ".local/state/sweep/salt";
  }
  throw util::UsageError(
      {"held-out salt", "neither SWEEP_SALT_FILE nor HOME is set", "set SWEEP_SALT_FILE"},
      "E_SALT");
}

// The first launch that the cpu device cannot make, and why.
std::optional<submission::PlanError> unsupported_on_cpu(const submission::Expansion& expansion) {
  for (const submission::Step& step : expansion.steps) {
    const auto* launch = std::get_if<submission::Launch>(&step);
    if (launch == nullptr) {
      continue;
    }
    const bool map = std::ranges::any_of(launch->arguments, [](const auto& argument) {
      return std::holds_alternative<submission::MapRef>(argument);
    });
    const std::string what = launch->cluster[0] != 0 ? "clusters"
                             : launch->cooperative   ? "cooperative launches"
                             : launch->pdl           ? "pdl"
                             : map                   ? "tensor maps (TMA)"
                                                     : "";
    if (!what.empty()) {
      return submission::PlanError{
          "E_PLAN_UNSUPPORTED",
          "",
          launch->line,
          launch->column,
          "unsupported on device cpu: " + what + " (" + launch->kernel + ")",
          "judge it with --device cuda"};
    }
  }
  return std::nullopt;
}

// Of the shape's expansion; null: `result` has an error more.
nlohmann::json screen_shape(ScreenResult& result,
                            const problem::Problem& problem,
                            const submission::Submission& submission,
                            const submission::Signature& signature,
                            const problem::Shape& shape,
                            bool cpu) {
  const problem::Draw draw =
      problem::visible_draw(problem, shape, "default", problem::Key::from_seed(0));
  auto expanded = expand_for(
      submission,
      signature,
      draw,
      cpu ? 1 : kScreenSms,
      [](const std::string&, std::int64_t, std::int64_t) { return std::int64_t{1}; },
      problem.limits.launches,
      false);
  if (auto* error = std::get_if<submission::PlanError>(&expanded)) {
    error->file = submission.file;
    error->what = "shape " + shape.name + ": " + error->what;
    result.errors.push_back(std::move(*error));
    return nullptr;
  }
  const auto& expansion = std::get<submission::Expansion>(expanded);
  if (auto error = cpu ? unsupported_on_cpu(expansion) : std::nullopt) {
    error->file = submission.file;
    result.errors.push_back(std::move(*error));
    return nullptr;
  }
  const double limit = problem::scratch_limit(problem, draw);
  if (static_cast<double>(expansion.scratch_bytes) > limit) {
    result.errors.push_back(
        {"E_PLAN_SCRATCH",
         submission.file,
         0,
         0,
         "shape " + shape.name + ": scratch of " + std::to_string(expansion.scratch_bytes) +
             " bytes is more than the " + std::to_string(static_cast<std::int64_t>(limit)) +
             " that the problem allows",
         "use less scratch"});
  }
  const auto launches =
      static_cast<std::int64_t>(std::ranges::count_if(expansion.steps, [](const auto& step) {
        return std::holds_alternative<submission::Launch>(step);
      }));
  result.launches = std::max(result.launches, launches);
  result.scratch_bytes = std::max(result.scratch_bytes, expansion.scratch_bytes);
  return {{"shape", shape.name}, {"plan", submission::to_json(expansion, signature)}};
}

CanonicalPlan canonical(nlohmann::json shapes) {
  CanonicalPlan plan;
  plan.text = nlohmann::json{{"schema", 1}, {"shapes", std::move(shapes)}}.dump();
  plan.sha256 = util::sha256_hex(plan.text);
  if (plan.text.size() > kMaxPlanText) {
    plan.text.clear();
  }
  return plan;
}

}  // namespace

problem::Problem find_problem(const Services& services, const std::string& id_or_folder) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(std::filesystem::path(id_or_folder) / "problem.toml",
                                       ignored)) {
    return problem::require(id_or_folder);
  }
  std::vector<std::filesystem::path> roots = services.more_problems;
  roots.push_back(services.problems);
  return problem::Catalog(roots).open(id_or_folder);
}

std::filesystem::path seed_file(const Services& services, const problem::Problem& problem) {
  std::filesystem::path beside = problem.folder / "seed.cu";
  std::error_code error;
  if (std::filesystem::is_regular_file(beside, error)) {
    return beside;
  }
  // Only a built-in problem has its seed elsewhere: a folder of the same name outside must not be
  // judged against it.
  const std::filesystem::path folder = std::filesystem::weakly_canonical(problem.folder, error);
  const std::filesystem::path built_in =
      std::filesystem::weakly_canonical(services.problems, error) / folder.parent_path().filename();
  if (folder.parent_path() != built_in) {
    return beside;
  }
  return services.seeds / built_in.filename() / (folder.filename().string() + ".cu");
}

Source find_seed(const Services& services, const problem::Problem& problem) {
  const std::filesystem::path path = seed_file(services, problem);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw util::UsageError(
        {problem.id,
         "has no seed kernel, the 1.0x that it is judged against",
         "write " + path.string() + ": a plain correct kernel in the problem's precision"},
        "E_SEED_MISSING");
  }
  return {path.string(), util::read_file(path, kMaxSource)};
}

ScreenResult screen(const problem::Problem& problem,
                    const submission::Submission& submission,
                    device::Kind kind,
                    CanonicalPlan* plan) {
  ScreenResult result;
  result.bytes = submission.source.size();
  result.kernels = submission::name_expressions(submission.plan);
  if (!submission.plan.problem.empty() && submission.plan.problem != problem.id) {
    result.errors.push_back(
        {"E_PLAN_PROBLEM",
         submission.file,
         0,
         0,
         "the plan is for " + submission.plan.problem + ", not for " + problem.id,
         "correct the line `//@ problem`"});
  }
  if (submission.plan.flags.fast_math && !problem.policy.fast_math) {
    result.errors.push_back({"E_PLAN_FAST_MATH",
                             submission.file,
                             0,
                             0,
                             "this problem does not allow fast_math",
                             "leave it out; intrinsics such as __expf stay available"});
  }
  const submission::Signature signature = candidate_signature(problem);
  nlohmann::json shapes = nlohmann::json::array();
  for (const problem::Shape& shape : problem.shapes) {
    if (result.errors.empty()) {
      shapes.push_back(
          screen_shape(result, problem, submission, signature, shape, kind == device::Kind::cpu));
    }
  }
  if (plan != nullptr && result.errors.empty()) {
    *plan = canonical(std::move(shapes));
  }
  return result;
}

compile::Options compile_options(const EvaluationRequest& request, const Services& services) {
  compile::Options options;
  options.cache = services.cache;
  options.allow_unsandboxed = request.allow_unsandboxed;
  options.program = services.program;
  return options;
}

compile::Request compile_request(const submission::Submission& submission,
                                 const compile::Target& target,
                                 bool device_printf) {
  compile::Request request;
  request.file = submission.file;
  request.source = submission.source;
  request.language = submission.language;
  request.target = target;
  request.kernels = submission::name_expressions(submission.plan);
  request.defines = submission.plan.constants;
  request.flags = submission.plan.flags;
  request.device_printf = device_printf;
  return request;
}

Verdict verdict_of(compile::Result::Status status) {
  return status == compile::Result::Status::forbidden ? Verdict::rejected_forbidden
                                                      : Verdict::compile_error;
}

std::string compiler_used(const compile::Request& request, const compile::Toolchain& tools) {
  if (request.target.kind == device::Kind::cpu) {
    return tools.gxx;
  }
  if (request.language == submission::Language::ptx) {
    return tools.ptxas;
  }
  return request.nvcc ? tools.nvcc : tools.nvrtc;
}

CompileResult describe(const compile::Result& result, std::string compiler) {
  using Status = compile::Result::Status;
  CompileResult made;
  made.compiler = std::move(compiler);
  switch (result.status) {
    case Status::ok:
      made.status = "ok";
      break;
    case Status::compile_error:
      made.status = "compile_error";
      break;
    case Status::unsupported:
      made.status = "unsupported";
      break;
    case Status::forbidden:
      made.status = "forbidden";
      break;
    case Status::timeout:
      made.status = "timeout";
      break;
    case Status::out_of_memory:
      made.status = "out_of_memory";
      break;
  }
  made.log = result.log;
  for (const compile::CompiledKernel& kernel : result.kernels) {
    made.kernels.push_back({kernel.name,
                            kernel.registers,
                            kernel.spill_bytes,
                            kernel.shared_bytes,
                            kernel.stack_bytes});
  }
  made.code_sha256 = compile::code_sha256(result.image.bytes);
  made.cached = result.cached;
  made.seconds = result.seconds;
  return made;
}

namespace {

// Parses and compiles; anything that goes wrong is util::InfraError "E_SEED_COMPILE".
Code compiled_code(compile::Compiler& compiler,
                   const compile::Target& target,
                   const Source& source,
                   submission::Signature signature,
                   bool reference,
                   bool nvcc) {
  auto parsed = submission::parse(source.file, source.text);
  if (const auto* error = std::get_if<submission::PlanError>(&parsed)) {
    throw util::InfraError({source.file, error->text(source.text), "run `sweep problems check`"},
                           "E_SEED_COMPILE");
  }
  auto& submission = std::get<submission::Submission>(parsed);
  compile::Request request = compile_request(submission, target, false);
  request.nvcc = nvcc;
  const compile::Result compiled =
      reference ? compiler.compile_trusted(request) : compiler.compile(request);
  if (compiled.status != compile::Result::Status::ok) {
    throw util::InfraError(
        {source.file, "does not compile: " + compiled.log, "run `sweep problems check`"},
        "E_SEED_COMPILE");
  }
  return make_code(std::move(submission), {}, std::move(signature), compiled);
}

}  // namespace

Code trusted_code(compile::Compiler& compiler,
                  const compile::Target& target,
                  const Source& source,
                  submission::Signature signature,
                  bool reference) {
  return compiled_code(compiler, target, source, std::move(signature), reference, false);
}

Code versus_code(compile::Compiler& compiler,
                 const compile::Target& target,
                 const Source& source,
                 const problem::Problem& problem,
                 bool nvcc) {
  const auto parsed = submission::parse(source.file, source.text);
  const auto* made = std::get_if<submission::Submission>(&parsed);
  if (made != nullptr && !made->plan.problem.empty() && made->plan.problem != problem.id) {
    throw util::UsageError({source.file,
                            "is for " + made->plan.problem + ", not for " + problem.id,
                            "compare two kernels of one problem"},
                           "E_EVALUATE_VERSUS");
  }
  try {
    return compiled_code(compiler, target, source, candidate_signature(problem), false, nvcc);
  } catch (const util::InfraError& error) {
    if (error.code() != "E_SEED_COMPILE") {
      throw;
    }
    throw util::UsageError({source.file, "--vs needs a kernel that compiles", error.message().what},
                           "E_EVALUATE_VERSUS");
  }
}

Trusted compile_trusted(const compile::Options& options,
                        const compile::Target& target,
                        const problem::Problem& problem,
                        const Services& services) {
  compile::Compiler compiler(options);
  Trusted made;
  made.harness = harness_images(compiler, target);
  made.reference = trusted_code(compiler,
                                target,
                                {problem.id + "/reference.cu", problem.reference.text},
                                reference_signature(problem),
                                true);
  made.seed = trusted_code(
      compiler, target, find_seed(services, problem), candidate_signature(problem), false);
  return made;
}

std::string read_salt(const std::filesystem::path& given) {
  const std::filesystem::path path = salt_path(given);

  struct stat info {};

  if (::stat(path.c_str(), &info) != 0) {
    util::make_folders(path.parent_path());
    util::write_file_atomic(path, util::random_bytes(kSaltBytes), 0600);
  } else if ((info.st_mode & 077U) != 0) {
    throw util::UsageError(
        {path.string(), "others may read the held-out salt", "chmod 600 " + path.string()},
        "E_SALT");
  }
  std::string salt = util::read_file(path, kMaxSource);
  if (salt.size() < kSaltBytes) {
    throw util::UsageError(
        {path.string(), "holds fewer than 32 bytes", "remove it, and a new one is made"}, "E_SALT");
  }
  return salt;
}

}  // namespace sweep::evaluate
