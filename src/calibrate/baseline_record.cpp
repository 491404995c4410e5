#include "calibrate/baseline_record.h"

#include "compile/compiler.h"
#include "device/conditions.h"
#include "device/describe.h"
#include "device/library.h"
#include "evaluate/evaluation_json.h"
#include "evaluate/harness.h"
#include "evaluate/judge_client.h"
#include "evaluate/library_use.h"
#include "evaluate/preparation.h"
#include "evaluate/signature.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sweep::calibrate {
namespace {

using evaluate::Code;
using evaluate::RecordedBaseline;

constexpr std::size_t kMostBaselineSource = std::size_t{1} << 20U;
constexpr auto kNoTick = [](const std::string&, std::size_t, std::size_t) {};

// A baseline that cannot be timed.
struct Unusable {
  std::string reason;
};

class BaselineRecorder {
 public:
  BaselineRecorder(const BaselineOptions& options,
                   const std::function<void(const std::string&)>& say)
      : options_(options), say_(say), compiler_(compile_options()) {}

  evaluate::BaselineTable run(std::span<const problem::Problem> problems) {
    info_ = device::describe(options_.device);
    target_ = {options_.device.kind, info_.arch};
    harness_ = evaluate::harness_images(compiler_, target_);
    evaluate::BaselineTable table = evaluate::find_baselines(options_.services.cache, info_)
                                        .table.value_or(evaluate::BaselineTable{});
    table.device = info_;
    table.version = options_.version;
    for (const problem::Problem& problem : problems) {
      evaluate::replace_problem(table, problem.id, entries_of(problem));
      evaluate::store_baselines(options_.services.cache, table);
    }
    return table;
  }

 private:
  [[nodiscard]] compile::Options compile_options() const {
    compile::Options made;
    made.cache = options_.services.cache;
    made.allow_unsandboxed = options_.allow_unsandboxed;
    made.program = options_.services.program;
    return made;
  }

  [[nodiscard]] Code kernel(const problem::Problem& problem, const evaluate::Source& source) {
    return evaluate::trusted_code(
        compiler_, target_, source, evaluate::candidate_signature(problem), false);
  }

  // A problem that this version cannot judge, or that has no seed, has no times.
  std::vector<RecordedBaseline> entries_of(const problem::Problem& problem) {
    try {
      evaluate::require_supported(problem);
      return record(problem);
    } catch (const util::UsageError& error) {
      RecordedBaseline entry;
      entry.problem = problem.id;
      entry.problem_sha256 = problem.hash();
      entry.name = evaluate::kSeedBaseline;
      entry.made = clock_.wall();
      entry.failure = error.what();
      say_(entry.failure);
      return {entry};
    }
  }

  std::vector<RecordedBaseline> record(const problem::Problem& problem) {
    const evaluate::Source source = evaluate::find_seed(options_.services, problem);
    const Code reference =
        evaluate::trusted_code(compiler_,
                               target_,
                               {problem.id + "/reference.cu", problem.reference.text},
                               evaluate::reference_signature(problem),
                               true);
    const Code seed = kernel(problem, source);
    RecordedBaseline base;
    base.problem = problem.id;
    base.problem_sha256 = problem.hash();
    base.seed_sha256 = util::sha256_hex(source.text);
    std::vector<RecordedBaseline> entries{base};
    entries.front().name = evaluate::kSeedBaseline;
    time(problem, {&reference, &seed, &seed}, entries.front());
    for (const problem::Baseline& declared : problem.baselines) {
      RecordedBaseline& entry = entries.emplace_back(base);
      entry.name = declared.name;
      try {
        const Code code = code_of(problem, declared, entry);
        time(problem, {&reference, &seed, &code}, entry);
      } catch (const Unusable& unusable) {
        entry.failure = unusable.reason;
        say_(problem.id + " " + entry.name + ": " + entry.failure);
      }
    }
    return entries;
  }

  // Fills in what is known of a library. Throws Unusable.
  [[nodiscard]] Code code_of(const problem::Problem& problem,
                             const problem::Baseline& declared,
                             RecordedBaseline& entry) {
    try {
      if (!declared.file.empty()) {
        const std::filesystem::path name(declared.file);
        if (name.has_parent_path()) {
          throw Unusable{"its file must be in the problem's folder: " + declared.file};
        }
        return kernel(problem,
                      {problem.id + "/" + declared.file,
                       util::read_file(problem.folder / name, kMostBaselineSource)});
      }
      if (std::string mistake = evaluate::library_mistake(problem, declared); !mistake.empty()) {
        throw Unusable{std::move(mistake)};
      }
      const device::LibraryInfo library = device::describe_library(declared.library);
      const evaluate::LibraryUse use{declared.name, declared.library, library.path, declared.args};
      entry.library = library.library + " " + library.version;
      entry.path = library.path;
      entry.math = evaluate::math_of(use, problem);
      return evaluate::library_code(use);
    } catch (const util::Error& error) {
      throw Unusable{error.what()};
    }
  }

  [[nodiscard]] evaluate::JudgeSpec judge_spec(const RecordedBaseline& entry) const {
    evaluate::JudgeSpec spec;
    spec.program = options_.services.program;
    spec.locks = options_.services.locks;
    spec.device = options_.device;
    spec.allow_unsandboxed = options_.allow_unsandboxed;
    spec.deadline_seconds = options_.deadline_seconds;
    if (!entry.path.empty()) {
      spec.libraries = {std::filesystem::path(entry.path).parent_path()};
    }
    return spec;
  }

  [[nodiscard]] evaluate::StageOptions stage_options(const RecordedBaseline& entry,
                                                     const Code& code) const {
    evaluate::StageOptions made;
    made.replicates = options_.replicates;
    made.session = util::sha256_hex("baseline\n" + entry.problem + '\n' + code.digest);
    made.floors =
        evaluate::noise_floors(options_.services.cache, options_.device.kind, info_, entry.made);
    return made;
  }

  // Checks, then times; fills in the entry. codes: reference, seed, baseline.
  void time(const problem::Problem& problem,
            const std::vector<const Code*>& codes,
            RecordedBaseline& entry) {
    entry.made = clock_.wall();
    evaluate::JudgeClient judge(judge_spec(entry));
    judge.begin();
    judge.open(problem, codes, harness_, 1, kNoTick);
    const evaluate::StageOptions with = stage_options(entry, *codes.back());
    const evaluate::CheckResult check =
        evaluate::check_from_json(judge.stage("check", with, kNoTick));
    if (check.failure) {
      entry.failure = "wrong, not timed: " + check.failure->text;
    } else {
      take(evaluate::time_from_json(judge.stage("time", with, kNoTick)), entry);
    }
    say_(entry.problem + " " + line_of(entry));
  }

  static void take(const evaluate::TimeResult& time, RecordedBaseline& entry) {
    entry.conditions = time.conditions;
    entry.verdict = time.decision ? evaluate::name(*time.decision) : "";
    if (time.failure) {
      entry.failure = "a timed call was wrong: " + time.failure->text;
      return;
    }
    entry.ratio = time.ratio;
    for (const evaluate::ShapeTiming& shape : time.shapes) {
      entry.shapes.push_back(
          {shape.shape, shape.dims, shape.seed_seconds, shape.candidate_seconds, shape.ratio});
    }
  }

  static std::string line_of(const RecordedBaseline& entry) {
    if (!entry.failure.empty()) {
      return entry.name + ": " + entry.failure;
    }
    const auto [low, high] = util::human_bounds(entry.ratio.low, entry.ratio.high);
    return fmt::format(
        "{}: {} of the seed [{}, {}]", entry.name, util::human_ratio(entry.ratio.point), low, high);
  }

  const BaselineOptions& options_;
  const std::function<void(const std::string&)>& say_;
  compile::Compiler compiler_;
  util::RealClock clock_;
  device::Info info_;
  compile::Target target_;
  evaluate::HarnessImages harness_;
};

}  // namespace

evaluate::BaselineTable record_baselines(const BaselineOptions& options,
                                         std::span<const problem::Problem> problems,
                                         const std::function<void(const std::string&)>& say) {
  return BaselineRecorder(options, say).run(problems);
}

}  // namespace sweep::calibrate
