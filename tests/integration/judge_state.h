#pragma once

#include "compile/compiler.h"
#include "evaluate/judge_stages.h"
#include "evaluate/preparation.h"
#include "evaluate/session.h"
#include "evaluate/signature.h"
#include "util/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <unistd.h>

// A judge's session in the test's own process, for candidates that the compiler would refuse.
namespace sweep::evaluate {

inline const std::filesystem::path kSource = SWEEP_SOURCE_DIR;
inline constexpr std::string_view kPlan =
    "//@ problem test/affine\n"
    "//@ k<<<ceildiv(rows, 32), 32>>>(x, shift, y, total, rows, cols, alpha)\n";
inline constexpr std::string_view kHead =
    "__global__ void k(const float* x, const float* shift, float* y, float* total, int rows,\n"
    "                  int cols, float alpha) {\n"
    "  int r = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (r >= rows) return;\n";
inline constexpr std::string_view kRow =
    "  float sum = 0;\n"
    "  for (int c = 0; c < cols; ++c) {\n"
    "    y[r * cols + c] = alpha * x[r * cols + c] + shift[c];\n"
    "    sum += y[r * cols + c];\n"
    "  }\n"
    "  total[r] = sum;\n";

class JudgeState : public ::testing::Test {
 protected:
  // A session whose candidate may keep state between its calls.
  void open(const std::string& source) {
    compile::Options options;
    options.cache =
        std::filesystem::temp_directory_path() / ("sweep-test-cache-" + std::to_string(::getuid()));
    options.program = SWEEP_BINARY;
    compile::Compiler compiler(options);
    Services services;
    services.seeds = kSource / "tests/data/seeds";
    problem::Problem problem = problem::require(kSource / "tests/data/problems/test/affine");
    const compile::Target target{device::Kind::cpu, ""};
    const submission::Signature plain = candidate_signature(problem);
    Code reference = trusted_code(compiler,
                                  target,
                                  {"reference.cu", problem.reference.text},
                                  reference_signature(problem),
                                  true);
    Code seed = trusted_code(compiler, target, find_seed(services, problem), plain, false);
    Code candidate = trusted_code(compiler, target, {"mine.cu", source}, plain, true);
    program_ = util::Self::open(std::filesystem::path(SWEEP_BINARY));
    SessionOptions session;
    session.arm.program = &*program_;
    session.locks = folder_.path();
    device_ = device::open({device::Kind::cpu, 0});
    session_ = std::make_unique<Session>(std::move(session),
                                         *device_,
                                         images_,
                                         std::move(problem),
                                         std::move(reference),
                                         std::move(seed));
    session_->take_candidate(std::move(candidate), std::nullopt);
  }

  CheckResult check() { return run_check(*session_, {}, tick_); }

  TimeResult time(int blocks, int replicates = 2) {
    StageOptions options;
    options.replicates = replicates;
    options.blocks = blocks;
    return run_time(*session_,
                    options,
                    visible_places(session_->problem(), device::Kind::cpu, true),
                    problem::Key::from_seed(1),
                    tick_);
  }

  const Tick tick_ = [](const std::string&, std::size_t, std::size_t) {};
  util::TempDir folder_;
  std::optional<util::Self> program_;
  const EngineImages images_{};
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<Session> session_;  // ends before its device
};

// Right for the first `honest` calls of a process, wrong by a little after them.
inline std::string turncoat(int honest) {
  return std::string(kPlan) + "static int calls;\n" + std::string(kHead) + std::string(kRow) +
         "  if (r == 0 && ++calls > " + std::to_string(honest) + ") y[0] += 0.01f;\n}\n";
}

}  // namespace sweep::evaluate
