#pragma once

#include "queue/drive.h"

namespace sweep::queue {

// Works on a run as one of several tasks (options.task), each with one device, until nothing is
// left to claim; `sweep join` ends what they leave. Returns the exit code: 0 nothing is left for
// this task, 3 infra errors remain or a budget or refusal ended it, 130 stopped. UsageError as
// run_sweep, E_RUN_DRIFT also where this machine's GPU is not the run's, E_RUN_BUSY where a sweep
// that is no task works on the run.
[[nodiscard]] int run_task(const Session& s);

}  // namespace sweep::queue
