#pragma once

#include "compile/job.h"

#include <filesystem>
#include <optional>
#include <string>

namespace sweep::compile {

// Outcomes on disk, one file a key. A file whose content does not match the hash it starts with, or
// that cannot be read, counts as absent.
class Cache {
 public:
  // Makes the folder (0700) on the first store.
  explicit Cache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // `key` is 64 hex digits.
  [[nodiscard]] std::optional<Outcome> find(const std::string& key) const;

  // Failing to write costs time at the next call, nothing else: no error.
  void store(const std::string& key, const Outcome& outcome) const;

 private:
  [[nodiscard]] std::filesystem::path file(const std::string& key) const;

  std::filesystem::path folder_;
};

// $SWEEP_CACHE_DIR, else $XDG_CACHE_HOME/sweep, else ~/.cache/sweep, else /tmp/sweep-cache-UID.
[[nodiscard]] std::filesystem::path default_cache_folder();

}  // namespace sweep::compile
