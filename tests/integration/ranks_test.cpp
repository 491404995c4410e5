// Plans on several ranks, played by the one cpu device with real processes.
#include "evaluate/evaluation.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

namespace sweep::evaluate {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* kPlan =
    "//@ problem test/exchange\n"
    "//@ k<<<ceildiv(n, 64), 64>>>(peers(x), w, total, next, n, rank, ranks)\n";

// The kernel of kPlan; `statements` know i, sum (over ranks) and all parameters.
std::string kernel(const std::string& statements) {
  return std::string(kPlan) +
         "__global__ void k(const float* const* x, const float* w, float* total, float* next, "
         "int n, int rank, int ranks) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i >= n) return;\n"
         "  float sum = 0;\n"
         "  for (int q = 0; q < ranks; ++q) sum += x[q][i];\n" +
         statements + "\n}\n";
}

// Two steps with scratch between them; `in` says what a rank adds up in the second.
std::string two_steps(const std::string& plan, const std::string& in) {
  return "//@ problem test/exchange\n//@ scratch f32 part[n]\n" + plan +
         "__global__ void put(const float* x, const float* w, float* part, int n) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i < n) part[i] = x[i] * w[i];\n"
         "}\n"
         "__global__ void add(const float* const* part, const float* const* x, const float* w, "
         "float* own, float* total, float* next, int n, int rank, int ranks) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i >= n) return;\n"
         "  next[i] = x[(rank + 1) % ranks][i];\n"
         "  own[i] = x[rank][i] * w[i];\n"
         "  float sum = 0;\n"
         "  for (int q = 0; q < ranks; ++q) sum += " +
         in + ";\n  total[i] = sum;\n}\n";
}

constexpr const char* kPut = "//@ put<<<ceildiv(n, 64), 64>>>(x, w, part, n)\n";
constexpr const char* kAdd =
    "//@ add<<<ceildiv(n, 64), 64>>>(peers(part), peers(x), w, part, total, next, n, rank, "
    "ranks)\n";
constexpr const char* kRight = "total[i] = sum * w[i]; next[i] = x[(rank + 1) % ranks][i];";

class RanksOnCpu : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path source = SWEEP_SOURCE_DIR;
    services_.problems = source / "tests/data/problems";
    services_.seeds = source / "tests/data/seeds";
    const char* cache = std::getenv("SWEEP_TEST_CACHE");
    services_.cache = cache != nullptr ? std::filesystem::path(cache)
                                       : std::filesystem::temp_directory_path() /
                                             ("sweep-test-cache-" + std::to_string(::getuid()));
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
    request.depth = only ? Depth::standard : Depth::fast;
    request.check_seeds = 2;
    request.stress_draws = 6;
    request.deadline_seconds = 240;
    request.allow_unsandboxed = std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr;
    return evaluate(request, services_);
  }

  static std::string why(const Evaluation& e) {
    return e.headline + "\n" + e.infra + (e.compile ? e.compile->log : "");
  }

  void expect(Verdict verdict, const std::string& source) {
    const Evaluation e = judge(source);
    EXPECT_EQ(e.verdict, verdict) << name(e.verdict) << ": " << why(e) << "\n" << source;
  }

  util::TempDir folder_;
  Services services_;
};

TEST_F(RanksOnCpu, ReadTheirPeersAndAreAllChecked) {
  for (const Stage stage : {Stage::check, Stage::stress}) {
    const Evaluation e = judge(kernel(kRight), stage);
    EXPECT_EQ(e.outcome(), Outcome::correct) << why(e);
    EXPECT_THAT(e.flags, Contains("virtual ranks"));
  }
}

TEST_F(RanksOnCpu, ShareScratchFromStepToStep) {
  const Evaluation e = judge(two_steps(std::string(kPut) + kAdd, "part[q][i]"), Stage::stress);
  EXPECT_EQ(e.outcome(), Outcome::correct) << why(e);
}

TEST_F(RanksOnCpu, StoreIntoScratchOfPeers) {
  const Evaluation e = judge(
      "//@ problem test/exchange\n"
      "//@ scratch f32 from[ranks, n]\n"
      "//@ push<<<ceildiv(n, 64), 64>>>(x, peers(from), n, rank, ranks)\n"
      "//@ add<<<ceildiv(n, 64), 64>>>(from, w, total, next, n, rank, ranks)\n"
      "__global__ void push(const float* x, float* const* to, int n, int rank, int ranks) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  for (int q = 0; q < ranks && i < n; ++q) to[q][rank * n + i] = x[i];\n"
      "}\n"
      "__global__ void add(const float* from, const float* w, float* total, float* next, int n, "
      "int rank, int ranks) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= n) return;\n"
      "  float sum = 0;\n"
      "  for (int q = 0; q < ranks; ++q) sum += from[q * n + i];\n"
      "  total[i] = sum * w[i];\n"
      "  next[i] = from[(rank + 1) % ranks * n + i];\n"
      "}\n",
      Stage::stress);
  EXPECT_EQ(e.outcome(), Outcome::correct) << why(e);
}

TEST_F(RanksOnCpu, AreTimedAsOneCall) {
  const Evaluation e = judge(kernel(kRight), std::nullopt);
  EXPECT_EQ(e.outcome(), Outcome::correct) << why(e);
  ASSERT_TRUE(e.time) << why(e);
  EXPECT_EQ(e.time->shapes.size(), 2U);
  // One launch of each rank; the seed has two.
  EXPECT_EQ(e.time->shapes[0].launches, 2);
  EXPECT_EQ(e.time->shapes[1].launches, 4);
  EXPECT_EQ(e.time->shapes[1].seed_launches, 8);
}

TEST_F(RanksOnCpu, FailWhereTheirPeersAreIgnored) {
  expect(Verdict::incorrect_value,
         kernel("total[i] = x[rank][i] * w[i] * ranks; next[i] = x[rank][i];"));
}

TEST_F(RanksOnCpu, FailWhereOneRankAloneIsRight) {
  expect(Verdict::incorrect_unwritten, kernel(std::string("if (rank > 0) return; ") + kRight));
  expect(Verdict::incorrect_unwritten,
         kernel(std::string("if (rank == ranks - 1) return; ") + kRight));
}

TEST_F(RanksOnCpu, FailWhereTheyTakeTheWrongRank) {
  expect(Verdict::incorrect_value,
         kernel("total[i] = sum * w[i]; next[i] = x[(rank + ranks - 1) % ranks][i];"));
  expect(Verdict::incorrect_value,
         kernel("total[i] = rank == 3 ? (sum - x[0][i]) * w[i] : sum * w[i]; "
                "next[i] = x[(rank + 1) % ranks][i];"));
}

TEST_F(RanksOnCpu, HaveEdgesOfTheirOwn) {
  // Behind the last element of one rank's output, far behind it, and far behind a peer's input.
  expect(Verdict::incorrect_out_of_bounds,
         kernel(std::string(kRight) + " if (rank == 1 && i == 0) next[n] = 1;"));
  expect(Verdict::incorrect_out_of_bounds,
         kernel(std::string(kRight) + " if (rank == 1 && i == 0) next[n + 4096] = 1;"));
  expect(Verdict::incorrect_out_of_bounds,
         kernel(std::string(kRight) + " if (i == 0) total[0] += 0 * x[ranks - 1][n + 4096];"));
}

TEST_F(RanksOnCpu, MayNotStoreThroughPeersOfTensors) {
  expect(Verdict::incorrect_input_mutated,
         kernel(std::string(kRight) +
                " if (i == 0) const_cast<float*>(x[(rank + 1) % ranks])[0] = 1;"));
  // The output of another rank, although its own pointer may be written.
  expect(Verdict::incorrect_input_mutated,
         "//@ problem test/exchange\n"
         "//@ k<<<ceildiv(n, 64), 64>>>(peers(x), w, peers(total), next, n, rank, ranks)\n"
         "__global__ void k(const float* const* x, const float* w, const float* const* total, "
         "float* next, int n, int rank, int ranks) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i >= n) return;\n"
         "  float sum = 0;\n"
         "  for (int q = 0; q < ranks; ++q) sum += x[q][i];\n"
         "  next[i] = x[(rank + 1) % ranks][i];\n"
         "  if (rank == 0)\n"
         "    for (int q = 0; q < ranks; ++q) const_cast<float*>(total[q])[i] = sum * w[i];\n"
         "}\n");
}

// Right if ranks took the step one after another from 0 on.
TEST_F(RanksOnCpu, FailWhereAPeerIsReadInTheSameStep) {
  expect(Verdict::incorrect_value, two_steps(kAdd, "q < rank ? part[q][i] : x[q][i] * w[i]"));
}

TEST_F(RanksOnCpu, TimeOutWhereTheyWaitForEachOther) {
  expect(Verdict::timeout,
         "//@ problem test/exchange\n"
         "//@ scratch u32 here[1]\n"
         "//@ zero(here)\n"
         "//@ k<<<1, 32>>>(peers(x), w, peers(here), total, next, n, rank, ranks)\n"
         "__global__ void k(const float* const* x, const float* w, unsigned* const* here, "
         "float* total, float* next, int n, int rank, int ranks) {\n"
         "  if (threadIdx.x == 0) {\n"
         "    atomicExch(here[rank], 1u);\n"
         "    for (int q = 0; q < ranks; ++q)\n"
         "      while (atomicAdd(here[q], 0u) == 0) { }\n"
         "  }\n"
         "  __syncthreads();\n"
         "  for (int i = threadIdx.x; i < n; i += 32) {\n"
         "    float sum = 0;\n"
         "    for (int q = 0; q < ranks; ++q) sum += x[q][i];\n"
         "    total[i] = sum * w[i];\n"
         "    next[i] = x[(rank + 1) % ranks][i];\n"
         "  }\n"
         "}\n");
}

TEST_F(RanksOnCpu, SayWhatIsWrongWithAPlan) {
  const Evaluation e = judge(
      "//@ problem test/exchange\n"
      "//@ if (rank == 0) k<<<1, 64>>>(x, total, next)\n"
      "__global__ void k(const float* x, float* total, float* next) {}\n");
  EXPECT_EQ(e.verdict, Verdict::plan_error);
  EXPECT_THAT(e.headline, HasSubstr("rank 1"));
  const Evaluation types = judge(
      "//@ problem test/exchange\n"
      "//@ k<<<1, 64>>>(peers(x), total, next)\n"
      "__global__ void k(float* const* x, float* total, float* next) {}\n");
  EXPECT_EQ(types.verdict, Verdict::plan_error);
  EXPECT_THAT(types.headline, HasSubstr("declare 'const float* const*'"));
}

}  // namespace
}  // namespace sweep::evaluate
