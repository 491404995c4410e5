#pragma once

#include "agent/tools.h"
#include "util/error.h"

#include <utility>
#include <vector>

namespace sweep::agent::test {

// Answers with what it was given, and keeps what it was asked.
class StubEvaluator final : public Evaluator {
 public:
  evaluate::Evaluation evaluate(const evaluate::EvaluationRequest& request) override {
    requests.push_back(request);
    return evaluation;
  }

  profile::Report inspect(const evaluate::EvaluationRequest&,
                          const evaluate::Evaluation&,
                          const profile::Wanted& asked) override {
    wanted.push_back(asked);
    if (fails) {
      throw util::InfraError({"compiler", "died", "see /var/log/messages"}, "E_TEST");
    }
    return report;
  }

  evaluate::FoundCalibration calibration() override { return found; }

  evaluate::Evaluation evaluation;
  profile::Report report;
  evaluate::FoundCalibration found{std::nullopt, "sweep calibrate was not run on this GPU"};
  bool fails = false;
  std::vector<evaluate::EvaluationRequest> requests;
  std::vector<profile::Wanted> wanted;
};

// An evaluation on a GPU that went through `check`.
inline evaluate::Evaluation checked() {
  evaluate::Evaluation out;
  out.verdict = evaluate::Verdict::pass_inconclusive;
  out.problem = "test/gemm_bf16";
  out.device = "cuda:0";
  out.device_info.name = "NVIDIA H200";
  out.device_info.arch = "sm_90a";
  out.device_info.uuid = "GPU-1";
  out.device_info.sm_count = 132;
  out.screen.emplace();
  out.screen->launches = 1;
  out.screen->kernels = {"gemm"};
  out.compile.emplace();
  out.compile->status = "ok";
  out.compile->kernels = {{"gemm", 168, 0, 196'608, 0}};
  out.check.emplace();
  evaluate::Call call;
  call.shape = "small";
  call.dims = {{"k", 64}, {"m", 128}, {"n", 256}};
  call.content = "default";
  call.worst_share = 0.12;
  call.device_seconds = 1e-5;
  out.check->calls = {call, call};
  out.check->worst_share = 0.12;
  return out;
}

inline ToolSettings on_gpu() {
  ToolSettings settings;
  settings.problem = "test/gemm_bf16";
  settings.device = {device::Kind::cuda, 0};
  settings.allow_unsandboxed = true;
  return settings;
}

}  // namespace sweep::agent::test
