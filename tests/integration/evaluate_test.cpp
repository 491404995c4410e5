// The whole way of a submission on the cpu device with real processes: compiler, judge and runners.
#include "evaluate/evaluation.h"
#include "evaluate/feedback.h"
#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace sweep::evaluate {
namespace {

const std::filesystem::path kSource = SWEEP_SOURCE_DIR;
constexpr std::string_view kPlan =
    "//@ problem test/affine\n//@ k<<<ceildiv(rows, 32), 32>>>(x, shift, y, total, rows, cols, "
    "alpha)\n";
constexpr std::string_view kHead =
    "__global__ void k(const float* x, const float* shift, float* y, float* total, int rows, int "
    "cols, float alpha) {\n"
    "  int r = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (r >= rows) return;\n";
constexpr std::string_view kRow =
    "  float sum = 0;\n"
    "  for (int c = 0; c < cols; ++c) {\n"
    "    y[r * cols + c] = alpha * x[r * cols + c] + shift[c];\n"
    "    sum += y[r * cols + c];\n"
    "  }\n"
    "  total[r] = sum;\n";

std::string kernel(std::string_view before,
                   std::string_view row = kRow,
                   std::string_view after = "") {
  return std::string(kPlan) + std::string(kHead) + std::string(before) + std::string(row) +
         std::string(after) + "}\n";
}

class EvaluateOnCpu : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* cache = std::getenv("SWEEP_TEST_CACHE");
    cache_ = cache != nullptr ? std::filesystem::path(cache)
                              : std::filesystem::temp_directory_path() /
                                    ("sweep-test-cache-" + std::to_string(::getuid()));
  }

  void SetUp() override {
    services_.problems = kSource / "tests/data/problems";
    services_.seeds = kSource / "tests/data/seeds";
    services_.cache = cache_;
    services_.locks = folder_.path() / "locks";
    std::filesystem::create_directory(services_.locks);
    services_.salt = folder_.path() / "state/salt";
    services_.program = SWEEP_BINARY;
  }

  Evaluation judge(const std::string& source, std::optional<Stage> only = Stage::check) {
    EvaluationRequest request;
    request.submission = {"mine.cu", source};
    request.device = {device::Kind::cpu, 0};
    request.only = only;
    request.check_seeds = 2;
    request.stress_draws = 4;
    request.stress_gates = gates_;
    request.deadline_seconds = 240;
    request.allow_unsandboxed = std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr;
    return evaluate(request, services_);
  }

  static std::string why(const Evaluation& e) {
    return e.headline + "\n" + e.infra + (e.compile ? e.compile->log : "");
  }

  util::TempDir folder_;
  Services services_;
  bool gates_ = true;
  static inline std::filesystem::path cache_;
};

TEST_F(EvaluateOnCpu, ARightKernelPassesCheckAndStress) {
  const Evaluation check = judge(kernel(""));
  EXPECT_EQ(outcome_of(check.verdict), Outcome::correct) << why(check);
  ASSERT_TRUE(check.check);
  // Shapes x contents x seeds, then the first again, with one element of x and of shift changed,
  // and again.
  EXPECT_EQ(check.check->calls.size(), 2U * 2U * 2U + 4U);
  EXPECT_LT(check.check->worst_share, 1);
  EXPECT_EQ(check.problem, "test/affine");
  const Evaluation stress = judge(kernel(""), Stage::stress);
  EXPECT_EQ(outcome_of(stress.verdict), Outcome::correct) << why(stress);
  ASSERT_TRUE(stress.stress);
  EXPECT_TRUE(stress.stress->passed);
  EXPECT_EQ(stress.stress->random_shapes, 4);
  EXPECT_GT(stress.stress->edge_shapes, 2);
}

// What was not run is not called correct, and a plan is looked at without a compiler.
TEST_F(EvaluateOnCpu, ScreenAndCompileAloneJudgeNothing) {
  const Evaluation plan = judge(kernel(""), Stage::screen);
  EXPECT_FALSE(plan.compile);
  EXPECT_FALSE(plan.judged());
  EXPECT_THAT(plan.headline, ::testing::HasSubstr("nothing was compiled or run"));
  const Evaluation compiled = judge(kernel(""), Stage::compile);
  ASSERT_TRUE(compiled.compile);
  EXPECT_EQ(compiled.compile->status, "ok") << why(compiled);
  EXPECT_FALSE(compiled.judged());
  EXPECT_THAT(compiled.headline, ::testing::HasSubstr("nothing was run"));
  EXPECT_TRUE(judge(kernel(""), Stage::check).judged());
}

// Its symbol tells no types: sizes come from the device, and a wrong number of arguments is said.
TEST_F(EvaluateOnCpu, ExternCKernelsAreTaken) {
  const Evaluation e =
      judge(std::string(kPlan) + "extern \"C\" " + kernel("").substr(kPlan.size()));
  EXPECT_EQ(outcome_of(e.verdict), Outcome::correct) << why(e);
  std::string short_of_one = std::string(kPlan) + "extern \"C\" " + kernel("").substr(kPlan.size());
  short_of_one.replace(short_of_one.find(", alpha)"), 8, ")");
  const Evaluation refused = judge(short_of_one);
  EXPECT_EQ(refused.verdict, Verdict::plan_error) << why(refused);
  ASSERT_TRUE(refused.check && refused.check->failure);
  EXPECT_THAT(refused.check->failure->text, ::testing::HasSubstr("argument"));
}

TEST_F(EvaluateOnCpu, AWrongValueIsNamed) {
  const Evaluation e = judge(kernel("", kRow, "  if (r == 5) y[5 * cols + 7] += 0.25f;\n"));
  EXPECT_EQ(e.verdict, Verdict::incorrect_value) << why(e);
  ASSERT_TRUE(e.check && e.check->failure);
  EXPECT_EQ(e.check->failure->tensor, "y");
  EXPECT_EQ(e.check->failure->index, (std::vector<std::int64_t>{5, 7}));
  EXPECT_EQ(e.check->failure->wrong, 1);
  EXPECT_NE(e.reproduce.find("--only check"), std::string::npos);
}

TEST_F(EvaluateOnCpu, UnwrittenElementsAreTold) {
  const Evaluation e = judge(kernel("  if (r == rows - 1) return;\n"));
  EXPECT_EQ(e.verdict, Verdict::incorrect_unwritten) << why(e);
}

TEST_F(EvaluateOnCpu, WritingAnInputFaults) {
  const Evaluation e = judge(kernel("", kRow, "  const_cast<float*>(x)[r] = 0;\n"));
  EXPECT_EQ(e.verdict, Verdict::incorrect_input_mutated) << why(e);
}

TEST_F(EvaluateOnCpu, RunningOverTheEdgeFaults) {
  const Evaluation e = judge(kernel("", kRow, "  if (r == 0) y[rows * cols + 4096] = 1;\n"));
  EXPECT_EQ(e.verdict, Verdict::incorrect_out_of_bounds) << why(e);
}

TEST_F(EvaluateOnCpu, WritingTheSlackBehindAnOutputIsTold) {
  // 24 rows: total ends 160 bytes before its guard page.
  const Evaluation e = judge(kernel("", kRow, "  if (r == 0) total[rows] = 1;\n"));
  EXPECT_EQ(e.verdict, Verdict::incorrect_out_of_bounds) << why(e);
}

TEST_F(EvaluateOnCpu, AnEndlessLoopTimesOut) {
  const Evaluation e =
      judge(kernel("  volatile int stop = 0;\n  while (r == 3 && stop == 0) { }\n"));
  EXPECT_EQ(e.verdict, Verdict::timeout) << why(e);
}

TEST_F(EvaluateOnCpu, ACrashOfTheRunnerIsTheKernelsFault) {
  const Evaluation e =
      judge(kernel("", kRow, "  if (r == 0) *reinterpret_cast<volatile int*>(16) = 1;\n"));
  EXPECT_EQ(e.verdict, Verdict::runtime_fault) << why(e);
}

TEST_F(EvaluateOnCpu, AHardCodedShapeFailsStressWithOneBitOnly) {
  const std::string source = kernel(
      "  if (!((rows == 24 && cols == 40) || (rows == 8 && cols == 320))) { total[r] = 0; return; "
      "}\n");
  EXPECT_EQ(outcome_of(judge(source).verdict), Outcome::correct);
  const Evaluation e = judge(source, Stage::stress);
  EXPECT_EQ(e.verdict, Verdict::incorrect_generalisation) << why(e);
  EXPECT_THAT(e.headline, ::testing::HasSubstr("the visible ones were not checked"));
  ASSERT_TRUE(e.stress && e.stress->inner.for_archive());
  const Call& hidden = e.stress->calls.for_archive().back();
  const std::string text = VisibleFeedback::of(e).text();
  EXPECT_EQ(text.find(hidden.shape), std::string::npos) << text;
  EXPECT_EQ(to_json(e, View::open).dump().find(hidden.shape), std::string::npos);
}

TEST_F(EvaluateOnCpu, WithoutTheGateStressIsReportedAndDoesNotDecide) {
  gates_ = false;
  const Evaluation e = judge(
      kernel("  if (!((rows == 24 && cols == 40) || (rows == 8 && cols == 320))) { total[r] = 0; "
             "return; }\n"),
      Stage::stress);
  EXPECT_EQ(outcome_of(e.verdict), Outcome::correct) << why(e);
  ASSERT_TRUE(e.stress);
  EXPECT_FALSE(e.stress->passed);
  EXPECT_THAT(e.flags, ::testing::Contains("fails stress"));
  EXPECT_THAT(e.reproduce, ::testing::HasSubstr("--no-stress-gate"));
}

TEST_F(EvaluateOnCpu, StateOfAModuleIsRefusedWhenCompiled) {
  // judge_state_test has the same kernels without this refusal.
  const Evaluation e =
      judge(std::string(kPlan) + "__device__ int calls;\n" + std::string(kHead) +
            std::string(kRow) + "  if (r == 0 && ++calls > 12) total[0] = 0;\n}\n");
  EXPECT_EQ(e.verdict, Verdict::rejected_forbidden) << name(e.verdict) << why(e);
}

TEST_F(EvaluateOnCpu, ABrokenPlanAndABrokenSourceAreToldApart) {
  EXPECT_EQ(
      judge("//@ problem test/affine\n//@ k<<<1>>>(x)\n__global__ void k(const float* x) {}\n")
          .verdict,
      Verdict::plan_error);
  const Evaluation e = judge(kernel("  not c++;\n"));
  EXPECT_EQ(e.verdict, Verdict::compile_error);
  ASSERT_TRUE(e.compile);
  EXPECT_FALSE(e.compile->log.empty());
}

TEST_F(EvaluateOnCpu, AMismatchWithTheKernelIsAPlanError) {
  const Evaluation e =
      judge("//@ problem test/affine\n//@ k<<<1, 32>>>(x, shift, y, total, rows, cols)\n" +
            std::string(kHead) + std::string(kRow) + "}\n");
  EXPECT_EQ(e.verdict, Verdict::plan_error) << why(e);
}

TEST_F(EvaluateOnCpu, ASlowKernelIsSlower) {
  const Evaluation e = judge(kernel("  volatile float waste = 0;\n  for (int i = 0; i < 40 * cols; "
                                    "++i) waste = waste + 1;\n"),
                             Stage::time);
  ASSERT_TRUE(e.time) << why(e);
  EXPECT_EQ(e.verdict, Verdict::pass_slower) << why(e);
  EXPECT_LT(e.time->ratio.high, 1);
  EXPECT_EQ(e.time->replicates, 5);
  // How many blocks a shape has depends on how long its calls take here; every replicate has as
  // many, of four calls each.
  std::map<std::pair<int, int>, int> calls;
  for (const Sample& sample : e.time->samples) {
    ++calls[{sample.replicate, sample.shape}];
  }
  EXPECT_EQ(calls.size(), 5U * 2U);
  for (const auto& [place, count] : calls) {
    EXPECT_EQ(count % 4, 0);
    EXPECT_LE(count, 4 * e.time->blocks);
    EXPECT_EQ(count, (calls[{0, place.second}]));
  }
}

TEST_F(EvaluateOnCpu, TheCpuDeviceNeverSaysFaster) {
  const Evaluation e = judge(kernel(""), Stage::time);
  ASSERT_TRUE(e.time) << why(e);
  EXPECT_NE(e.verdict, Verdict::pass_faster);
  EXPECT_EQ(outcome_of(e.verdict), Outcome::correct);
  EXPECT_FALSE(e.protections.sealed);
}

// Once a replicate and shape; the runner only says that it is done.
TEST_F(EvaluateOnCpu, TheJudgeReadsAClockOfItsOwn) {
  const Evaluation e = judge(kernel(""), Stage::time);
  ASSERT_TRUE(e.time) << why(e);
  ASSERT_FALSE(e.time->failure);
  EXPECT_EQ(e.time->slopes.size(), 5U * e.time->shapes.size());
  EXPECT_GT(e.time->slope.limit, 0);
  EXPECT_FALSE(e.time->calibration);
}

// The calls of that clock are judged like any others: this kernel is wrong from the second call on
// one content on, which no other timed call is.
TEST_F(EvaluateOnCpu, CallsInARowAreCompared) {
  const std::string source =
      "//@ problem test/affine\n"
      "//@ scratch i32 calls[1]\n"
      "//@ k<<<ceildiv(rows, 32), 32>>>(x, shift, y, total, calls, rows, cols, alpha)\n"
      "__global__ void k(const float* x, const float* shift, float* y, float* total, int* calls, "
      "int rows, int cols, float alpha) {\n"
      "  int r = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  bool again = *calls == 7;\n"
      "  __syncthreads();\n"
      "  if (r >= rows) return;\n" +
      std::string(kRow) +
      "  if (again) y[r * cols] = 12345;\n  if (r == rows - 1) *calls = 7;\n}\n";
  const Evaluation e = judge(source, Stage::time);
  ASSERT_TRUE(e.time) << why(e);
  ASSERT_TRUE(e.time->failure) << why(e);
  EXPECT_EQ(outcome_of(e.verdict), Outcome::incorrect) << why(e);
}

TEST_F(EvaluateOnCpu, TheSameSeedGivesTheSameDraws) {
  const Evaluation a = judge(kernel(""));
  const Evaluation b = judge(kernel(""));
  ASSERT_TRUE(a.check && b.check);
  EXPECT_EQ(a.check->worst_share, b.check->worst_share);
  ASSERT_EQ(a.check->calls.size(), b.check->calls.size());
  for (std::size_t i = 0; i < a.check->calls.size(); ++i) {
    EXPECT_EQ(a.check->calls[i].worst_share, b.check->calls[i].worst_share);
  }
}

TEST_F(EvaluateOnCpu, HeldOutJudgesSecretShapes) {
  const Evaluation e = judge(kernel(""), Stage::heldout);
  ASSERT_TRUE(e.heldout) << why(e);
  EXPECT_TRUE(e.heldout->passed) << why(e);
  EXPECT_EQ(e.heldout->calls.for_archive().size(), 20U);

  struct stat info {};

  ASSERT_EQ(::stat(services_.salt.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(EvaluateOnCpu, UnknownProblemsAndDevicesAreUsageErrors) {
  EvaluationRequest request;
  request.submission = {"mine.cu", kernel("")};
  request.problem = "test/nothing";
  EXPECT_THROW((void)evaluate(request, services_), util::UsageError);
  request.problem.clear();
  request.submission.text = "__global__ void k() {}\n//@ k<<<1, 1>>>()\n";
  EXPECT_THROW((void)evaluate(request, services_), util::UsageError);
}

}  // namespace
}  // namespace sweep::evaluate
