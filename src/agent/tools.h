#pragma once

#include "agent/agent.h"
#include "agent/harness.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::agent {

// Those of the harness, in the order of config::all_tools(): PopcornBench's names and arguments;
// `kernel_code` is the text of a submission.
[[nodiscard]] std::vector<endpoint::ToolDefinition> tool_definitions(const Harness& harness);

// All that models can be told of tools before they call them, as JSON.
[[nodiscard]] std::string definitions_text();

// Whether the tool takes a submission; without one it takes nothing.
[[nodiscard]] bool takes_kernel(std::string_view tool);

// Whether the tool shows nothing on the cpu device.
[[nodiscard]] bool needs_gpu(std::string_view tool);

// A file of a tool that is kept for people: Nsight Compute's report.
struct Attachment {
  std::string name;
  std::string bytes;
};

// What a tool found. `text` is for the model and holds visible facts only.
struct ToolOutcome {
  std::string text;
  bool success = false;
  bool infra = false;  // the harness failed, not the kernel
  nlohmann::json metadata = nlohmann::json::object();
  double device_seconds = 0;  // run_correctness: time of all its calls, to rank correct kernels
  nlohmann::json evaluation;  // the judge's answer, for the archive; null: none
  std::vector<Attachment> attachments;  // to be stored by the caller; no part of to_text()

  // That the evaluation waited for the device's lock; 0 without one.
  [[nodiscard]] double lock_wait_seconds() const;
};

// As stored with a finished call, for replay. InfraError E_TOOL_RECORD on damage.
[[nodiscard]] std::string to_text(const ToolOutcome& outcome);
[[nodiscard]] ToolOutcome outcome_from_text(const std::string& text);

// What submit_kernel does.
enum class Submission {
  judged,   // everything: the verdict on the version
  checked,  // a version is tried: results on the visible shapes, nothing hidden
  timed,    // likewise, with times on the visible shapes
};

// What decides a judgement stands in judged_keys() as well (agent/duplicates.h).
struct ToolSettings {
  std::string problem;
  device::Id device;
  std::string device_facts;  // for get_gpu_specs
  std::uint64_t seed = 1;
  int correct_trials = 5;
  int submit_trials = 5;
  double deadline_seconds = 3600;
  bool allow_unsandboxed = false;
  bool stress_gates = true;               // config::stress_gates of the item's variant
  bool nvcc = false;                      // EvaluationRequest::nvcc
  std::optional<problem::IsaPolicy> isa;  // EvaluationRequest::isa
  Submission submission = Submission::judged;
  std::vector<std::string> tools = config::all_tools();  // of the conversation: no other is named
  nlohmann::json last_profile = nullptr;  // of this conversation, from learn(); null: none
};

// Keeps what later calls of the same conversation need of an outcome, new or replayed.
void learn(const ToolOutcome& outcome, ToolSettings& settings);

// Those of an item, without device facts.
[[nodiscard]] ToolSettings tool_settings(const config::SweepConfig& config,
                                         const config::WorkItem& item,
                                         device::Id device,
                                         bool allow_unsandboxed);

// Runs one tool. `name` must be one of those of config::all_tools(); `kernel` is empty for one that
// takes none.
[[nodiscard]] ToolOutcome run_tool(const std::string& name,
                                   const std::string& kernel,
                                   const ToolSettings& settings,
                                   Evaluator& evaluator);

}  // namespace sweep::agent
