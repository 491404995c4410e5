// A recording of baselines with real processes. The cpu device has kernels only: a library's entry
// says so.
#include "calibrate/baseline_record.h"
#include "cli/problem_check.h"
#include "problem/new.h"
#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace sweep::calibrate {
namespace {

using ::testing::HasSubstr;

constexpr const char* kDeclared = R"TOML(
[[baseline]]
name = "same"
file = "same.cu"
[[baseline]]
name = "wrong"
file = "wrong.cu"
[[baseline]]
name = "elsewhere"
file = "../same.cu"
[[baseline]]
name = "cuDNN"
library = "cudnn.conv"
[[baseline]]
name = "cuFFT"
library = "cufft.c2c"
args = { x = "x", y = "y", n0 = "rows" }
)TOML";

class RecordOnCpu : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path problem =
        problem::write_template(folder_.path() / "problems", "my/1_affine");
    const std::string seed = cli::seed_template("my/1");
    std::string wrong = seed;
    wrong.replace(wrong.find("alpha * x[i] + "), 15, "alpha * x[i] - ");
    const auto toml = problem / "problem.toml";
    util::write_file_atomic(toml, util::read_file(toml, 1 << 20) + kDeclared);
    util::write_file_atomic(problem / "seed.cu", seed);
    util::write_file_atomic(problem / "same.cu", seed);
    util::write_file_atomic(problem / "wrong.cu", wrong);
    problems_.push_back(problem::require(problem));
    options_.services.problems = folder_.path() / "problems";
    options_.services.cache = folder_.path() / "cache";
    options_.services.locks = folder_.path() / "locks";
    options_.services.program = SWEEP_BINARY;
    std::filesystem::create_directory(options_.services.locks);
    options_.replicates = 2;
    options_.version = "test";
    options_.allow_unsandboxed = std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr;
  }

  static const evaluate::RecordedBaseline& entry(const evaluate::BaselineTable& table,
                                                 const std::string& name) {
    const auto found = std::ranges::find(table.entries, name, &evaluate::RecordedBaseline::name);
    EXPECT_NE(found, table.entries.end()) << name;
    return found != table.entries.end() ? *found : table.entries.front();
  }

  util::TempDir folder_;
  BaselineOptions options_;
  std::vector<problem::Problem> problems_;
};

TEST_F(RecordOnCpu, TimesWhatIsRightAndSaysWhatIsNot) {
  std::vector<std::string> said;
  const evaluate::BaselineTable table =
      record_baselines(options_, problems_, [&](const std::string& line) { said.push_back(line); });
  ASSERT_EQ(table.entries.size(), 6U);
  EXPECT_EQ(said.size(), 6U);
  for (const char* name : {"seed", "same"}) {
    const evaluate::RecordedBaseline& good = entry(table, name);
    EXPECT_EQ(good.failure, "") << name;
    ASSERT_EQ(good.shapes.size(), 1U) << name;
    EXPECT_GT(good.shapes[0].seconds, 0);
    EXPECT_GT(good.shapes[0].seed_seconds, 0);
    EXPECT_GT(good.ratio.point, 0);
    EXPECT_EQ(good.problem_sha256, problems_[0].hash());
    EXPECT_THAT(good.conditions.reason, HasSubstr("cpu device"));
  }
  const evaluate::RecordedBaseline& wrong = entry(table, "wrong");
  EXPECT_THAT(wrong.failure, HasSubstr("wrong, not timed: y"));
  EXPECT_TRUE(wrong.shapes.empty());
  EXPECT_THAT(entry(table, "elsewhere").failure, HasSubstr("in the problem's folder"));
  EXPECT_THAT(entry(table, "cuDNN").failure, HasSubstr("there are cublas.gemm"));
  EXPECT_NE(entry(table, "cuFFT").failure, "");
  EXPECT_TRUE(entry(table, "cuFFT").shapes.empty());
  const auto found = evaluate::find_baselines(options_.services.cache, table.device);
  ASSERT_TRUE(found.table) << found.reason;
  EXPECT_EQ(found.table->id, table.id);
}

TEST_F(RecordOnCpu, AProblemWithoutASeedIsAnEntryThatSaysSo) {
  std::filesystem::remove(problems_[0].folder / "seed.cu");
  const auto table = record_baselines(options_, problems_, [](const std::string&) {});
  ASSERT_EQ(table.entries.size(), 1U);
  EXPECT_EQ(table.entries[0].name, "seed");
  EXPECT_THAT(table.entries[0].failure, HasSubstr("seed"));
}

}  // namespace
}  // namespace sweep::calibrate
