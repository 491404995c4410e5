#pragma once

#include "queue/devices.h"
#include "queue/prepare.h"
#include "queue/share.h"
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
// writes run_end (task_end with a share). `before`: all rows of a run that tasks worked on; empty:
// the ledger has them. InfraError when the run's folder cannot be written.
[[nodiscard]] Stopped drive(const Session& s,
                            const std::vector<Lane>& lanes,
                            record::Ledger& ledger,
                            std::vector<Task> tasks,
                            std::vector<record::Row> before = {},
                            Share* share = nullptr);

}  // namespace sweep::queue
