#pragma once

#include "evaluate/calibration.h"
#include "evaluate/evaluation.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

// What a kernel reaches, from its times, the problem's work and what the device was measured to
// reach. docs/timing.md has the formulas.
namespace sweep::evaluate {

// The ceilings that a device's calibration holds, or why there are none.
struct Ceilings {
  std::vector<Figure> figures;
  std::string reason;
};

[[nodiscard]] Ceilings ceilings_of(const std::filesystem::path& cache,
                                   device::Kind kind,
                                   const device::Info& info);

// For each shape in this order: bytes_per_second, flop_per_second, roofline, speed_of_light,
// launch_ratio, memory_ratio, throughput_per_call, throughput_ratio, energy_per_call, energy_ratio.
// Each has a value or says why it has none. Empty without timed shapes.
[[nodiscard]] std::vector<Metric> metrics_of(const TimeResult& time,
                                             device::Kind kind,
                                             const Ceilings& ceilings);

// The metric of that name and shape; null where there is none.
[[nodiscard]] const Metric* find_metric(const std::vector<Metric>& metrics,
                                        std::string_view name,
                                        std::string_view shape);

[[nodiscard]] nlohmann::json to_json(const std::vector<Metric>& metrics);
// Throws wire::WireError for anything but what to_json() made.
[[nodiscard]] std::vector<Metric> metrics_from_json(const nlohmann::json& list);

}  // namespace sweep::evaluate
