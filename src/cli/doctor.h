#pragma once

#include "device/device.h"

#include <string>
#include <vector>

namespace sweep::cli {

// One thing that this machine has or lacks. `needed`: without it model code is refused or the asked
// device does not work.
struct Diagnosis {
  std::string group;  // "device", "compiler", "profiling", "judge's sandbox", ..., "files"
  std::string name;
  bool good = false;
  bool needed = false;
  std::string detail;
  std::string cure;  // when it is not good; empty: `detail` says what to do
};

// All that matters for work on `asked`: devices, compilers, profiling tools, sandboxes, problems.
// Opens the drivers in this process, and starts a judge and a runner. What fails is a finding.
[[nodiscard]] std::vector<Diagnosis> examine_machine(device::Id asked);

}  // namespace sweep::cli
