#include "device/conditions.h"

#include "device/cuda/telemetry.h"
#include "util/error.h"

#include <algorithm>
#include <utility>

namespace sweep::device {
namespace {

// Between calls the clocks rest; that says nothing about the calls.
constexpr const char* kIdle = "idle";

void take(std::optional<double>& into, const std::optional<double>& value, bool lowest) {
  if (value) {
    into = !into ? *value : lowest ? std::min(*into, *value) : std::max(*into, *value);
  }
}

}  // namespace

struct Monitor::Open {
  cuda::Telemetry telemetry;
};

Monitor::Monitor(Id id, const Info& info) {
  if (id.kind == Kind::cpu) {
    reason_ = "the cpu device has no NVML";
    return;
  }
  try {
    open_ = std::make_unique<Open>(Open{cuda::Telemetry::open(info.uuid)});
  } catch (const util::Error& error) {
    reason_ = error.what();
  }
}

Monitor::~Monitor() = default;
Monitor::Monitor(Monitor&&) noexcept = default;
Monitor& Monitor::operator=(Monitor&&) noexcept = default;

Conditions Monitor::read() const {
  Conditions made;
  if (open_ == nullptr) {
    made.reason = reason_;
    return made;
  }
  const cuda::Reading reading = open_->telemetry.read();
  made.sm_clock_mhz = reading.sm_clock_mhz;
  made.max_sm_clock_mhz = open_->telemetry.max_sm_clock_mhz();
  made.memory_clock_mhz = reading.memory_clock_mhz;
  made.temperature_c = reading.temperature_c;
  made.power_watts = reading.power_watts;
  made.throttle = cuda::throttle_names(reading.throttle_reasons.value_or(0));
  return made;
}

std::optional<double> Monitor::energy_joules() const {
  return open_ == nullptr ? std::nullopt : open_->telemetry.read().energy_joules;
}

std::optional<std::vector<unsigned>> Monitor::processes() const {
  return open_ == nullptr ? std::nullopt : open_->telemetry.read().foreign_processes;
}

std::vector<unsigned> Monitor::busy_since(double wall) const {
  return open_ == nullptr ? std::vector<unsigned>() : open_->telemetry.busy_since(wall);
}

bool Conditions::disturbed() const {
  return std::ranges::any_of(neighbours, &Neighbour::busy);
}

void add_neighbours(std::vector<Neighbour>& to, std::span<const Neighbour> more) {
  for (const Neighbour& one : more) {
    const auto known = std::ranges::find(to, one.pid, &Neighbour::pid);
    if (known == to.end()) {
      to.push_back(one);
    } else {
      known->busy = known->busy || one.busy;
    }
  }
}

Conditions worst_of(std::span<const Conditions> readings, const std::string& reason) {
  Conditions worst;
  worst.reason = readings.empty() ? reason : readings.front().reason;
  for (const Conditions& one : readings) {
    take(worst.sm_clock_mhz, one.sm_clock_mhz, true);
    take(worst.max_sm_clock_mhz, one.max_sm_clock_mhz, true);
    take(worst.memory_clock_mhz, one.memory_clock_mhz, true);
    take(worst.temperature_c, one.temperature_c, false);
    take(worst.power_watts, one.power_watts, false);
    for (const std::string& name : one.throttle) {
      if (name != kIdle && std::ranges::find(worst.throttle, name) == worst.throttle.end()) {
        worst.throttle.push_back(name);
      }
    }
    add_neighbours(worst.neighbours, one.neighbours);
    worst.reason = one.reason.empty() ? "" : worst.reason;
  }
  return worst;
}

}  // namespace sweep::device
