#include "device/cuda/telemetry.h"

#include "util/error.h"

#include <algorithm>
#include <array>
#include <utility>

#include <unistd.h>

namespace sweep::device::cuda {
namespace {

// NVML's C interface as documented (nvml.h is not part of every toolkit, so it is declared here).
constexpr int kNvmlSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr int kClockSm = 1;
constexpr int kClockMemory = 2;
constexpr int kTemperatureGpu = 0;

// nvmlProcessInfo_t, version 2 and 3 of the call.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

// nvmlProcessUtilizationSample_t; the time is in microseconds of the wall clock.
struct UtilizationSample {
  unsigned pid;
  unsigned long long time;
  unsigned multiprocessors, memory, encoder, decoder;  // percent
};

constexpr std::array<std::pair<std::uint64_t, const char*>, 9> kThrottle{{
    {0x001, "idle"},
    {0x002, "application clocks"},
    {0x004, "power cap"},
    {0x008, "hardware slowdown"},
    {0x010, "sync boost"},
    {0x020, "thermal (software)"},
    {0x040, "thermal (hardware)"},
    {0x080, "power brake"},
    {0x100, "display clocks"},
}};

}  // namespace

std::vector<std::string> throttle_names(std::uint64_t reasons) {
  std::vector<std::string> out;
  for (const auto& [bit, name] : kThrottle) {
    if ((reasons & bit) != 0) {
      out.emplace_back(name);
      reasons &= ~bit;
    }
  }
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((reasons >> bit & 1U) != 0) {
      out.push_back("bit " + std::to_string(bit));
    }
  }
  return out;
}

Telemetry::Telemetry(SharedLibrary library) : library_(std::move(library)) {}

Telemetry::Telemetry(Telemetry&& other) noexcept
    : library_(std::move(other.library_)),
      api_(other.api_),
      initialised_(std::exchange(other.initialised_, false)),
      device_(other.device_) {}

Telemetry::~Telemetry() {
  if (initialised_) {
    api_.shutdown();
  }
}

Telemetry Telemetry::open(const std::string& uuid) {
  const std::array<std::filesystem::path, 1> candidates{"libnvidia-ml.so.1"};
  return open(uuid, candidates);
}

Telemetry Telemetry::open(const std::string& uuid,
                          std::span<const std::filesystem::path> candidates) {
  std::string reasons;
  auto library = SharedLibrary::open(candidates, reasons);
  if (!library) {
    throw util::UsageError({"nvml",
                            "libnvidia-ml.so.1 not found (" + reasons + ")",
                            "install the NVIDIA driver's utilities; in a container set "
                            "NVIDIA_DRIVER_CAPABILITIES=compute,utility"},
                           "E_NO_NVML");
  }
  Telemetry out(std::move(*library));
  const SharedLibrary& from = out.library_;
  Api& api = out.api_;
  bool complete = resolve(from, "nvmlInit_v2", api.init);
  complete = resolve(from, "nvmlShutdown", api.shutdown) && complete;
  complete = resolve(from, "nvmlErrorString", api.error_string) && complete;
  complete = resolve(from, "nvmlDeviceGetHandleByUUID", api.by_uuid) && complete;
  if (!complete) {
    throw util::UsageError(
        {"nvml", "libnvidia-ml.so.1 lacks basic functions", "install driver 580 or newer"},
        "E_NO_NVML");
  }
  // The others may be missing: their fields stay empty.
  static_cast<void>(resolve(from, "nvmlDeviceGetClockInfo", api.clock));
  static_cast<void>(resolve(from, "nvmlDeviceGetMaxClockInfo", api.max_clock));
  static_cast<void>(resolve(from, "nvmlDeviceGetTemperature", api.temperature));
  static_cast<void>(resolve(from, "nvmlDeviceGetPowerUsage", api.power));
  static_cast<void>(resolve(from, "nvmlDeviceGetTotalEnergyConsumption", api.energy));
  static_cast<void>(resolve(from, "nvmlDeviceGetCurrentClocksThrottleReasons", api.throttle));
  static_cast<void>(resolve(from, "nvmlDeviceGetComputeRunningProcesses_v3", api.processes));
  static_cast<void>(resolve(from, "nvmlDeviceGetProcessUtilization", api.utilization));
  static_cast<void>(resolve(from, "nvmlSystemGetDriverVersion", api.driver));
  const auto check = [&](Status status, const char* call) {
    if (status != kNvmlSuccess) {
      throw util::InfraError({"nvml",
                              std::string(call) + " failed: " + api.error_string(status),
                              "run nvidia-smi to see the driver's state"},
                             "E_NVML");
    }
  };
  check(api.init(), "nvmlInit");
  out.initialised_ = true;
  check(api.by_uuid(uuid.c_str(), &out.device_), "nvmlDeviceGetHandleByUUID");
  return out;
}

namespace {

// Value of a call that may be missing or unsupported on this device, times `scale`.
template <typename Value, typename Function, typename... Arguments>
std::optional<Value> ask(Function function, Arguments... arguments) {
  Value value{};
  if (function == nullptr || function(arguments..., &value) != kNvmlSuccess) {
    return std::nullopt;
  }
  return value;
}

template <typename Value>
std::optional<double> scaled(std::optional<Value> value, double scale) {
  if (!value) {
    return std::nullopt;
  }
  return static_cast<double>(*value) * scale;
}

}  // namespace

Reading Telemetry::read() const {
  Reading out;
  out.sm_clock_mhz = scaled(ask<unsigned>(api_.clock, device_, kClockSm), 1);
  out.memory_clock_mhz = scaled(ask<unsigned>(api_.clock, device_, kClockMemory), 1);
  out.temperature_c = scaled(ask<unsigned>(api_.temperature, device_, kTemperatureGpu), 1);
  out.power_watts = scaled(ask<unsigned>(api_.power, device_), 1e-3);
  out.energy_joules = scaled(ask<unsigned long long>(api_.energy, device_), 1e-3);
  if (const auto reasons = ask<unsigned long long>(api_.throttle, device_)) {
    out.throttle_reasons = *reasons;
  }
  out.foreign_processes = foreign();
  return out;
}

std::optional<std::vector<unsigned>> Telemetry::foreign() const {
  if (api_.processes == nullptr) {
    return std::nullopt;
  }
  std::array<ProcessInfo, 256> found{};
  unsigned count = found.size();
  const Status status = api_.processes(device_, &count, found.data());
  if (status != kNvmlSuccess && status != kInsufficientSize) {
    return std::nullopt;
  }
  std::vector<unsigned> out;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, found.size()); ++i) {
    if (found[i].pid != static_cast<unsigned>(getpid())) {
      out.push_back(found[i].pid);
    }
  }
  return out;
}

std::vector<unsigned> Telemetry::busy_since(double wall) const {
  if (api_.utilization == nullptr || !(wall > 0)) {
    return {};
  }
  const auto since = static_cast<unsigned long long>(wall * 1e6);
  std::array<UtilizationSample, 256> samples{};
  unsigned count = samples.size();
  if (api_.utilization(device_, samples.data(), &count, since) != kNvmlSuccess) {
    return {};  // also where nobody has a sample
  }
  std::vector<unsigned> busy;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, samples.size()); ++i) {
    const UtilizationSample& one = samples[i];
    if (one.time > since && one.multiprocessors > 0 && one.pid != static_cast<unsigned>(getpid()) &&
        std::find(busy.begin(), busy.end(), one.pid) == busy.end()) {
      busy.push_back(one.pid);
    }
  }
  return busy;
}

std::optional<double> Telemetry::max_sm_clock_mhz() const {
  return scaled(ask<unsigned>(api_.max_clock, device_, kClockSm), 1);
}

std::string Telemetry::driver_version() const {
  std::array<char, 81> text{};
  if (api_.driver == nullptr ||
      api_.driver(text.data(), static_cast<unsigned>(text.size() - 1)) != kNvmlSuccess) {
    return {};
  }
  return text.data();
}

}  // namespace sweep::device::cuda
