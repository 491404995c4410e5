#include "agent/tools.h"

#include "agent/tool_judge.h"
#include "agent/tool_look.h"
#include "agent/tool_texts.h"
#include "record/json.h"
#include "util/error.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace sweep::agent {
namespace {

using nlohmann::json;

constexpr const char* kKernelSchema =
    R"({"type":"object","properties":{"kernel_code":{"type":"string","description":"Complete text of the submission: CUDA C++ with its plan in //@ lines."}},"required":["kernel_code"]})";
constexpr const char* kNothingSchema = R"({"type":"object","properties":{}})";

// submit_kernel where it tries versions.
constexpr const char* kCheckedVersion =
    "Tries this version: its plan, its compilation and its results on the visible shapes.";
constexpr const char* kTimedVersion =
    "Tries this version: its plan, its compilation, its results and its time on the visible "
    "shapes.";

ToolOutcome specs(const std::string& tool,
                  const std::string&,
                  const ToolSettings& settings,
                  Evaluator&) {
  ToolOutcome out;
  out.success = true;
  out.text = tool_text(tool, true, "the device of this session", settings.device_facts);
  return out;
}

using Run = ToolOutcome (*)(const std::string& tool,
                            const std::string& kernel,
                            const ToolSettings& settings,
                            Evaluator& evaluator);

struct Row {
  std::string_view name;
  const char* description;
  bool takes_kernel;
  Run run;
};

constexpr std::array<Row, 9> kTools = {{
    {"compile_kernel",
     "Checks the plan and compiles; returns errors, or registers, spills and shared memory of each "
     "kernel.",
     true,
     judge},
    {"run_correctness",
     "Compiles and runs on fresh inputs of the visible shapes; returns where and how far results "
     "are off.",
     true,
     judge},
    {"get_gpu_specs", "Describes the device that the kernels run on.", false, specs},
    {"static_check", "Checks the plan and the text without compiling; quick.", true, judge},
    {"profile_kernel",
     "Profiles each launch with Nsight Compute on the largest visible shape; returns what bounds "
     "it, throughput, occupancy, stalls, and the change since the last profile.",
     true,
     look},
    {"disassemble_kernel",
     "Compiles to machine code; returns registers, spills, shared memory and the instruction mix "
     "of each kernel.",
     true,
     look},
    {"ert_roofline",
     "Returns what this GPU was measured to reach: memory and cache bandwidth, arithmetic rates, "
     "ridge points.",
     false,
     look},
    {"sanitize_kernel",
     "Runs compute-sanitizer (memcheck, racecheck, synccheck, initcheck) on the smallest visible "
     "shape; returns invalid accesses and races with thread and block.",
     true,
     look},
    {"submit_kernel",
     "Hands in the final version: full correctness, other shapes, timing. Ends the session.",
     true,
     judge},
}};

const Row* row_of(std::string_view tool) {
  const auto* const found = std::ranges::find(kTools, tool, &Row::name);
  return found == kTools.end() ? nullptr : found;
}

}  // namespace

std::vector<endpoint::ToolDefinition> tool_definitions(const Harness& harness) {
  std::vector<endpoint::ToolDefinition> out;
  for (const Row& tool : kTools)
    if (harness.has(tool.name))
      out.push_back({std::string(tool.name),
                     tool.description,
                     tool.takes_kernel ? kKernelSchema : kNothingSchema});
  if (harness.tries() && !out.empty() && out.back().name == "submit_kernel")
    out.back().description =
        harness.feedback == config::Feedback::timing ? kTimedVersion : kCheckedVersion;
  return out;
}

std::string definitions_text() {
  json out = json::array();
  for (const Row& tool : kTools)
    out.push_back(
        {tool.name, tool.description, tool.takes_kernel ? kKernelSchema : kNothingSchema});
  out.push_back({"submit_kernel", kCheckedVersion, kKernelSchema});
  out.push_back({"submit_kernel", kTimedVersion, kKernelSchema});
  return record::canonical(out);
}

bool takes_kernel(std::string_view tool) {
  const Row* row = row_of(tool);
  return row != nullptr && row->takes_kernel;
}

bool needs_gpu(std::string_view tool) {
  const Row* row = row_of(tool);
  return row != nullptr && row->run == look;
}

std::string to_text(const ToolOutcome& outcome) {
  return record::canonical({{"schema", 1},
                            {"text", outcome.text},
                            {"success", outcome.success},
                            {"infra", outcome.infra},
                            {"metadata", outcome.metadata},
                            {"device_seconds", outcome.device_seconds},
                            {"evaluation", outcome.evaluation}});
}

ToolOutcome outcome_from_text(const std::string& text) {
  const json stored = record::parse_bounded(text, "stored tool result");
  ToolOutcome out;
  try {
    out.text = stored.at("text").get<std::string>();
    out.success = stored.at("success").get<bool>();
    out.infra = stored.at("infra").get<bool>();
    out.metadata = stored.at("metadata");
    out.device_seconds = stored.at("device_seconds").get<double>();
    out.evaluation = stored.at("evaluation");
  } catch (const json::exception& error) {
    throw util::InfraError({"stored tool result", error.what(), "the run's artifacts are damaged"},
                           "E_TOOL_RECORD");
  }
  return out;
}

void learn(const ToolOutcome& outcome, ToolSettings& settings) {
  if (outcome.success && outcome.metadata.contains("profile"))
    settings.last_profile = outcome.metadata.at("profile");
}

ToolOutcome run_tool(const std::string& name,
                     const std::string& kernel,
                     const ToolSettings& settings,
                     Evaluator& evaluator) {
  const Row* row = row_of(name);
  if (row == nullptr)
    throw std::logic_error("no tool " + name);
  return row->run(name, kernel, settings, evaluator);
}

}  // namespace sweep::agent
