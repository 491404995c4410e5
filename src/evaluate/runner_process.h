#pragma once

#include "device/device.h"
#include "evaluate/code.h"
#include "evaluate/defence.h"
#include "util/process.h"
#include "util/work_folder.h"
#include "wire/channel.h"

#include <optional>
#include <vector>

namespace sweep::evaluate {

// How runners are started.
struct ArmOptions {
  const util::Self* program = nullptr;
  device::Id device;
  device::Image own_code;  // of the judge's device, so that a runner needs no compiler
  bool allow_unsandboxed = false;
  bool device_printf = false;  // standard output of the runner goes to the judge's
  double start_seconds = 30;   // open and load
  DefenceSet off;
};

// Starts a runner that opens and loads nothing, ends it, and says how it was protected.
[[nodiscard]] std::vector<util::Protection> probe_runner(const ArmOptions& options);

// A runner process that opens its device and has no code yet: Arm gives it one candidate's, once.
// The destructor ends it.
class RunnerProcess {
 public:
  // Starts the process and does not wait for it. Throws util::InfraError E_RUNNER_START.
  // `library`: it may read that library's folder, and is for nothing else.
  explicit RunnerProcess(const ArmOptions& options, const LibraryUse* library = nullptr);

  // Waits until the device is open. Throws util::InfraError E_RUNNER_START.
  void opened();

  [[nodiscard]] bool alive() { return !process_.wait_for(0); }

  [[nodiscard]] util::Process& process() { return process_; }

  [[nodiscard]] const util::Process& process() const { return process_; }

  [[nodiscard]] wire::Channel& channel() { return channel_; }

  // Ends the process and throws util::InfraError E_RUNNER_START.
  [[noreturn]] void not_started();

 private:
  double start_seconds_;
  std::optional<util::WorkFolder> folder_;  // none on the cpu device, where code could fill it
  util::Fd channel_socket_;                 // until channel_ takes it
  util::Process process_;
  wire::Channel channel_;
  bool opened_ = false;
};

}  // namespace sweep::evaluate
