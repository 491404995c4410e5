#pragma once

#include "compile/compiler.h"
#include "evaluate/evaluation_json.h"
#include "evaluate/judge_client.h"
#include "evaluate/preparation.h"
#include "evaluate/signature.h"
#include "probe_code.h"
#include "util/file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

namespace sweep::evaluate {

// A judge and its runners, started as an evaluation starts them, around a candidate whose host code
// may do anything: it is compiled as a problem's own text, without what the compiler refuses of a
// submission. So what stops it is the runner's sandbox alone.
class Hostile : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr) {
      GTEST_SKIP() << "the sandbox is switched off";
    }
    // Open to everybody, so that what is refused below is refused by the sandbox.
    ::chmod(folder_.path().c_str(), 0755);
    compile::Options options;
    options.cache =
        std::filesystem::temp_directory_path() / ("sweep-test-cache-" + std::to_string(::getuid()));
    options.program = SWEEP_BINARY;
    compiler_.emplace(options);
    const std::filesystem::path source = SWEEP_SOURCE_DIR;
    problem_ = problem::require(source / "tests/data/problems/test/affine");
    honest_ = util::read_file(problem_->folder / "seed.cu", 1 << 16);
    reference_ = code("reference.cu", problem_->reference.text, reference_signature(*problem_));
    seed_ = code("seed.cu", honest_, candidate_signature(*problem_));
    util::make_folders(folder_.path() / "locks");
  }

  struct Ran {
    CheckResult check;
    std::optional<TimeResult> time;
    std::string said;  // standard error, with what the kernel printed
  };

  struct How {
    bool printing = true;                  // the runner has a standard output
    int timed = 0;                         // replicates of a time stage after the check
    std::function<void()> during = [] {};  // called while the check runs
    double ahead = 0;  // seconds for which the judge works ahead before it has the candidate
  };

  // A right kernel whose first call in each process runs `statements` at its end. `code` comes
  // before the kernel.
  [[nodiscard]] static std::string kernel(const std::string& code, const std::string& statements) {
    return "//@ problem test/affine\n"
           "//@ k<<<ceildiv(rows, 32), 32>>>(x, shift, y, total, rows, cols, alpha)\n"
           "static const int say_to = 1;\n" +
           std::string(test::kProbeCode) + code +
           "static int calls;\n"
           "__global__ void k(const float* x, const float* shift, float* y, float* total, int rows,"
           " int cols, float alpha) {\n"
           "  int r = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "  if (r >= rows) return;\n"
           "  float sum = 0;\n"
           "  for (int c = 0; c < cols; ++c) {\n"
           "    y[r * cols + c] = alpha * x[r * cols + c] + shift[c];\n"
           "    sum += y[r * cols + c];\n"
           "  }\n"
           "  total[r] = sum;\n"
           "  if (r == 0 && calls++ == 0) {\n" +
           statements + "\n  }\n}\n";
  }

  [[nodiscard]] Ran judge(const std::string& source, const How& how) const {
    const Code candidate = code("mine.cu", source, candidate_signature(*problem_));
    Ran ran;
    ::testing::internal::CaptureStderr();
    {
      JudgeSpec spec;
      spec.program = SWEEP_BINARY;
      spec.locks = folder_.path() / "locks";
      spec.device_printf = how.printing;
      spec.deadline_seconds = 240;
      JudgeClient client(spec);
      client.begin();
      StageOptions options;
      options.check_seeds = 1;
      options.replicates = how.timed;
      options.blocks = 2;
      if (how.ahead > 0) {
        client.prepare({*problem_,
                        *reference_,
                        *seed_,
                        {},
                        device::Kind::cpu,
                        1,
                        JudgeTask::Ahead{options, true, true}});
        util::RealClock().sleep(how.ahead);
      }
      client.open(*problem_, {&*reference_, &*seed_, &candidate}, {}, 1, [](auto&&...) {});
      ran.check =
          check_from_json(client.stage("check", options, [&how](auto&&...) { how.during(); }));
      if (how.timed > 0) {
        ran.time = time_from_json(client.stage("time", options, [](auto&&...) {}));
      }
    }
    ran.said = ::testing::internal::GetCapturedStderr();
    return ran;
  }

  [[nodiscard]] Ran run(const std::string& code, const std::string& statements) const {
    return judge(kernel(code, statements), {});
  }

  [[nodiscard]] static std::string why(const Ran& ran) {
    return (ran.check.failure ? std::string(name(ran.check.failure->verdict)) + ": " +
                                    ran.check.failure->text + "\n"
                              : "passed\n") +
           ran.said;
  }

  [[nodiscard]] const device::Image& reference_image() const { return reference_->image; }

  util::TempDir folder_;
  std::optional<problem::Problem> problem_;
  std::string honest_;

 private:
  [[nodiscard]] Code code(const std::string& file,
                          const std::string& text,
                          submission::Signature signature) const {
    return trusted_code(
        *compiler_, {device::Kind::cpu, ""}, {file, text}, std::move(signature), file != "seed.cu");
  }

  mutable std::optional<compile::Compiler> compiler_;
  std::optional<Code> reference_, seed_;
};

}  // namespace sweep::evaluate
