#pragma once

#include "device/device.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sweep::device {

// Another program that has the GPU open to compute and keeps off no lock.
struct Neighbour {
  int pid = 0;  // as this machine's users see it
  std::string name;
  bool busy = false;  // it was seen to compute while the GPU was locked; false: not known
};

// What a GPU ran at. A field that could not be read is empty; `reason` says why nothing was read.
struct Conditions {
  std::optional<double> sm_clock_mhz, max_sm_clock_mhz, memory_clock_mhz;
  std::optional<double> temperature_c, power_watts;
  std::vector<std::string> throttle;  // why clocks were held back: "power cap"
  std::string reason;                 // empty where anything was read
  std::vector<Neighbour> neighbours = {};

  // Whether another program computed beside what was timed.
  [[nodiscard]] bool disturbed() const;
};

// Adds what is new of `more`; who was busy once is.
void add_neighbours(std::vector<Neighbour>& to, std::span<const Neighbour> more);

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

  // Processes that have the device open to compute, this one left out, by their numbers here;
  // nothing where NVML does not say.
  [[nodiscard]] std::optional<std::vector<unsigned>> processes() const;

  // Those that used its multiprocessors since an instant of the wall clock. NVML samples a few
  // times a second: one that it has not come to is not among them.
  [[nodiscard]] std::vector<unsigned> busy_since(double wall) const;

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
