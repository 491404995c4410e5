#pragma once

#include <filesystem>
#include <string>

namespace sweep::queue {

// Starts `[run] on_finish` (program and arguments, split at blanks, no shell) with SWEEP_RUN (the
// run's folder) and SWEEP_STATUS (the exit code) in its environment and waits at most a minute.
// Returns a line to show when it failed, else an empty text. An empty command does nothing.
[[nodiscard]] std::string run_on_finish(const std::string& command,
                                        const std::filesystem::path& run,
                                        int status);

}  // namespace sweep::queue
