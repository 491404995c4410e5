#include "evaluate/calibration.h"

#include "evaluate/device_file.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sweep::evaluate {
namespace {

constexpr std::size_t kMaxFile = std::size_t{1} << 20U;

// The same for the same content on every machine.
std::string id_of(Calibration calibration) {
  calibration.id.clear();
  return util::sha256_hex(to_json(calibration).dump()).substr(0, 16);
}

}  // namespace

std::optional<NoiseFloors> floors_of(const Calibration& calibration, double now) {
  NoiseFloors floors{calibration.id, std::max(now - calibration.made, 0.0), {}};
  for (const CalibratedBand& band : calibration.bands) {
    if (band.name.starts_with("copy ") && band.sessions > 0) {
      floors.bands.emplace_back(band.seconds, band.half_width);
    }
  }
  std::ranges::sort(floors.bands);
  return floors.bands.empty() ? std::nullopt : std::optional(std::move(floors));
}

double half_width_for(const NoiseFloors& floors, double seconds) {
  double best = std::numeric_limits<double>::infinity(), half_width = 0;
  for (const auto& [nominal, width] : floors.bands) {
    const double distance = std::abs(std::log(std::max(seconds, 1e-9) / nominal));
    if (distance < best) {
      best = distance;
      half_width = width;
    }
  }
  return half_width;
}

std::filesystem::path calibration_file(const std::filesystem::path& cache,
                                       const device::Info& info) {
  return device_file(cache, "calibration", info);
}

void store_calibration(const std::filesystem::path& cache, Calibration& calibration) {
  calibration.id = id_of(calibration);
  const std::filesystem::path file = calibration_file(cache, calibration.device);
  util::make_folders(file.parent_path());
  util::write_file_atomic(file, to_json(calibration).dump(2) + "\n");
}

FoundCalibration find_calibration(const std::filesystem::path& cache, const device::Info& info) {
  const std::filesystem::path file = calibration_file(cache, info);
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    const bool other = has_other_driver(file.parent_path(), info);
    return {std::nullopt,
            other ? "made with another driver than " + info.driver : "this device has none"};
  }
  try {
    const std::string text = util::read_file(file, kMaxFile, util::Links::refuse);
    Calibration found = calibration_from_json(wire::parse_object(text, file.string()));
    if (found.device.uuid != info.uuid || found.device.driver != info.driver) {
      return {std::nullopt, file.string() + " is of another device"};
    }
    if (found.id != id_of(found)) {
      return {std::nullopt, file.string() + " was altered: its id is not that of its content"};
    }
    return {std::move(found), ""};
  } catch (const util::Error& failure) {
    return {std::nullopt, failure.what()};
  }
}

std::optional<NoiseFloors> noise_floors(const std::filesystem::path& cache,
                                        device::Kind kind,
                                        const device::Info& info,
                                        double now) {
  if (kind == device::Kind::cpu) {
    return std::nullopt;
  }
  const FoundCalibration found = find_calibration(cache, info);
  return found.calibration ? floors_of(*found.calibration, now) : std::nullopt;
}

}  // namespace sweep::evaluate
