#pragma once

#include "evaluate/evaluation.h"
#include "problem/problem.h"

#include <filesystem>
#include <vector>

namespace sweep::cli {

// `sweep problems check` of one folder: problem::check_folder, then the plans of reference.cu and
// of the seed, and whether there is a seed at all (E_SEED_MISSING). Compiles nothing. Never throws
// for what the files contain.
[[nodiscard]] std::vector<problem::Mistake> check_problem(const evaluate::Services& services,
                                                          const std::filesystem::path& folder);

// seed.cu of the template that problem::write_template makes: compiles and passes.
[[nodiscard]] std::string seed_template(const std::string& id);

}  // namespace sweep::cli
