#pragma once

#include "device/device.h"
#include "profile/subject.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sweep::profile {

struct Replayed {
  std::int64_t launches = 0;         // kernels that the plan launched
  double device_seconds = 0;         // of the whole plan, under whatever tool watches
  std::optional<std::string> fault;  // what went wrong on the device, in words
};

// Fills the draw's inputs, loads the code and runs its plan once as a runner does (one graph), but
// in this process's own plain memory: a tool sees every allocation and every write. Outputs and
// scratch are left unwritten; they are not compared. The code is the candidate's: on the cpu device
// that is host code, for trusted kernels only.
[[nodiscard]] Replayed replay(device::Device& device,
                              device::Id id,
                              const problem::Problem& problem,
                              const evaluate::Code& code,
                              const problem::Draw& draw);

// Puts into `folder` what `sweep __replay` needs.
void write_replay(const std::filesystem::path& folder,
                  device::Id device,
                  const Subject& subject,
                  const VisibleShape& shape,
                  std::uint64_t seed);

// What `sweep __replay` left in `folder`; Unavailable with its error, or where it left nothing.
[[nodiscard]] Result<Replayed> read_replayed(const std::filesystem::path& folder);

// Body of `sweep __replay FOLDER`, started by a profiling tool. Returns an exit code: 0 also after
// a fault, which is in the result. Refuses the cpu device, whose kernels are host code.
[[nodiscard]] int replay_main(const std::vector<std::string>& arguments);

}  // namespace sweep::profile
