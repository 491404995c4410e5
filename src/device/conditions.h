#pragma once

#include "device/device.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sweep::device {

// What a GPU ran at. A field that could not be read is empty; `reason` says why nothing was read.
struct Conditions {
  std::optional<double> sm_clock_mhz, max_sm_clock_mhz, memory_clock_mhz;
  std::optional<double> temperature_c, power_watts;
  std::vector<std::string> throttle;  // why clocks were held back: "power cap"
  std::string reason;                 // empty where anything was read
};

// Reads a device's conditions through NVML, which is opened once. Sets nothing on the device.
class Monitor {
 public:
  // Never throws: what cannot be opened is the reason of every reading.
  Monitor(Id id, const Info& info);
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  ~Monitor();
  Monitor(Monitor&&) noexcept;
  Monitor& operator=(Monitor&&) noexcept;

  [[nodiscard]] Conditions read() const;

  // Joules since the driver was loaded; empty where NVML does not count them.
  [[nodiscard]] std::optional<double> energy_joules() const;

 private:
  struct Open;
  std::unique_ptr<Open> open_;
  std::string reason_;
};

// The least favourable of several readings: lowest clocks, highest temperature and power, every
// reason for throttling but "idle". Of none: `reason`.
[[nodiscard]] Conditions worst_of(std::span<const Conditions> readings, const std::string& reason);

}  // namespace sweep::device
