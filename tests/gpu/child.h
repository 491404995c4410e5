#pragma once

#include "util/process.h"

#include <string>
#include <vector>

namespace sweep::gpu {

// What a child process printed and how it ended.
struct ChildResult {
  int exit_code = -1;  // -1: ended by a signal
  std::string output;
};

// Starts this program again as `__child NAME ARGUMENTS...`, with `fd` (or -1) as descriptor 3;
// waits for its end.
[[nodiscard]] ChildResult run_child(const std::string& name,
                                    const std::vector<std::string>& arguments,
                                    int fd);

// The children's side: runs case `name`. Its result is the exit code.
int child_main(const std::string& name, const std::vector<std::string>& arguments);

inline constexpr int kChildFd = 3;

// How the harness starts a runner: sandbox, environment, words of the command line. Descriptors are
// added by the caller.
[[nodiscard]] util::SpawnSpec sandboxed(const std::string& name);

}  // namespace sweep::gpu
