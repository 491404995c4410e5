#pragma once

#include "queue/devices.h"
#include "queue/prepare.h"
#include "queue/summary.h"
#include "record/ledger.h"

#include <string>
#include <vector>

namespace sweep::queue {

// What one start of a sweep works with; everything outlives it.
struct Session {
  const SweepOptions& options;
  const Installation& installation;
  const Plan& plan;
  const record::RunDir& run;
};

// This machine's name; "unknown" where it has none.
[[nodiscard]] std::string host_name();

// Starts the built-in servers, the live report and the workers, runs the tasks to their end and
// writes run_end. InfraError when the run's folder cannot be written.
[[nodiscard]] Stopped drive(const Session& s,
                            const std::vector<Lane>& lanes,
                            record::Ledger& ledger,
                            std::vector<Task> tasks);

}  // namespace sweep::queue
