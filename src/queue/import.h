#pragma once

#include "queue/sweep.h"
#include "record/run_dir.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace sweep::queue {

struct Imported {
  std::size_t trajectories = 0;
  std::vector<std::string> refused;  // "FILE: what is wrong; what to do"
};

// Copies the trajectories of a PopcornBench run folder (VARIANT/MODEL/level_L_problem_P_
// trajectory.json) into a new run, to be read in our pages beside our own. Their numbers were
// measured otherwise: each is marked `foreign`, has verdict FOREIGN, no speedup of ours, and counts
// in no rate, mean or comparison; what upstream measured stands under final_result.metadata.foreign
// as it was. A file that is no such trajectory, too large, a link or a second one of its item is
// refused by name and the rest goes on. UsageError E_IMPORT_SOURCE, E_IMPORT_OUT (`run` holds
// something), E_IMPORT_NOTHING; InfraError E_RUN_WRITE.
[[nodiscard]] Imported import_run(const std::filesystem::path& source,
                                  const record::RunDir& run,
                                  const std::string& version);

}  // namespace sweep::queue
