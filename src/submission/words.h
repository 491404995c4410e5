#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sweep::submission {

// Words that begin a statement, for suggestions.
[[nodiscard]] std::vector<std::string> statement_words();

// True for names that a plan may not declare: words of the plan, functions of its expressions,
// keywords of C++ and CUDA and names that C++ reserves (a const becomes a #define).
[[nodiscard]] bool is_reserved(std::string_view name);

}  // namespace sweep::submission
