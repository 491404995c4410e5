#include "evaluate/calibration.h"

#include "compile/cache.h"
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

std::string safe_name(const std::string& text) {
  std::string out;
  for (const char c : text.substr(0, 100)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.';
    out += plain ? c : '_';
  }
  return out;
}

std::filesystem::path folder_of(const std::filesystem::path& cache) {
  return (cache.empty() ? compile::default_cache_folder() : cache) / "calibration";
}

// The same for the same content on every machine.
std::string id_of(Calibration calibration) {
  calibration.id.clear();
  return util::sha256_hex(to_json(calibration).dump()).substr(0, 16);
}

// Another driver's calibration of the same device, by file name.
bool other_driver(const std::filesystem::path& folder, const device::Info& info) {
  constexpr int kMostFiles = 1000;
  std::error_code error;
  int seen = 0;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().filename().string().starts_with(safe_name(info.uuid) + "-")) {
      return true;
    }
    if (++seen >= kMostFiles) {
      break;
    }
  }
  return false;
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
  return folder_of(cache) / (safe_name(info.uuid) + "-" + safe_name(info.driver) + ".json");
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
    const bool other = other_driver(file.parent_path(), info);
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
