#include "agent/tools.h"

#include "evaluate/feedback.h"
#include "record/json.h"
#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <array>

namespace sweep::agent {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxToolText = 12'288;
// The cpu device proves correctness; its times are never ranked, so a quick look at them is enough,
// and held-out shapes wait for a device that counts.
constexpr int kCpuReplicates = 3;

constexpr const char* kKernelSchema =
    R"({"type":"object","properties":{"kernel_code":{"type":"string","description":"Complete text of the submission: CUDA C++ with its plan in //@ lines."}},"required":["kernel_code"]})";
constexpr const char* kNothingSchema = R"({"type":"object","properties":{}})";

struct Described {
  const char* name;
  const char* description;
  bool takes_kernel;
};

constexpr std::array<Described, 5> kTools = {{
    {"compile_kernel",
     "Checks the plan and compiles; returns errors, or registers, spills and shared memory of each "
     "kernel.",
     true},
    {"run_correctness",
     "Compiles and runs on fresh inputs of the visible shapes; returns where and how far results "
     "are off.",
     true},
    {"get_gpu_specs", "Describes the device that the kernels run on.", false},
    {"static_check", "Checks the plan and the text without compiling; quick.", true},
    {"submit_kernel",
     "Hands in the final version: full correctness, other shapes, timing. Ends the session.",
     true},
}};

evaluate::EvaluationRequest request_for(const std::string& kernel, const ToolSettings& settings) {
  evaluate::EvaluationRequest request;
  request.submission = {"kernel.cu", kernel};
  request.problem = settings.problem;
  request.device = settings.device;
  request.seed = settings.seed;
  request.check_seeds = settings.correct_trials;
  request.deadline_seconds = settings.deadline_seconds;
  request.allow_unsandboxed = settings.allow_unsandboxed;
  request.stress_gates = settings.stress_gates;
  request.nvcc = settings.nvcc;
  if (settings.device.kind == device::Kind::cpu)
    request.replicates = kCpuReplicates;
  return request;
}

bool contains(const std::string& text, std::string_view what) {
  return text.find(what) != std::string::npos;
}

// Things that cannot work here and that models bring along from other harnesses.
std::vector<std::string> lint(const std::string& kernel) {
  std::vector<std::string> out;
  const auto warn = [&](bool when, const char* text) {
    if (when)
      out.emplace_back(text);
  };
  warn(!contains(kernel, "__global__"), "there is no __global__ function");
  warn(!contains(kernel, "//@") && !contains(kernel, "/*@"), "there is no plan: write //@ lines");
  warn(
      contains(kernel, "torch/") || contains(kernel, "PYBIND11") || contains(kernel, "load_inline"),
      "PyTorch is not there: hand in device code with a plan, not an extension");
  warn(contains(kernel, "cudaMalloc") || contains(kernel, "cudaLaunch") ||
           contains(kernel, "int main("),
       "host code does nothing here: the plan allocates scratch and launches");
  warn(contains(kernel, "cublas") || contains(kernel, "cusparse") || contains(kernel, "cudnn"),
       "libraries are not linked");
  warn(contains(kernel, "clock64") || contains(kernel, "globaltimer"),
       "reading clocks has no use here");
  return out;
}

double device_seconds(const evaluate::Evaluation& evaluation) {
  double sum = 0;
  if (evaluation.check)
    for (const evaluate::Call& call : evaluation.check->calls)
      sum += call.device_seconds;
  return sum;
}

bool passed(const std::string& name, const evaluate::Evaluation& evaluation) {
  if (name == "static_check")
    return evaluation.screen && evaluation.screen->errors.empty();
  if (name == "compile_kernel")
    return evaluation.compile && evaluation.compile->status == "ok";
  if (name == "run_correctness")
    return evaluation.check && !evaluation.check->failure && evaluation.compile &&
           evaluation.compile->status == "ok";
  return evaluation.outcome() == evaluate::Outcome::correct;
}

json metadata_of(const evaluate::Evaluation& evaluation) {
  json out = {{"verdict", std::string(evaluate::name(evaluation.verdict))},
              {"source_sha256", evaluation.source_sha256}};
  out["compiled"] = evaluation.compile && evaluation.compile->status == "ok";
  if (evaluation.check) {
    out["correctness"] = !evaluation.check->failure;
    out["checked_calls"] = evaluation.check->calls.size();
    out["worst_share"] = evaluation.check->worst_share;
  }
  if (evaluation.compile)
    for (const evaluate::KernelFacts& kernel : evaluation.compile->kernels)
      out["kernels"].push_back({{"name", kernel.name},
                                {"registers", kernel.registers},
                                {"spill_bytes", kernel.spill_bytes},
                                {"shared_bytes", kernel.shared_bytes}});
  return out;
}

std::string headline(const std::string& name, bool success) {
  return name + (success ? " PASSED" : " FAILED");
}

ToolOutcome specs(const ToolSettings& settings) {
  ToolOutcome out;
  out.success = true;
  out.text = headline("get_gpu_specs", true) + "\n" + settings.device_facts;
  return out;
}

}  // namespace

std::vector<endpoint::ToolDefinition> tool_definitions(const Harness& harness) {
  std::vector<endpoint::ToolDefinition> out;
  for (const Described& tool : kTools)
    if (harness.has(tool.name))
      out.push_back(
          {tool.name, tool.description, tool.takes_kernel ? kKernelSchema : kNothingSchema});
  return out;
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

ToolOutcome run_tool(const std::string& name,
                     const std::string& kernel,
                     const ToolSettings& settings,
                     Evaluator& evaluator) {
  if (name == "get_gpu_specs")
    return specs(settings);
  evaluate::EvaluationRequest request = request_for(kernel, settings);
  if (name == "static_check")
    request.only = evaluate::Stage::screen;
  else if (name == "compile_kernel")
    request.only = evaluate::Stage::compile;
  else if (name == "run_correctness")
    request.only = evaluate::Stage::check;
  else {
    request.depth = settings.device.kind == device::Kind::cpu ? evaluate::Depth::standard
                                                              : evaluate::Depth::full;
    request.check_seeds = settings.submit_trials;
  }
  const evaluate::Evaluation evaluation = evaluator.evaluate(request);
  ToolOutcome out;
  out.infra = evaluation.outcome() == evaluate::Outcome::infra_error;
  out.success = !out.infra && passed(name, evaluation);
  out.device_seconds = device_seconds(evaluation);
  out.metadata = metadata_of(evaluation);
  out.evaluation = evaluate::to_json(evaluation, evaluate::View::archive);
  if (out.infra) {
    out.text = name + ": the harness failed, not your kernel. Nothing is known about it.";
    return out;
  }
  out.text = headline(name, out.success) + "\n" +
             evaluate::VisibleFeedback::of(evaluation).text(kMaxToolText);
  if (name == "static_check")
    for (const std::string& warning : lint(kernel))
      out.text += "\nWARNING: " + warning;
  out.text = util::head_and_tail(util::to_valid_utf8(out.text), kMaxToolText);
  return out;
}

}  // namespace sweep::agent
