#pragma once

#include "queue/sweep.h"
#include "record/run_dir.h"

#include <string>

namespace sweep::cli {

// The run of a command line: a folder with a ledger, or the name of one below runs/. UsageError
// E_RUN_MISSING.
[[nodiscard]] record::RunDir open_run(const std::string& name);

// Where this program and its data lie.
[[nodiscard]] queue::Installation sweep_installation();

}  // namespace sweep::cli
