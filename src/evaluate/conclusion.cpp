#include "evaluate/conclusion.h"

#include "util/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::evaluate {
namespace {

// Why a candidate on a GPU that passes is neither faster nor slower for certain.
std::string inconclusive_step(const EvaluationRequest& request, const Evaluation& result) {
  if (!result.time) {
    return "";
  }
  const TimeResult& time = *result.time;
  const double limit = 1 + time.margin;
  const auto slower = std::ranges::find_if(
      time.shapes, [limit](const ShapeTiming& shape) { return shape.ratio.high < 1 / limit; });
  if (time.ratio.low > limit && slower != time.shapes.end()) {
    return "faster on the whole, but slower on " + slower->shape + ": FASTER asks that no shape is";
  }
  if (request.depth == Depth::fast) {
    return "a quick look has one replicate: leave out --fast";
  }
  return "the interval crosses the margin: more replicates narrow it (--replicates)";
}

std::string next_step(const EvaluationRequest& request, const Evaluation& result) {
  switch (result.verdict) {
    case Verdict::pass_inconclusive:
      return request.device.kind == device::Kind::cpu
                 ? "the cpu device proves correctness; time it with --device cuda:0"
                 : inconclusive_step(request, result);
    case Verdict::plan_error:
      return "correct the plan's //@ line above; docs/submission.md describes plans";
    default:
      return "";
  }
}

}  // namespace

std::string dims_text(const expr::IntEnv& dims) {
  std::string text;
  for (const auto& [name, value] : dims) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
  }
  return text;
}

Verdict infra_verdict(const util::Error& error) {
  const std::string& code = error.code();
  if (code == "E_JUDGE_LOST") {
    return Verdict::infra_lost;
  }
  if (code.starts_with("E_DEVICE") || code.starts_with("E_CUDA") || code == "E_SEED_FAULT") {
    return Verdict::infra_device;
  }
  return error.message().what.find("No space left") != std::string::npos ? Verdict::infra_disk
                                                                         : Verdict::infra_judge;
}

Protections protections_of(const std::vector<util::Protection>& list, device::Kind kind) {
  const auto active = [&list](std::string_view name) {
    return std::ranges::any_of(
        list, [name](const util::Protection& item) { return item.active && item.name == name; });
  };
  Protections p;
  p.landlock = active("landlock");
  p.seccomp = active("seccomp");
  p.network = active("network namespace");
  p.pids = active("process limit");
  p.user = std::ranges::any_of(list, [](const util::Protection& item) {
    return item.active && item.name.find("user") != std::string::npos;
  });
  const bool all = p.landlock && p.seccomp && p.network && p.pids;
  p.sealed = all && kind == device::Kind::cuda;
  p.note = !all ? "run without a sandbox" : p.sealed ? "" : "unsealed";
  return p;
}

std::string speedup_text(const TimeResult& time, std::string_view which) {
  return fmt::format("{:.3f}x  [{:.3f}, {:.3f}]  geometric mean over {} {} shape{}",
                     time.ratio.point,
                     time.ratio.low,
                     time.ratio.high,
                     time.shapes.size(),
                     which,
                     time.shapes.size() == 1 ? "" : "s");
}

std::string compile_text(const CompileResult& compile) {
  for (const std::string_view line : util::split(compile.log, '\n')) {
    if (line.find("error") != std::string_view::npos) {
      return std::string(util::trim(line));
    }
  }
  return "does not compile: " + compile.status;
}

void conclude(const EvaluationRequest& request, Evaluation& result) {
  if (request.depth == Depth::fast) {
    result.flags.emplace_back("quick look");
  }
  if (!result.protections.note.empty()) {
    result.flags.push_back(result.protections.note);
  }
  result.reproduce = "sweep eval " + request.submission.file + " --device " + result.device;
  if (!request.problem.empty()) {
    result.reproduce += " --problem " + request.problem;
  }
  if (!request.stress_gates) {
    result.reproduce += " --no-stress-gate";
  }
  if (request.allow_unsandboxed) {
    result.reproduce += " --allow-unsandboxed";
  }
  result.reproduce += " --seed " + std::to_string(request.seed);
  if (result.check && result.check->failure && !result.check->calls.empty()) {
    result.reproduce += " --only check --shape " + dims_text(result.check->calls.back().dims);
  }
  result.next = next_step(request, result);
}

}  // namespace sweep::evaluate
