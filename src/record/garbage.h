#pragma once

#include "record/run_dir.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace sweep::record {

// A file of a run that may go.
struct Garbage {
  enum class Kind {
    unfinished,  // a killed writer left it
    unnamed,     // an artifact that nothing in the run names
  };

  Kind kind{};
  std::filesystem::path file;
  std::uint64_t bytes = 0;
};

// What may be deleted of a run, sorted by path; nothing is changed. Kept is every artifact whose
// name stands anywhere in the ledger, the configuration or a trajectory, or in an artifact that is
// kept: 64 hex digits anywhere count as a name, so that nothing needed is missed. Hold the run's
// RunLock: a sweep at work writes artifacts before it names them. UsageError E_GC_BROKEN for a
// ledger that is not intact, E_GC_LINK where artifacts/ is a symbolic link.
[[nodiscard]] std::vector<Garbage> garbage_of(const RunDir& run);

}  // namespace sweep::record
