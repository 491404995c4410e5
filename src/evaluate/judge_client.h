#pragma once

#include "evaluate/evaluation.h"
#include "evaluate/harness.h"
#include "evaluate/judge_protocol.h"
#include "evaluate/judge_task.h"
#include "evaluate/neighbours.h"
#include "evaluate/printed.h"
#include "util/clock.h"
#include "util/process.h"
#include "util/work_folder.h"
#include "wire/channel.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sweep::evaluate {

struct JudgeSpec {
  std::filesystem::path program;
  std::filesystem::path locks;
  device::Id device;
  bool allow_unsandboxed = false;
  bool device_printf = false;
  DefenceSet off;
  std::vector<std::filesystem::path> libraries;  // folders of vendor libraries that runners open
  double deadline_seconds = 600;  // from begin(), without the time spent waiting for locks
  int runners = 2;                // started ahead: seed and candidate need one each
  // That the device's lock files exist is known: it opens without waiting for begin().
  bool ahead = false;
  // What JudgeClient::announcement() gave, for one after another; null: made by begin().
  std::shared_ptr<util::Fd> announced = {};
};

[[nodiscard]] JudgeSpec judge_spec(const EvaluationRequest& request, const Services& services);

// The judge process of one evaluation, seen from evaluate(). The destructor ends it and all its
// runners.
class JudgeClient {
 public:
  // Starts the judge and does not wait for it. All members throw what the judge reports
  // (util::UsageError, util::InfraError) or util::InfraError "E_JUDGE_LOST".
  explicit JudgeClient(const JudgeSpec& spec);
  ~JudgeClient();
  JudgeClient(const JudgeClient&) = delete;
  JudgeClient& operator=(const JudgeClient&) = delete;

  // Waits for what the judge says of its device, which then opens while the caller goes on. Before
  // any other member.
  void begin();

  [[nodiscard]] const device::Info& info() const { return info_; }

  // That this process's judges keep off a locked device; lasts as long as anyone has it.
  [[nodiscard]] std::shared_ptr<util::Fd> announcement() const { return spec_.announced; }

  // Whether kernels reach all memory of their runner (device/describe.h).
  [[nodiscard]] bool pageable_memory() const { return pageable_; }

  // Tells the judge its task, unless it has it, and does not wait: it works ahead until open().
  // Before or after begin(). What fails is left to open().
  void prepare(const JudgeTask& task);

  // Gives the judge whom it judges, and perhaps the submission to compare with. Once, after
  // prepare() and before the stages.
  void open(const std::vector<const Code*>& codes, const Tick& tick);

  // The same without working ahead. codes: reference, seed, candidate and perhaps the submission to
  // compare with. `seed` decides what outputs and scratch are poisoned with.
  void open(const problem::Problem& problem,
            const std::vector<const Code*>& codes,
            const HarnessImages& harness,
            std::uint64_t seed,
            const Tick& tick);

  // Of the last runner started; what the judge itself lacks counts as missing, unless it need not
  // have it.
  [[nodiscard]] const std::vector<util::Protection>& protections() const { return protections_; }

  // Seconds that the stages so far have waited for the device's lock.
  [[nodiscard]] double waited() const { return waited_; }

  // Runs "check", "stress", "time", "heldout" or "admit" and returns its result.
  [[nodiscard]] nlohmann::json stage(const char* what,
                                     const StageOptions& options,
                                     const Tick& tick);

 private:
  void start();
  [[nodiscard]] nlohmann::json receive();
  [[nodiscard]] nlohmann::json answer(const Tick& tick);
  void note_waiting(bool waiting);
  [[nodiscard]] nlohmann::json neighbours(bool begin);
  [[nodiscard]] bool judge_lacks(const std::string& protection) const;

  JudgeSpec spec_;
  std::filesystem::path locks_;
  util::WorkFolder folder_;           // the judge's and its runners' temporary files
  std::unique_ptr<Printed> printed_;  // with device_printf
  util::Fd socket_;                   // until channel_ takes it
  util::Process process_;
  wire::Channel channel_;
  std::string task_;  // key of the last one that it was told
  device::Info info_;
  bool pageable_ = false;
  std::unique_ptr<Neighbours> neighbours_;  // from the first stage that times on a GPU
  util::RealClock clock_;
  std::optional<double> waiting_since_;
  double waited_ = 0;
  std::vector<util::Protection> protections_;
};

}  // namespace sweep::evaluate
