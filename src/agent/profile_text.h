#pragma once

#include "evaluate/calibration.h"
#include "profile/report.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace sweep::agent {

// What Nsight Compute found, for a model to act on: the slowest launches with what bounds each, its
// figures ("was ..": in the conversation's last profile), and hints that follow from them by fixed
// rules. `sm_count` of the device; 0: unknown. `last`: what profile_facts() made of the last
// profile; null: none.
[[nodiscard]] std::string profile_text(const profile::NcuReport& report,
                                       int sm_count,
                                       const nlohmann::json& last);

// Summary for the record and for the next comparison: shape, total time in seconds, bottleneck and
// top stall of the slowest launch, and profile::summary_of().
[[nodiscard]] nlohmann::json profile_facts(const profile::NcuReport& report);

// Instructions and resources of each kernel, and what is noteworthy about them.
[[nodiscard]] std::string sass_text(const profile::SassReport& report);
[[nodiscard]] nlohmann::json sass_facts(const profile::SassReport& report);

// Findings of each checker of compute-sanitizer.
[[nodiscard]] std::string sanitizer_text(const profile::SanitizerReport& report);

// Whether at least one checker worked and none found anything.
[[nodiscard]] bool nothing_found(const profile::SanitizerReport& report);

// What this GPU was measured to reach (`sweep calibrate`), with the ridge points that follow.
[[nodiscard]] std::string roofline_text(const evaluate::Calibration& calibration);
[[nodiscard]] nlohmann::json roofline_facts(const evaluate::Calibration& calibration);

}  // namespace sweep::agent
