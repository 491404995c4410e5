#pragma once

#include "config/config.h"
#include "config/matrix.h"

#include <cstdint>
#include <optional>

namespace sweep::agent {

// Seed of an item's sampling, 1 to 2^31 - 1: a hash of the run's seed, the model's own
// ([models.sampling] seed, if any), the problem and the attempt. Attempts differ, and models and
// harnesses meet the same one. Unset where the endpoint is never to be sent what was not asked for
// (strict_params without a seed of the model's own).
[[nodiscard]] std::optional<std::int64_t> sampling_seed(const config::SweepConfig& config,
                                                        const config::Model& model,
                                                        const config::WorkItem& item);

}  // namespace sweep::agent
