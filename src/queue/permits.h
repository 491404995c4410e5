#pragma once

#include "util/lock.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sweep::queue {

// Slots shared by all processes of a machine: `count` lock files `NAME.slot0..`; a holder's death
// frees its slot.
class Slots {
 public:
  // `name` is one path part; count >= 1.
  Slots(std::filesystem::path folder, std::string name, std::int64_t count);

  // A free slot, waiting for one. None only when `keep_waiting` (asked about ten times a second)
  // says so.
  [[nodiscard]] std::optional<util::FileLock> take(const util::WaitCallback& keep_waiting) const;

 private:
  std::filesystem::path folder_;
  std::string name_;
  std::int64_t count_;
};

}  // namespace sweep::queue
