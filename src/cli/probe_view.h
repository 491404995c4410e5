#pragma once

#include "cli/probe.h"
#include "cli/style.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace sweep::cli {

// One row a model and a column a check, then what there is to say about each model: how it is
// reached, what failed and how to mend it. `width` columns at most; 0: lines are not broken.
[[nodiscard]] std::string probe_text(const std::vector<ProbedModel>& models,
                                     const Style& style,
                                     std::size_t width);

[[nodiscard]] nlohmann::json probe_json(const std::vector<ProbedModel>& models);

}  // namespace sweep::cli
