#pragma once

#include "profile/report.h"
#include "profile/subject.h"

namespace sweep::profile {

// Nsight Compute over one replay of the plan on the largest visible shape, under the device's
// shared lock, clocks left alone: its report file, and the summary that ncu makes of it. At most
// kMostProfiled launches. With Wanted::compare what the same file showed the last time on this GPU
// stands in Metric::before, and this profile takes its place in the cache folder.
[[nodiscard]] Result<NcuReport> profile(const evaluate::EvaluationRequest& request,
                                        const evaluate::Services& services,
                                        const evaluate::Evaluation& evaluation,
                                        const Subject& subject,
                                        const Wanted& wanted);

inline constexpr int kMostProfiled = 16;

}  // namespace sweep::profile
