#pragma once

#include "profile/tools.h"
#include "queue/prepare.h"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sweep::queue {

// Folders in which the scripts of built-in models are looked for.
[[nodiscard]] std::array<std::filesystem::path, 2> script_places(const config::SweepConfig& config,
                                                                 const Installation& installation);

// Built-in models whose folder of scripts is not there, is wrong, or has none for them, each with
// why.
[[nodiscard]] std::vector<std::pair<std::string, util::Message>> missing_scripts(
    const Plan& plan, const Installation& installation);

// Before the run begins, since a run keeps the base_url that it began with: UsageError
// E_SWEEP_SCRIPTS with the first of them.
void check_scripts(const Plan& plan, const Installation& installation);

// Where a chosen problem requires instructions (policy `gate`) on a GPU and no disassembler is
// found, so that each result would be INFRA_JUDGE: which and what to do.
[[nodiscard]] std::optional<util::Message> missing_disassembler(const Plan& plan,
                                                                const Installation& installation,
                                                                const profile::ToolSearch& search);

}  // namespace sweep::queue
