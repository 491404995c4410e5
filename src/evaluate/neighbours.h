#pragma once

#include "device/conditions.h"
#include "device/device.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Other programs that have the device open while it is locked for timing.
namespace sweep::evaluate {

// A living process as /proc shows it to this one.
struct ProcessFacts {
  int parent = 0;
  std::vector<int> numbers;  // its pid here, and in each namespace below
  std::string name;          // of its program, 15 bytes at most
};

using LookUp = std::function<std::optional<ProcessFacts>(int pid)>;

// From the text of /proc/PID/status; nothing where that is not one.
[[nodiscard]] std::optional<ProcessFacts> facts_from_status(std::string_view text);

// Those of `computing` that do not keep off a locked device: neither announced in `sharing` (with
// the number of any namespace) nor started by one that is. A process that `look_up` does not find
// is none: it has ended, or lives where this process cannot see. `busy`: seen computing meanwhile.
// CUDA's MPS server, through which others compute, is none either.
[[nodiscard]] std::vector<device::Neighbour> neighbours_of(std::span<const unsigned> computing,
                                                           std::span<const unsigned> busy,
                                                           const std::set<int>& sharing,
                                                           const LookUp& look_up);

// Looks at one device through NVML, from a process that sees the machine's others: a judge in a
// namespace of its own sees none. Never throws: what cannot be read is no neighbour.
class Neighbours {
 public:
  Neighbours(device::Id id, const device::Info& info, std::filesystem::path locks);

  // The lock was taken just now; busy() is about what comes.
  void begin();

  // Who is there now.
  [[nodiscard]] std::vector<device::Neighbour> look();

 private:
  device::Monitor monitor_;
  std::string uuid_;
  std::filesystem::path locks_;
  double since_ = 0;  // wall clock
};

}  // namespace sweep::evaluate
