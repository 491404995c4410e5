#pragma once

#include "device/device.h"
#include "evaluate/code.h"
#include "evaluate/runner_process.h"
#include "evaluate/step_patch.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace sweep::evaluate {

// What the arm's own code did wrong: a fault that the device reported, or the end or silence of its
// runner while one of its calls was in flight. Thrown by Arm, turned into a verdict by Session;
// never leaves the judge.
class ArmFault : public std::runtime_error {
 public:
  // `forbidden`: the sandbox ended the runner for a system call.
  explicit ArmFault(device::Fault fault, bool forbidden = false)
      : std::runtime_error(fault.text), fault_(std::move(fault)), forbidden_(forbidden) {}

  [[nodiscard]] const device::Fault& fault() const { return fault_; }

  [[nodiscard]] bool forbidden() const { return forbidden_; }

 private:
  device::Fault fault_;
  bool forbidden_;
};

// A plan that does not fit the compiled kernels or the device: data for PLAN_ERROR. Never leaves
// the judge.
class PlanFault : public std::runtime_error {
 public:
  explicit PlanFault(submission::PlanError error)
      : std::runtime_error(error.what), error_(std::move(error)) {}

  [[nodiscard]] const submission::PlanError& error() const { return error_; }

 private:
  submission::PlanError error_;
};

// One runner process with one module loaded, seen from the judge. The destructor ends the process.
class Arm {
 public:
  // Starts the process and does not wait for it. Throws util::InfraError E_RUNNER_START.
  Arm(const ArmOptions& options, const Code& code);
  // In a runner that was started before, with the same options.
  Arm(RunnerProcess runner, const ArmOptions& options, const Code& code);
  ~Arm();
  Arm(const Arm&) = delete;
  Arm& operator=(const Arm&) = delete;

  [[nodiscard]] const Code& code() const { return code_; }

  // end(), and the destructor does not wait for the process: see util::Process::abandon().
  void abandon() noexcept;

  // Whether the process has not ended.
  [[nodiscard]] bool alive() { return !ended_ && runner_.alive(); }

  // Waits until the module is loaded; every other member does so too. Throws ArmFault (it does not
  // load) or util::InfraError E_RUNNER_START (the process did not open the device).
  void ready();

  // Whether opening the device and loading the module are over, well or not: both would disturb who
  // times beside it. Does not wait. Throws util::InfraError E_RUNNER_START.
  [[nodiscard]] bool started();

  // Kills the process; every later call is an ArmFault at once.
  void end() noexcept;

  [[nodiscard]] const Facts& facts();

  [[nodiscard]] const std::vector<util::Protection>& protections() const {
    return runner_.process().protections();
  }

  [[nodiscard]] std::int64_t occupancy(const std::string& kernel,
                                       std::int64_t threads,
                                       std::int64_t shared);

  struct Mapped {
    std::int64_t buffer = 0;
    device::Address address = 0;
  };

  // Maps a buffer of the judge into the runner.
  [[nodiscard]] Mapped map(const device::Buffer& buffer, device::Access access);
  void unmap(std::int64_t buffer);

  struct Scratch {
    std::int64_t set = 0;
    std::vector<device::Address> addresses;
  };

  [[nodiscard]] Scratch scratch(const std::vector<submission::ScratchBuffer>& buffers);
  void drop(std::int64_t set);

  [[nodiscard]] std::int64_t prepare(const std::vector<device::Step>& steps);
  // Changes arguments of a prepared sequence (step_patch.h).
  void update(std::int64_t sequence, const std::vector<StepPatch>& patches);
  void forget(std::int64_t sequence);

  // The next run() hands these changes over as well; the runner makes them after its answer, while
  // the device is the judge's, without touching it: on their own they cost two turns of a GPU
  // between processes, 0.28 ms on an H200. What is left to do on the device, and a fault of it,
  // belongs to the call that needs them. One such change of a sequence may be open.
  void update_after_run(std::int64_t sequence, std::vector<StepPatch> patches);

  // Whether a run has handed it over; once. Else it will not be made.
  [[nodiscard]] bool take_update(std::int64_t sequence);

  // Overwrites scratch sets with the pattern, and what a runner's context keeps between calls.
  void wash(std::uint32_t poison, const std::vector<std::int64_t>& sets);

  // One call, then wash(): what comes next on the device is the judge's. Silent for `seconds`: the
  // runner is ended and the fault is a timeout.
  [[nodiscard]] device::RunTime run(std::int64_t sequence,
                                    double seconds,
                                    std::uint32_t poison,
                                    const std::vector<std::int64_t>& sets);

  // `calls` calls one after another, each after a flush where `flush`, then wash(). Returns how
  // long the answer took by this process's clock; `seconds` bound one call.
  [[nodiscard]] double row(std::int64_t sequence,
                           int calls,
                           bool flush,
                           double seconds,
                           std::uint32_t poison,
                           const std::vector<std::int64_t>& sets);

 private:
  // Sends, waits, and gives the answer to `take`, which reads hostile fields.
  void ask(const nlohmann::json& body,
           double seconds,
           int fd,
           const std::function<void(const nlohmann::json&)>& take);
  void order(const nlohmann::json& body);  // the answer is not looked at
  void take_answer(double seconds, const std::function<void(const nlohmann::json&)>& take);

  [[nodiscard]] util::Process& process() { return runner_.process(); }

  [[nodiscard]] wire::Channel& channel() { return runner_.channel(); }

  // Part of a run: the open changes, which it hands over.
  [[nodiscard]] nlohmann::json open_updates() const;
  void close_updates();

  [[noreturn]] void lost(const util::InfraError& error, double seconds);

  const Code& code_;
  double start_seconds_;
  RunnerProcess runner_;
  Facts facts_;
  bool ready_ = false;
  bool ended_ = false;

  struct Deferred {
    std::vector<StepPatch> patches;
    bool sent = false;
  };

  std::map<std::int64_t, Deferred> deferred_;  // by sequence
};

}  // namespace sweep::evaluate
