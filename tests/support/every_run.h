#pragma once

#include "util/file.h"

#include <cstdlib>
#include <filesystem>
#include <string>

namespace sweep::test {

// Whether a problem's own tests run in every run: those of the slate
// `popcorn2` and of levels without a slate (ptx, sci). All 98 would take CI over its time; with
// SWEEP_PROBLEMS_ALL set (torture.all_*) all of them do.
inline bool in_every_run(const std::filesystem::path& problem) {
  const bool numbered = problem.parent_path().filename().string().starts_with("level");
  return std::getenv("SWEEP_PROBLEMS_ALL") != nullptr || !numbered ||
         util::read_file(problem / "problem.toml", std::size_t{1} << 20U).find("\"popcorn2\"") !=
             std::string::npos;
}

}  // namespace sweep::test
