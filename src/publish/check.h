#pragma once

#include "agent/recompute.h"
#include "publish/publication.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sweep::publish {

struct BundleCheck {
  Publication publication;
  std::string cite;                 // SHA-256 of publication.json
  std::size_t files = 0;            // compared with their hashes
  std::size_t redacted = 0;         // of them, changed before they were published
  std::size_t artifacts = 0;        // whose bytes hash to their name
  std::size_t bound = 0;            // trajectories that are what the ledger says, byte by byte
  std::size_t bound_results = 0;    // redacted ones whose evaluation an unredacted artifact has
  std::vector<std::string> broken;  // "file: what is wrong"
  agent::Recomputed again;          // those results; its findings are in `broken`, too

  // Set when a salt was given: whether the ledger committed to it.
  std::optional<bool> salt_known;

  [[nodiscard]] bool intact() const { return broken.empty() && salt_known.value_or(true); }
};

// Checks a published bundle: every file against publication.json, nothing besides; the chain; what
// the ledger says of files that were not redacted; numbers from samples. `salt`: its bytes, empty:
// not revealed. Hostile folder. InfraError E_PUBLICATION where there is no publication to read.
[[nodiscard]] BundleCheck check_bundle(const std::filesystem::path& folder,
                                       const std::string& salt);

}  // namespace sweep::publish
