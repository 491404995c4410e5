#pragma once

#include "util/fd.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace sweep::util {

// Tells when files were saved, whichever way an editor does it: written in place, or another file
// renamed over. A file or folder that vanishes is waited for. inotify wakes it; it also looks twice
// a second, since network file systems and replaced folders send nothing and inotify may have run
// out of watches.
class FileWatch {
 public:
  // `quiet`: seconds without a further change after which a save counts as done. Files need not
  // exist.
  explicit FileWatch(std::vector<std::filesystem::path> files, double quiet = 0.1);

  // True once some file differs from what the last true saw (at first: the constructor), all exist
  // and none changed for `quiet` seconds; a file that changes without a pause counts after 20 times
  // that. False when `seconds` have passed first.
  [[nodiscard]] bool wait(double seconds);

  // The first file that does not exist now.
  [[nodiscard]] std::optional<std::filesystem::path> missing() const;

 private:
  // What a save changes: content in place, or the file behind the name.
  struct Stamp {
    std::uint64_t device = 0, inode = 0;
    std::int64_t bytes = -1;   // -1: does not exist
    std::int64_t changed = 0;  // nanoseconds since 1970

    bool operator==(const Stamp&) const = default;
  };

  [[nodiscard]] static Stamp stamp(const std::filesystem::path& file);
  [[nodiscard]] std::vector<Stamp> look() const;
  [[nodiscard]] std::vector<Stamp> settled(std::vector<Stamp> now);
  void arm();
  void sleep_until_event(double seconds);

  std::vector<std::filesystem::path> files_;
  double quiet_;
  Fd inotify_;
  std::vector<Stamp> seen_;
};

}  // namespace sweep::util
