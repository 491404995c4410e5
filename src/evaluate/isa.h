#pragma once

#include "problem/isa.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Which families of instructions a kernel uses, and how far that is shown.
namespace sweep::evaluate {

// Each level is a statement of its own, never inferred from another:
// text: the PTX that the compiler made (or the submission itself) has such an instruction; code
// that
//   never runs, or that the assembler drops, satisfies it.
// compiled: the machine code of a kernel that the plan launches on a visible shape has one; a
// branch
//   that is never taken satisfies it.
// executed: Nsight Compute counted one as executed with its predicate true.
enum class IsaLevel { none, text, compiled, executed };

[[nodiscard]] std::string_view name(IsaLevel level);  // "compiled"

struct IsaEvidence {
  std::string family;  // "wgmma"
  bool in_text = false;
  std::optional<std::int64_t> compiled;  // instructions; nothing: not looked at
  std::optional<double> executed;        // by threads; nothing: not measured

  // The highest level that is shown.
  [[nodiscard]] IsaLevel level() const;
};

struct IsaResult {
  problem::IsaPolicy policy = problem::IsaPolicy::off;
  std::vector<IsaEvidence> families;  // those that the problem asks for, in its order
  std::vector<std::string> kernels;   // launched on a visible shape: the code that was looked at
  std::string not_compiled;           // why level `compiled` was not looked at; empty: it was
  std::string not_executed = "it takes --profile";  // the same of level `executed`

  // Families that are not shown at level `compiled`; empty where that was not looked at.
  [[nodiscard]] std::vector<std::string> missing() const;
};

// A line for each family with its level: "instructions: wgmma compiled (4 in gemm; not measured
// whether executed)".
[[nodiscard]] std::string isa_text(const IsaResult& result);

[[nodiscard]] nlohmann::json to_json(const IsaResult& result);
[[nodiscard]] IsaResult isa_from_json(const nlohmann::json& body);

}  // namespace sweep::evaluate
