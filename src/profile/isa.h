#pragma once

#include "profile/report.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::profile {

// Looks in the compiled submission for the families of instructions that the problem asks for,
// where its policy (or the request's) is not `off` and the submission compiled, and writes
// Evaluation::isa. Under `gate` a result that was judged correct without all of them becomes
// INCORRECT_INSTRUCTIONS; where the machine code cannot be read, INFRA_JUDGE: nothing is guessed.
// On the cpu device nothing is looked at, and the result says so. Throws as compile_subject().
void judge_isa(const evaluate::EvaluationRequest& request,
               const evaluate::Services& services,
               evaluate::Evaluation& evaluation,
               const ToolSearch& search = default_search());

// evaluate::evaluate() and judge_isa().
[[nodiscard]] evaluate::Evaluation evaluate_with_isa(const evaluate::EvaluationRequest& request,
                                                     const evaluate::Services& services,
                                                     const evaluate::Progress& progress = {},
                                                     evaluate::Spares* spares = nullptr);

// Adds what a profile counted. Changes no verdict.
void add_executed(const Report& report, evaluate::Evaluation& evaluation);

// The parts of judge_isa(), for tests.

// Kernels (name expressions) that the canonical plan launches on some visible shape, each once;
// empty where the plan is.
[[nodiscard]] std::vector<std::string> launched_kernels(const std::string& canonical_plan);

// Level `text`: an instruction of the family outside comments.
[[nodiscard]] bool in_ptx(std::string_view ptx, const problem::IsaFamily& family);

// Level `compiled`: instructions of the family in the kernels named, all of them where none is.
[[nodiscard]] std::int64_t compiled_count(const SassReport& sass,
                                          const std::vector<std::string>& kernels,
                                          const problem::IsaFamily& family);

}  // namespace sweep::profile
