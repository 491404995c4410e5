#pragma once

#include "config/config.h"
#include "config/matrix.h"
#include "device/device.h"
#include "endpoint/client.h"
#include "evaluate/calibration.h"
#include "evaluate/evaluation.h"
#include "problem/isa.h"
#include "profile/report.h"
#include "record/item_services.h"
#include "record/trajectory.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::util {
class Clock;
}

namespace sweep::agent {

// Why a conversation ended: Trajectory::stop_reason, a closed list. Whoever handed in the kernel
// stands in the tool call's origin ("native", "text:hermes", "auto").
enum class StopReason {
  submitted,      // the model called submit_kernel
  first_correct,  // a version that it tried was correct (Stop::first_correct)
  turns,          // its turns were used up
  policy_stop,    // the same text to the same tool again; answers cut again and again
  endpoint,       // the endpoint failed for good, or its answer cannot be used
  timeout,        // the item's wall limit
  infra,          // the judge or the machine failed twice
  interrupted,    // the sweep stops; the item stays in_progress
  budget,         // the run's budget_usd is spent; the item stays in_progress
};

[[nodiscard]] std::string_view name(StopReason reason);

// `error_code` of an item that StopReason::infra ended: the device itself failed, or the judge.
inline constexpr std::string_view kDeviceFault = "E_AGENT_DEVICE";
inline constexpr std::string_view kJudgeFault = "E_AGENT_JUDGE";

// evaluate::evaluate behind a seam, so that the loop can be tested without a judge.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  [[nodiscard]] virtual evaluate::Evaluation evaluate(
      const evaluate::EvaluationRequest& request) = 0;

  // What profiling tools show of a kernel that evaluate() judged, as profile::inspect() says. An
  // evaluator without tools reports nothing.
  [[nodiscard]] virtual profile::Report inspect(const evaluate::EvaluationRequest& /*request*/,
                                                const evaluate::Evaluation& /*evaluation*/,
                                                const profile::Wanted& /*wanted*/) {
    return {};
  }

  // What the item's device was measured to reach.
  [[nodiscard]] virtual evaluate::FoundCalibration calibration() {
    return {std::nullopt, "no device was calibrated"};
  }
};

// Hears what an evaluation waits for, and an empty text when it goes on.
using Held = std::function<void(const std::string& why)>;

// evaluate::evaluate and profile::inspect themselves, on the device that `info` describes;
// `services` outlives it.
[[nodiscard]] std::unique_ptr<Evaluator> real_evaluator(const evaluate::Services& services,
                                                        evaluate::Spares* spares = nullptr,
                                                        const device::Info& info = {},
                                                        Held held = {});

// What the prompts say about a problem and its device.
struct Task {
  std::string id;    // "level1/3"
  std::string name;  // "csr_spmm"
  std::string title;
  std::string domain;
  std::vector<std::string> slates;
  std::string admission = "none";  // as in record::Trajectory::problem_admission
  std::string statement;           // mathematics and contract, as in problem.toml
  std::string contract;     // dims, tensors, scalars, visible shapes: text made from the problem
  std::string reference;    // reference.cu
  std::string seed;         // text of the baseline kernel; empty: there is none
  std::string source;       // of a translation problem: the kernel to port
  std::string source_arch;  // that it was written for: "sm_80"
  std::string device_name;  // "NVIDIA H200"
  std::string arch;         // of the device: "sm_90a"
  problem::IsaPolicy isa = problem::IsaPolicy::off;
  std::vector<std::string> isa_families;
  std::string device;  // facts of the device, one a line
  std::string sha256;  // of the problem's files
  std::string seed_sha256;
  std::string precision;
};

// A recorded conversation that is led again: it begins with these texts whatever the prompts of
// this program say, and tools answer from the record alone.
struct Again {
  std::string system_prompt;
  std::string first_message;
};

// One item's surroundings, all owned by the caller and alive during run().
struct Services {
  record::ItemServices* record = nullptr;
  endpoint::Endpoint* endpoint = nullptr;
  Evaluator* evaluator = nullptr;
  util::Clock* clock = nullptr;
  bool allow_unsandboxed = false;
  const Again* again = nullptr;  // null: a new conversation
};

// Runs the conversation of one item to its end and returns the finished trajectory (saved through
// Services::record after every turn as well). Requests and tool calls that an earlier process
// finished are replayed. Outcome in_progress with stop reason `interrupted` when record->stopping()
// turns true. Kernels' and models' failures are data; InfraError only when the record itself cannot
// be written.
[[nodiscard]] record::Trajectory run(const config::SweepConfig& config,
                                     const config::WorkItem& item,
                                     const Task& task,
                                     device::Id device,
                                     const record::Provenance& provenance,
                                     const Services& services);

// What a worker knows.
struct Surroundings {
  evaluate::Services evaluation;
  device::Id device;
  device::Info device_info;
  std::vector<std::filesystem::path> dotenv;  // config::dotenv_files
  std::string builtin_url;        // base URL of the running built-in server, for `builtin:` models
  record::Provenance provenance;  // version, configuration hash, host; the rest is filled in here
  bool allow_unsandboxed = false;
  evaluate::Spares* spares = nullptr;  // of this worker, alive during run_item()
};

// As [agent] says, with a jitter of the item's own.
[[nodiscard]] endpoint::Retry retry_of(const config::SweepConfig& config,
                                       const config::WorkItem& item);

// run() with the real endpoint, judge and clock: what the queue's worker calls. Reads the model's
// key by name.
[[nodiscard]] record::Trajectory run_item(const config::SweepConfig& config,
                                          const config::WorkItem& item,
                                          const Surroundings& surroundings,
                                          record::ItemServices& record);

// SHA-256 over the names and texts of all prompts built into this program and the descriptions of
// its tools, and the texts themselves. What tools answer stands in code: the number in version.txt,
// one of these files, stands for it (docs/prompts.md).
struct PromptFile {
  std::string name;  // "system.md"
  std::string text;
};

[[nodiscard]] std::vector<PromptFile> prompts();
[[nodiscard]] std::string prompts_sha256();

}  // namespace sweep::agent
