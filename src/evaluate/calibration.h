#pragma once

#include "evaluate/evaluation.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What `sweep calibrate` measured on a device, and what evaluations take from it.
namespace sweep::evaluate {

// A kernel against itself, for calls of about `seconds`.
struct CalibratedBand {
  std::string name;             // "10 us", "gemm 9 us"
  double seconds = 0;           // nominal
  double measured_seconds = 0;  // median call
  int sessions = 0;
  // What the margin rests on, relative: |mean log ratio| of the sessions plus half the width of one
  // session's 95% interval by the variance pooled over them.
  double half_width = 0;
  double ratio_q95 = 0;       // 95% quantile of |ln ratio| over the sessions
  double half_width_q95 = 0;  // the same of the half-widths of their intervals
  int excludes_one = 0;       // intervals that do not contain 1
  std::map<std::string, int, std::less<>> verdicts;  // "PASS_EQUIVALENT" -> sessions
};

// One measured figure: a ceiling or an overhead.
struct Figure {
  std::string name;  // "DRAM read"
  double value = 0;
  std::string unit;  // "B/s", "op/s", "s"
  std::string note;
};

// Something that must come out in a known way.
struct ControlResult {
  std::string name;  // "3% slower, 30 us"
  bool passed = false;
  Interval ratio;
  std::string text;
};

struct Calibration {
  std::string id;       // 16 hex digits of the SHA-256 of the rest
  double made = 0;      // seconds since 1970
  std::string version;  // of this program
  device::Info device;
  std::vector<CalibratedBand> bands;  // in order of `seconds`
  std::vector<Figure> figures;
  std::vector<ControlResult> controls;
  std::vector<std::pair<std::string, std::string>> absent;  // what was not measured, and why
};

// What an evaluation takes to its judge.
struct NoiseFloors {
  std::string id;
  double age_seconds = 0;
  std::vector<std::pair<double, double>> bands;  // seconds of a call -> half-width, ascending
};

// Above this a calibration is called old; it still counts.
inline constexpr double kCalibrationDays = 30;

// Of the copies only: bands of other kernels are kept for reading. None without a copy band.
[[nodiscard]] std::optional<NoiseFloors> floors_of(const Calibration& calibration, double now);

// Half-width of the band next to a call of `seconds` by ratio, and of the last one beyond the ends.
[[nodiscard]] double half_width_for(const NoiseFloors& floors, double seconds);

// Schema 1.
[[nodiscard]] nlohmann::json to_json(const Calibration& calibration);
// Throws wire::WireError for anything but what to_json() made: at most 1000 entries in a list,
// half-widths from 0 to 1.
[[nodiscard]] Calibration calibration_from_json(const nlohmann::json& body);

// `cache`/calibration/UUID-DRIVER.json, or cpu.json; an empty `cache` is the compiler's default
// folder. Characters that a name should not have are replaced.
[[nodiscard]] std::filesystem::path calibration_file(const std::filesystem::path& cache,
                                                     const device::Info& info);

// Sets `id` and replaces the file of the device and driver in one step.
void store_calibration(const std::filesystem::path& cache, Calibration& calibration);

// The file may be anyone's: at most 1 MiB is read, and what it says is checked.
struct FoundCalibration {
  std::optional<Calibration> calibration;
  std::string reason;  // why there is none: "sweep calibrate was not run on this GPU and driver"
};

[[nodiscard]] FoundCalibration find_calibration(const std::filesystem::path& cache,
                                                const device::Info& info);

// Those of the device's calibration, for an evaluation at `now`. None for the cpu device, where
// what else the machine does decides the noise, from minute to minute.
[[nodiscard]] std::optional<NoiseFloors> noise_floors(const std::filesystem::path& cache,
                                                      device::Kind kind,
                                                      const device::Info& info,
                                                      double now);

}  // namespace sweep::evaluate
