#pragma once

#include "device/cuda/shared_library.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sweep::device::cuda {

// What NVML says of a device at one moment; a field that the driver does not give is empty.
struct Reading {
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> temperature_c;
  std::optional<double> power_watts;
  std::optional<double> energy_joules;            // since the driver was loaded
  std::optional<std::uint64_t> throttle_reasons;  // NVML's bits; 0 = none
  std::optional<std::vector<unsigned>>
      foreign_processes;  // pids that compute on it, this one left out
};

// Names of the set bits of Reading::throttle_reasons: "power cap", "thermal (hardware)"; an unknown
// bit by its number.
[[nodiscard]] std::vector<std::string> throttle_names(std::uint64_t reasons);

// NVML, opened at run time, looking at one device. Reads only: sets no clock, no limit, no mode.
class Telemetry {
 public:
  // `uuid` as Info::uuid. Throws util::UsageError E_NO_NVML (library missing) or util::InfraError
  // E_NVML.
  [[nodiscard]] static Telemetry open(const std::string& uuid);
  [[nodiscard]] static Telemetry open(const std::string& uuid,
                                      std::span<const std::filesystem::path> candidates);

  Telemetry(Telemetry&& other) noexcept;
  Telemetry& operator=(Telemetry&&) = delete;
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;
  ~Telemetry();

  [[nodiscard]] Reading read() const;

  // Pids, as foreign_processes, that used the multiprocessors since an instant of the wall clock,
  // in seconds; empty where the driver does not say.
  [[nodiscard]] std::vector<unsigned> busy_since(double wall) const;

  // Highest clock of the multiprocessors, MHz.
  [[nodiscard]] std::optional<double> max_sm_clock_mhz() const;

  // As NVML writes it, "580.159.04"; empty where it cannot be read.
  [[nodiscard]] std::string driver_version() const;

 private:
  using Handle = void*;
  using Status = int;

  struct Api {
    Status (*init)() = nullptr;
    Status (*shutdown)() = nullptr;
    const char* (*error_string)(Status) = nullptr;
    Status (*by_uuid)(const char*, Handle*) = nullptr;
    Status (*clock)(Handle, int, unsigned*) = nullptr;
    Status (*max_clock)(Handle, int, unsigned*) = nullptr;
    Status (*temperature)(Handle, int, unsigned*) = nullptr;
    Status (*power)(Handle, unsigned*) = nullptr;
    Status (*energy)(Handle, unsigned long long*) = nullptr;
    Status (*throttle)(Handle, unsigned long long*) = nullptr;
    Status (*processes)(Handle, unsigned*, void*) = nullptr;
    Status (*utilization)(Handle, void*, unsigned*, unsigned long long) = nullptr;
    Status (*driver)(char*, unsigned) = nullptr;
  };

  explicit Telemetry(SharedLibrary library);

  [[nodiscard]] std::optional<std::vector<unsigned>> foreign() const;

  SharedLibrary library_;
  Api api_;
  bool initialised_ = false;
  Handle device_ = nullptr;
};

}  // namespace sweep::device::cuda
