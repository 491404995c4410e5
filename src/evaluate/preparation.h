#pragma once

#include "compile/compiler.h"
#include "evaluate/code.h"
#include "evaluate/evaluation.h"
#include "evaluate/harness.h"
#include "problem/problem.h"

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

// What happens before the judge: finding the problem, expanding plans, compiling.
namespace sweep::evaluate {

// The problem of an id or folder. Throws util::UsageError.
[[nodiscard]] problem::Problem find_problem(const Services& services,
                                            const std::string& id_or_folder);

// Where a problem's seed kernel is or belongs: seed.cu in its folder; for a built-in problem
// without one services.seeds/<level>/<folder name>.cu. It need not exist.
[[nodiscard]] std::filesystem::path seed_file(const Services& services,
                                              const problem::Problem& problem);

// The seed kernel. Throws util::UsageError E_SEED_MISSING naming the file to write.
[[nodiscard]] Source find_seed(const Services& services, const problem::Problem& problem);

// Expands the plan for every visible shape. Fills errors; empty: fine. Edge and stress shapes are
// left to the stress stage on purpose: no prompt shows them, its answer to a model is one bit, and
// a plan error names the shape and what was wrong with its numbers. Screening is free and without
// limit, so a plan that fails for chosen dims only would read the hidden shapes one after another.
// Without errors `plan` gets what was expanded.
[[nodiscard]] ScreenResult screen(const problem::Problem& problem,
                                  const submission::Submission& submission,
                                  device::Kind kind,
                                  CanonicalPlan* plan = nullptr);

// How an evaluation compiles.
[[nodiscard]] compile::Options compile_options(const EvaluationRequest& request,
                                               const Services& services);

// The code of the problem and of the harness, mostly from the cache.
struct Trusted {
  Code reference, seed;
  HarnessImages harness;
};

// Throws util::UsageError or util::InfraError where one does not compile.
[[nodiscard]] Trusted compile_trusted(const compile::Options& options,
                                      const compile::Target& target,
                                      const problem::Problem& problem,
                                      const Services& services);

[[nodiscard]] compile::Request compile_request(const submission::Submission& submission,
                                               const compile::Target& target,
                                               bool device_printf);

// Verdict of a compilation that is not ok.
[[nodiscard]] Verdict verdict_of(compile::Result::Status status);
[[nodiscard]] CompileResult describe(const compile::Result& result, std::string compiler = {});

// Name and version of the compiler that such a request goes to; empty: not on this machine.
[[nodiscard]] std::string compiler_used(const compile::Request& request,
                                        const compile::Toolchain& tools);

// Parses and compiles a text of the project (seed, reference); failures are util::InfraError
// "E_SEED_COMPILE".
[[nodiscard]] Code trusted_code(compile::Compiler& compiler,
                                const compile::Target& target,
                                const Source& source,
                                submission::Signature signature,
                                bool reference);

// The submission to compare with. Throws util::UsageError "E_EVALUATE_VERSUS" if it is for another
// problem or does not compile.
[[nodiscard]] Code versus_code(compile::Compiler& compiler,
                               const compile::Target& target,
                               const Source& source,
                               const problem::Problem& problem,
                               bool nvcc);

// At least 32 random bytes, made 0600 on first use. `given` empty: $SWEEP_SALT_FILE, else
// ~/.local/state/sweep/salt. Throws util::UsageError if others may read it.
[[nodiscard]] std::string read_salt(const std::filesystem::path& given);

}  // namespace sweep::evaluate
