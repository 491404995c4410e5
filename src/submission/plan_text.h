#pragma once

#include "submission/plan.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace sweep::submission {

// The source with everything but its plan blanked: same length, same line ends, so that offsets
// into it are offsets into the source. Plan text is what follows "//@" on lines that begin with it,
// and the inside of "/*@ ... */" blocks. E_PLAN_COMMENT: a block without its end.
[[nodiscard]] std::variant<std::string, PlanError> plan_text(const std::string& file,
                                                             std::string_view source);

// Line and column (from 1, columns count bytes) of a byte.
[[nodiscard]] std::pair<int, int> position(std::string_view source, std::size_t offset);

// A fault at a byte of the source.
[[nodiscard]] PlanError error_at(const std::string& file,
                                 std::string_view source,
                                 std::size_t offset,
                                 std::string code,
                                 std::string what,
                                 std::string next = {});

// The plan's code for a fault of the expression language: "E_EXPR_OVERFLOW" is "E_PLAN_OVERFLOW".
[[nodiscard]] std::string plan_code(std::string_view expr_code);

// "; did you mean 'x'?" as a next step, or nothing.
[[nodiscard]] std::string suggestion(std::string_view name,
                                     const std::vector<std::string>& candidates);

}  // namespace sweep::submission
