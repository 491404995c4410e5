#pragma once

#include "config/config.h"

#include <vector>

namespace sweep::agent {

// What a configuration asks for and the device, or the problems, make void: one line for each, for
// whoever starts the run. `cpu`: the device is the emulation; `families`: a problem of the run
// names families of instructions. What adapts by itself (ptx_hub = "auto") is not named.
[[nodiscard]] std::vector<config::Diagnostic> without_effect(const config::SweepConfig& config,
                                                             bool cpu,
                                                             bool families);

}  // namespace sweep::agent
