#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace sweep::support {

// A made-up run of `items` trajectories for tests and measurements of the report: 10 models, two
// variants, up to three attempts, problems of five levels; every outcome, conversations of 1 to 14
// turns, judgements with samples. About 100 KB an item. The same arguments give the same bytes but
// for the ledger's times. Numbers mean nothing.
//
// hostile: one item in 50 holds texts that try to break a page: elements, scripts, control
// characters, marks that turn the direction of text, invalid UTF-8 (as U+FFFD), names that leave
// the folder; the first holds a line of 5 MiB. Two more files are no trajectories.
//
// The folder gets trajectories, kernel files, and a ledger with a plan and an end row, and must be
// new.
struct SyntheticRun {
  std::size_t items = 100;
  std::uint64_t seed = 1;
  bool hostile = true;
};

void make_synthetic_run(const std::filesystem::path& folder, const SyntheticRun& what);

}  // namespace sweep::support
