#pragma once

#include "cli/style.h"
#include "evaluate/evaluation.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::cli {

// What `--require` asks of an evaluation (docs/verdicts.md has the rules).
struct Requirement {
  enum class Kind { correct, not_slower, faster, speedup };
  Kind kind = Kind::correct;
  double least = 0;  // of `speedup`: what the lower end of the 95% interval must reach; > 0
  std::string text;  // as given
};

// "correct", "not-slower", "faster", or "speedup>=N" with blanks as one likes. Throws
// util::UsageError "E_EVAL_REQUIRE" naming the column that is wrong.
[[nodiscard]] Requirement parse_requirement(const std::string& text);

// Throws util::UsageError "E_EVAL_REQUIRE" where an evaluation of `only` this stage never finds out
// what is required.
void require_decidable(const Requirement& requirement, std::optional<evaluate::Stage> only);

// What became of a requirement.
struct RequirementResult {
  std::string text;         // of the requirement
  std::optional<bool> met;  // none: the harness failed, so nothing is known
  std::string found;        // "PASS_FASTER 1.310x [1.290, 1.330]", with the reason where it fails
};

[[nodiscard]] RequirementResult examine(const Requirement& requirement,
                                        const evaluate::Evaluation& evaluation);
[[nodiscard]] std::vector<RequirementResult> examine_all(
    const std::vector<Requirement>& requirements, const evaluate::Evaluation& evaluation);

// One line for each: " required speedup>=1.2: not met; found ..".
[[nodiscard]] std::string requirements_text(const std::vector<RequirementResult>& results,
                                            const Style& style,
                                            std::size_t width = 0);

[[nodiscard]] nlohmann::json to_json(const std::vector<RequirementResult>& results);

// Of `sweep eval`: kInfra, kNotCorrect, kNotMet or kDone, the first that applies.
[[nodiscard]] int eval_exit_code(const evaluate::Evaluation& evaluation,
                                 const std::vector<RequirementResult>& results);

}  // namespace sweep::cli
