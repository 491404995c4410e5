#pragma once

#include "evaluate/judge_stages.h"

namespace sweep::evaluate {

// Energy of a call of both arms at one shape, by NVML's counter around rows of calls of about a
// second each: two contents, each arm once on each, first one and then the other, the device alone,
// caches as the calls leave them. Outputs are not compared: the figure decides nothing. Where it
// cannot be had `reason` says why; never throws for a failing candidate.
[[nodiscard]] EnergyResult run_energy(Session& session,
                                      const Place& place,
                                      const problem::Key& key);

// Calls of a row that lasts about a second; at least 1.
[[nodiscard]] int energy_calls(double call_seconds);

}  // namespace sweep::evaluate
