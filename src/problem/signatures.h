#pragma once

#include "expr/ast.h"
#include "problem/problem.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Inside of the module: which fills and groups exist and what arguments they take
// (docs/problem_format.md, section 5).
namespace sweep::problem {

struct Signature {
  std::string_view name;
  std::string_view parameters;  // "mean? std?": `?` may be left out; "values*": any number
};

[[nodiscard]] std::span<const Signature> fill_signatures();
[[nodiscard]] std::span<const Signature> group_signatures();

// Parts and statistics of a group by its function; empty for an unknown one.
[[nodiscard]] std::vector<std::string> group_parts(std::string_view function);
[[nodiscard]] std::vector<std::string> group_statistics(std::string_view function);

// Arguments of a call by the parameter's name; a list parameter has all its values.
using Arguments = std::map<std::string, std::vector<const expr::Node*>, std::less<>>;

// What is wrong with a call; `offset` as in expr::SyntaxError.
struct BindError {
  std::size_t offset = 0;
  std::string what;
  std::string next;
};

// Throws BindError: unknown function, unknown, missing, repeated or too many arguments.
[[nodiscard]] Arguments bind(const expr::Node& call, std::span<const Signature> signatures);

}  // namespace sweep::problem
