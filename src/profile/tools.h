#pragma once

#include "profile/unavailable.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sweep::profile {

enum class Tool { nvdisasm, cuobjdump, compute_sanitizer, ncu };

[[nodiscard]] std::string name(Tool tool);  // "compute-sanitizer"

// Where tools are looked for, in this order.
struct ToolSearch {
  std::filesystem::path cuda_home;                              // $CUDA_HOME; empty: not set
  std::filesystem::path toolkit = "/usr/local/cuda";            // where the CUDA toolkit usually is
  std::filesystem::path nsight = "/opt/nvidia/nsight-compute";  // VERSION/ncu below it
  bool use_path = true;                                         // $PATH at the end
};

// With $CUDA_HOME of this process where it is an absolute path.
[[nodiscard]] ToolSearch default_search();

// Absolute path of the tool: $CUDA_HOME/bin, $CUDA_HOME/compute-sanitizer, the same below the
// toolkit, the newest Nsight Compute, $PATH. An executable regular file; nothing is run.
[[nodiscard]] Result<std::filesystem::path> find_tool(Tool tool, const ToolSearch& search);

}  // namespace sweep::profile
