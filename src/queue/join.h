#pragma once

#include "record/run_dir.h"
#include "util/clock.h"

#include <cstddef>
#include <string>
#include <vector>

namespace sweep::queue {

struct Joined {
  std::size_t chains = 0;   // whose heads were appended to the root
  std::size_t results = 0;  // that were put in place of others, which did not count
  // Results that do not count, with what is wrong with them: their items stand as the run has them.
  std::vector<std::string> refused;
};

// Tasks whose lease runs, as "task 12_3 on HOST"; empty: none, or no task ever worked on the run.
// Writes the file server's time into claims/, nothing where that folder is not there.
[[nodiscard]] std::vector<std::string> tasks_at_work(const record::RunDir& run);

// UsageError E_RUN_BUSY where tasks_at_work() names one.
void require_no_tasks(const record::RunDir& run);

// UsageError E_RUN_BUSY that names the first of these tasks of the run; nothing where there is
// none.
void require_none(const record::RunDir& run, const std::vector<std::string>& at_work);

// Waits until no task works on the run, at most `seconds`; the tasks that still do. One whose sign
// of life stood still for its lease before our eyes is none, whatever its time.
[[nodiscard]] std::vector<std::string> wait_for_tasks(const record::RunDir& run,
                                                      double seconds,
                                                      util::Clock& clock);

// Ends what tasks left of their common work: cuts unfinished last rows of their chains off, puts
// the results that count in their places, appends each chain's head to the root and removes
// claims/. Does nothing where there is nothing to end. Hold the run's RunLock, and see first that
// no task is at work. InfraError E_RUN_WRITE, E_LEDGER_BROKEN.
Joined join_tasks(const record::RunDir& run);

}  // namespace sweep::queue
