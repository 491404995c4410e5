#include "record/run_dir.h"

#include "support.h"
#include "util/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace sweep::record {
namespace {

using ::testing::HasSubstr;

TEST(RunDir, NamesFilesAsPopcornBenchDoes) {
  const RunDir run("/runs/x");
  EXPECT_EQ(run.trajectory_file({"popcorn2", "gpt-5.5", "1", "3", 1}),
            "/runs/x/popcorn2/gpt-5.5/level_1_problem_3_trajectory.json");
  EXPECT_EQ(run.kernel_file({"custom", "org/model:1", "sci", "heat2d", 2}),
            "/runs/x/custom/org%2Fmodel%3A1/level_sci_problem_heat2d_a2_kernel.cu");
}

TEST(RunDir, KeepsHostileNamesInside) {
  const RunDir run("/runs/x");
  const auto file = run.trajectory_file({"..", "../../etc", "/", "..", 1});
  EXPECT_EQ(file.lexically_normal(), file);
  EXPECT_THAT(file.string(), HasSubstr("/runs/x/"));
  EXPECT_EQ(std::distance(file.begin(), file.end()), 6);
}

TEST(RunDir, SavesTrajectoryAndKernelWhole) {
  const util::TempDir dir;
  const RunDir run(dir.path() / "run");
  run.create();
  Trajectory trajectory;
  trajectory.model_name = "m";
  trajectory.turns.resize(2);
  trajectory.turns[0].submitted_kernel = "first";
  trajectory.turns[1].submitted_kernel = "second";
  const ItemName item{"custom", "m", "1", "3", 1};
  run.save(item, trajectory);
  EXPECT_EQ(read_whole(run.kernel_file(item)), "second\n// evaluation-only/do-not-train\n");
  ASSERT_EQ(run.trajectory_files().size(), 1U);
  EXPECT_EQ(run.load(run.trajectory_files()[0]).model_name, "m");
  // Begun anew: the former submission is not taken for this one's.
  run.save(item, Trajectory{});
  EXPECT_FALSE(std::filesystem::exists(run.kernel_file(item)));
}

// A trajectory cuts a long text and has no bytes that are not UTF-8; the kernel file has all.
TEST(RunDir, WritesTheKernelThatWasJudgedWhereItIsAnArtifact) {
  const util::TempDir dir;
  const RunDir run(dir.path() / "run");
  run.create();
  Trajectory trajectory;
  trajectory.turns.resize(1);
  trajectory.turns[0].submitted_kernel = "head ... tail";
  trajectory.final_result.emplace();
  trajectory.final_result->kernel_sha256 = std::string(64, 'a');  // of a run without artifacts
  const ItemName item{"custom", "m", "1", "3", 1};
  run.save(item, trajectory);
  EXPECT_EQ(read_whole(run.kernel_file(item)), RunDir::kernel_text("head ... tail"));
  const std::string whole = "head \xff all tail";
  trajectory.final_result->kernel_sha256 = Artifacts(run.artifacts_folder()).put(whole);
  run.save(item, trajectory);
  EXPECT_EQ(read_whole(run.kernel_file(item)), RunDir::kernel_text(whole));
}

TEST(RunDir, SkipsArtifactsReportAndLinksWhenListing) {
  const util::TempDir dir;
  const RunDir run(dir.path() / "run");
  run.create();
  const ItemName item{"custom", "m", "1", "3", 1};
  run.save(item, {});
  std::filesystem::create_directories(run.report_folder() / "m");
  write_whole(run.report_folder() / "m" / "level_1_problem_3_trajectory.json", "{}");
  std::filesystem::create_directory_symlink(run.folder() / "custom", run.folder() / "linked");
  EXPECT_EQ(run.trajectory_files().size(), 1U);
}

TEST(RunDir, AFullDiskKeepsTheFormerFile) {
  const util::TempDir dir;
  const RunDir run(dir.path() / "run");
  run.create();
  const ItemName item{"custom", "m", "1", "3", 1};
  Trajectory trajectory;
  run.save(item, trajectory);
  const std::string before = read_whole(run.trajectory_file(item));
  trajectory.system_prompt = std::string(100000, 'x');
  try {
    const testing::SmallDisk small(8000);
    run.save(item, trajectory);
    FAIL() << "no error";
  } catch (const util::InfraError& error) {
    EXPECT_EQ(error.code(), "E_RUN_WRITE");
    EXPECT_THAT(error.what(), HasSubstr("trajectory.json"));
  }
  EXPECT_EQ(read_whole(run.trajectory_file(item)), before);
}

TEST(RunDir, AFolderThatCannotBeWrittenIsRefusedAtOnce) {
  try {
    RunDir("/proc/sweep-run").create();
    FAIL() << "no error";
  } catch (const util::InfraError& error) {
    EXPECT_EQ(error.code(), "E_RUN_WRITE");
    EXPECT_THAT(error.what(), HasSubstr("/proc/sweep-run"));
  }
}

TEST(RunLock, RefusesASecondSweepAndNamesTheFirst) {
  const util::TempDir dir;
  const RunDir run(dir.path());
  const RunLock lock(run);
  try {
    const RunLock second(run);
    FAIL() << "no error";
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_RUN_BUSY");
    EXPECT_THAT(error.what(), HasSubstr("process " + std::to_string(::getpid())));
  }
}

TEST(RunLock, ItsHolderIsNamedWithoutTakingIt) {
  const util::TempDir dir;
  const RunDir run(dir.path());
  EXPECT_EQ(lock_holder(run), "");
  {
    const RunLock lock(run);
    EXPECT_THAT(lock_holder(run), HasSubstr("process " + std::to_string(::getpid()) + " on "));
  }
  EXPECT_EQ(lock_holder(run), "") << "the name of an earlier holder stays in the file";
}

TEST(RunLock, IsFreeAgainWhenItsHolderDies) {
  const util::TempDir dir;
  const RunDir run(dir.path());
  const pid_t child = ::fork();
  if (child == 0) {
    const RunLock lock(run);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_NO_THROW(RunLock{run});
}

TEST(OwnParts, AreTheNamesOfARunsOwnFiles) {
  for (const char* own : {"artifacts",
                          "claims",
                          "log",
                          "report",
                          "slurm",
                          "sweep_config.json",
                          "ledger.jsonl",
                          "ledger.1_0r2.jsonl"}) {
    EXPECT_TRUE(is_own_part(own)) << own;
  }
  for (const char* other : {"custom", "popcorn2", "Report", "ledger", "%2Elock"}) {
    EXPECT_FALSE(is_own_part(other)) << other;
  }
}

}  // namespace
}  // namespace sweep::record
