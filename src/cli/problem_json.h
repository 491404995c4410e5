#pragma once

#include "problem/problem.h"

#include <nlohmann/json.hpp>

namespace sweep::cli {

// `sweep problems show --json`: all but aux tensors, as problem.toml states them, and each visible
// shape with its dims, the scalars of `--seed 1` and extents as numbers. `floor_seconds` is that of
// the datasheet, with the statistics of groups estimated. Throws util::UsageError where a shape
// cannot be evaluated.
[[nodiscard]] nlohmann::json problem_json(const problem::Problem& problem);

}  // namespace sweep::cli
