#pragma once

#include "device/device.h"
#include "profile/subject.h"
#include "util/process.h"
#include "util/work_folder.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sweep::profile {

// A private folder in which NVIDIA's tools watch `sweep __replay`.
//
// ncu and compute-sanitizer start the program themselves, talk to it over sockets and shared memory
// and load libraries into it; the sandbox of a runner refuses all three. So they run without one,
// only where the user allows that (--allow-unsandboxed): as a process group of its own with a clean
// environment, a deadline, bounded output and bounded files. The candidate has no host code in it,
// but driver and tool read its cubin.
class Watched {
 public:
  // Throws util::UsageError or util::InfraError where the folder cannot be made.
  Watched(const evaluate::EvaluationRequest& request,
          const evaluate::Services& services,
          const Subject& subject,
          const VisibleShape& shape);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

  // "sweep __replay ." as the last arguments of a tool.
  [[nodiscard]] std::vector<std::string> target() const;

  // Runs the tool in the folder. What an earlier run left as its result is gone before.
  [[nodiscard]] util::Captured run(const std::filesystem::path& tool,
                                   std::vector<std::string> arguments,
                                   double seconds,
                                   std::size_t max_output) const;

 private:
  device::Id device_;
  std::filesystem::path program_;
  util::WorkFolder folder_;
};

// Why a tool may not watch here: no GPU, no consent. Nothing where it may.
[[nodiscard]] std::optional<Unavailable> refusal(const evaluate::EvaluationRequest& request,
                                                 const evaluate::Evaluation& evaluation,
                                                 const std::string& tool);

}  // namespace sweep::profile
