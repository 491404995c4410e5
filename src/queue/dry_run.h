#pragma once

#include "queue/prepare.h"
#include "record/run_dir.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace sweep::queue {

// What a sweep would do now: the matrix, what of it is finished, and what the rest may cost.
struct DryRun {
  const Plan& plan;
  std::map<std::string, Task> tasks;  // of the chosen items, by item id
  std::vector<config::WorkItem> left;
  Standing standing;
  std::string folder;
  Lacking lacking;
};

// Reads the run's folder; takes no lock, writes nothing. `plan` must outlive the result.
[[nodiscard]] DryRun dry_run(const Plan& plan,
                             const Installation& installation,
                             const record::RunDir& run,
                             Retry retry);

[[nodiscard]] std::string text(const DryRun& dry);
[[nodiscard]] nlohmann::json to_json(const DryRun& dry);

}  // namespace sweep::queue
