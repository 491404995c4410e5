#pragma once

#include "compile/job.h"
#include "util/process.h"
#include "util/sandbox.h"

#include <vector>

namespace sweep::compile {

// What the compiler role may touch for `job`: the compiler that it runs with its headers, libraries
// and data, and its own folder. Without programs where the compiler is a library (NVRTC).
[[nodiscard]] util::SandboxPolicy role_policy(const Job& job);

// Limits on memory, processor time, file size and open files of the role and each of its children.
[[nodiscard]] std::vector<util::ResourceLimit> role_limits(const Job& job);

}  // namespace sweep::compile
