#pragma once

#include "cli/style.h"
#include "evaluate/baselines.h"

#include <cstddef>
#include <string>
#include <vector>

namespace sweep::cli {

// A line for each baseline of an evaluation: how the kernel stands against it.
[[nodiscard]] std::string shown_baselines_text(
    const std::vector<evaluate::ShownBaseline>& baselines, const Style& style, std::size_t width);

// The table of a device at `now` (seconds since 1970); of these problems only, if any are given.
[[nodiscard]] std::string baselines_text(const evaluate::BaselineTable& table,
                                         const std::vector<std::string>& problems,
                                         const Style& style,
                                         std::size_t width,
                                         double now);

}  // namespace sweep::cli
