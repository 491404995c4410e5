#include "agent/tool_judge.h"

#include "agent/tool_texts.h"
#include "evaluate/feedback.h"

namespace sweep::agent {
namespace {

using nlohmann::json;

// The cpu device proves correctness; its times are never ranked, so a quick look at them is enough,
// and held-out shapes wait for a device that counts.
constexpr int kCpuReplicates = 3;

double device_seconds(const evaluate::Evaluation& evaluation) {
  double sum = 0;
  if (evaluation.check)
    for (const evaluate::Call& call : evaluation.check->calls)
      sum += call.device_seconds;
  return sum;
}

bool passed(const std::string& tool, const evaluate::Evaluation& evaluation) {
  if (tool == "static_check")
    return evaluation.screen && evaluation.screen->errors.empty();
  if (tool == "compile_kernel")
    return evaluation.compile && evaluation.compile->status == "ok" &&
           evaluation.outcome() == evaluate::Outcome::correct;
  if (tool == "run_correctness")
    return evaluation.check && !evaluation.check->failure && evaluation.compile &&
           evaluation.compile->status == "ok";
  return evaluation.outcome() == evaluate::Outcome::correct;
}

json metadata_of(const evaluate::Evaluation& evaluation) {
  json out = {{"verdict", std::string(evaluate::name(evaluation.verdict))},
              {"source_sha256", evaluation.source_sha256}};
  if (evaluation.time && !evaluation.time->failure && evaluation.time->ratio.point > 0)
    out["visible_speedup"] = evaluation.time->ratio.point;
  // Arguments that do not fit are found after the compiler was content.
  out["compiled"] = evaluation.compile && evaluation.compile->status == "ok" &&
                    evaluation.outcome() != evaluate::Outcome::compile_fail;
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

}  // namespace

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
  request.isa = settings.isa;
  if (settings.device.kind == device::Kind::cpu)
    request.replicates = kCpuReplicates;
  return request;
}

ToolOutcome judged(const std::string& tool,
                   const std::string& kernel,
                   const evaluate::Evaluation& evaluation,
                   const std::vector<std::string>& tools) {
  ToolOutcome out;
  out.infra = evaluation.outcome() == evaluate::Outcome::infra_error;
  out.success = !out.infra && passed(tool, evaluation);
  out.device_seconds = device_seconds(evaluation);
  out.metadata = metadata_of(evaluation);
  out.evaluation = evaluate::to_json(evaluation, evaluate::View::archive);
  out.text = out.infra
                 ? tool + ": the harness failed, not your kernel. Nothing is known about it."
                 : judged_text(tool,
                               out.success,
                               evaluate::VisibleFeedback::of(evaluation),
                               kernel,
                               tools,
                               tool == "static_check" ? lint(kernel) : std::vector<std::string>());
  return out;
}

ToolOutcome judge(const std::string& tool,
                  const std::string& kernel,
                  const ToolSettings& settings,
                  Evaluator& evaluator) {
  evaluate::EvaluationRequest request = request_for(kernel, settings);
  if (tool == "static_check")
    request.only = evaluate::Stage::screen;
  else if (tool == "compile_kernel")
    request.only = evaluate::Stage::compile;
  else if (tool == "run_correctness")
    request.only = evaluate::Stage::check;
  else if (settings.submission == Submission::checked)
    request.only = evaluate::Stage::check;
  else if (settings.submission == Submission::timed)
    request.depth = evaluate::Depth::fast;
  else {
    request.depth = settings.device.kind == device::Kind::cpu ? evaluate::Depth::standard
                                                              : evaluate::Depth::full;
    request.check_seeds = settings.submit_trials;
  }
  return judged(tool, kernel, evaluator.evaluate(request), settings.tools);
}

}  // namespace sweep::agent
