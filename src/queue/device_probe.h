#pragma once

#include "device/device.h"
#include "util/fd.h"
#include "util/process.h"

#include <filesystem>
#include <memory>
#include <string>

namespace sweep::queue {

// A look at a device after a fault while the caller goes on; behind a seam, since a test has no
// device that breaks.
class LaneProbe {
 public:
  virtual ~LaneProbe() = default;

  // Readable once the probe has ended.
  [[nodiscard]] virtual int fd() const = 0;

  // Why the device cannot be used; empty: it can. Once, after the end.
  [[nodiscard]] virtual std::string problem() = 0;
};

// `sweep __devices` in a process of its own, which opens the driver anew; 60 s at most.
[[nodiscard]] std::unique_ptr<LaneProbe> probe_device(const std::filesystem::path& program,
                                                      const device::Id& device);

}  // namespace sweep::queue
