#include "record/verify.h"

#include "record/artifacts.h"
#include "util/file.h"
#include "util/sha256.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace sweep::record {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kKernel = "__global__ void k() {}\n";

// A run with one finished item and one artifact that a row names.
class VerifyRun : public ::testing::Test {
 protected:
  VerifyRun() {
    run_.create();
    Trajectory trajectory;
    trajectory.outcome = "correct";
    const Artifacts artifacts(run_.artifacts_folder());
    trajectory.final_result.emplace();
    trajectory.final_result->kernel_sha256 = artifacts.put(kKernel);
    trajectory.turns.emplace_back().submitted_kernel = kKernel;
    run_.save(name_, trajectory);
    Ledger ledger(run_.ledger_file());
    artifact_ = artifacts.put("a prompt");
    const std::string file = file_.lexically_relative(run_.folder()).generic_string();
    (void)ledger.append(kind::item_start, "v/m/level1/3", {{"file", file}});
    (void)ledger.append(kind::request, "v/m/level1/3", {{"input", artifact_}});
    (void)ledger.append(
        kind::item_end,
        "v/m/level1/3",
        {{"file", file}, {"trajectory_sha256", util::sha256_hex(read_whole(file_))}});
  }

  util::TempDir dir_;
  RunDir run_{dir_.path() / "run"};
  ItemName name_{"v", "m", "1", "3", 1};
  std::filesystem::path file_ = run_.trajectory_file(name_);
  std::filesystem::path kernel_ = run_.kernel_file(name_);
  std::string artifact_;
};

TEST_F(VerifyRun, AnExchangeNeedsItsBodies) {
  const Artifacts artifacts(run_.artifacts_folder());
  const std::string body = artifacts.put("a body");
  const std::string gone = util::sha256_hex("gone");
  const auto exchange = [&](const std::string& response) {
    return artifacts.put(
        nlohmann::json{{"tries", {{{"request", body}, {"response", response}}}}}.dump());
  };
  Ledger ledger(run_.ledger_file());
  const auto note = [&](const std::string& hash) {
    (void)ledger.append(
        kind::request, "v/m/level1/3", {{"input", artifact_}, {"facts", {{"exchange", hash}}}});
  };
  note(exchange(body));
  EXPECT_THAT(verify_run(run_).broken, IsEmpty());
  note(exchange(gone));
  EXPECT_THAT(verify_run(run_).broken, ElementsAre(HasSubstr(gone)));
  note(artifacts.put("{\"tries\": 3}"));
  EXPECT_THAT(verify_run(run_).broken, ElementsAre(HasSubstr(gone), HasSubstr("no exchange")));
}

TEST_F(VerifyRun, AnUntouchedRunIsIntact) {
  const RunVerification found = verify_run(run_);
  EXPECT_THAT(found.broken, IsEmpty());
  EXPECT_TRUE(found.intact());
  EXPECT_EQ(found.trajectories, 1U);
  EXPECT_EQ(found.artifacts, 2U);
  EXPECT_EQ(found.kernels, 1U);
}

TEST_F(VerifyRun, AMissingPlanIsNamed) {
  Ledger ledger(run_.ledger_file());
  (void)ledger.append(kind::run_resume, "", {{"items_sha256", std::string(64, 'a')}});
  EXPECT_THAT(verify_run(run_).broken, ElementsAre(HasSubstr("missing, but row 3 names it")));
}

TEST_F(VerifyRun, AChangedKernelIsNamed) {
  std::ofstream(kernel_, std::ios::app) << ' ';
  EXPECT_THAT(verify_run(run_).broken,
              ElementsAre("v/m/level_1_problem_3_kernel.cu: is not the text that was judged"));
  std::ofstream(kernel_) << "another kernel\n// evaluation-only/do-not-train\n";
  EXPECT_THAT(verify_run(run_).broken, ElementsAre(HasSubstr("not the text that was judged")));
}

TEST_F(VerifyRun, AMissingKernelIsNamed) {
  std::filesystem::remove(kernel_);
  EXPECT_THAT(verify_run(run_).broken, ElementsAre(HasSubstr("kernel.cu: missing")));
}

TEST_F(VerifyRun, ALinkInAKernelsPlaceIsNotFollowed) {
  std::filesystem::rename(kernel_, dir_.path() / "elsewhere.cu");
  std::filesystem::create_symlink(dir_.path() / "elsewhere.cu", kernel_);
  EXPECT_THAT(verify_run(run_).broken, ElementsAre(HasSubstr("kernel.cu: missing")));
}

TEST_F(VerifyRun, AKernelWithoutATrajectoryIsNamed) {
  std::ofstream(kernel_.parent_path() / "level_1_problem_9_kernel.cu") << "x";
  EXPECT_THAT(verify_run(run_).broken,
              ElementsAre("v/m/level_1_problem_9_kernel.cu: no trajectory is beside it"));
}

TEST_F(VerifyRun, ALostArtifactOfACutKernelIsNamed) {
  Trajectory trajectory = run_.load(file_);
  ToolCall& call = trajectory.turns[0].tool_calls.emplace_back();
  call.kernel_sha256 = Artifacts(run_.artifacts_folder()).put("a long kernel");
  run_.save(name_, trajectory);
  Ledger ledger(run_.ledger_file());
  (void)ledger.append(kind::item_end,
                      "v/m/level1/3",
                      {{"file", file_.lexically_relative(run_.folder()).generic_string()},
                       {"trajectory_sha256", util::sha256_hex(read_whole(file_))}});
  EXPECT_THAT(verify_run(run_).broken, IsEmpty());
  std::filesystem::remove(Artifacts(run_.artifacts_folder()).path(call.kernel_sha256));
  EXPECT_THAT(verify_run(run_).broken, ElementsAre(HasSubstr("the kernel of a tool call")));
}

TEST_F(VerifyRun, ALostArtifactOfTheJudgedKernelIsNamed) {
  std::filesystem::remove(
      Artifacts(run_.artifacts_folder()).path(util::sha256_hex(std::string_view(kKernel))));
  EXPECT_THAT(verify_run(run_).broken, ElementsAre(HasSubstr("names it as the judged kernel")));
}

TEST_F(VerifyRun, OneChangedByteOfATrajectoryIsNamed) {
  std::ofstream(file_, std::ios::app) << ' ';
  EXPECT_THAT(verify_run(run_).broken, ElementsAre(HasSubstr("changed since it was judged")));
}

TEST_F(VerifyRun, AMissingTrajectoryIsNamed) {
  std::filesystem::remove(file_);
  EXPECT_THAT(
      verify_run(run_).broken,
      ElementsAre(HasSubstr("trajectory.json: missing"), HasSubstr("no trajectory is beside it")));
}

TEST_F(VerifyRun, AnAddedTrajectoryIsNamed) {
  run_.save({"v", "m", "1", "4", 1}, Trajectory{});
  EXPECT_THAT(verify_run(run_).broken, ElementsAre(HasSubstr("no ledger row names it")));
}

TEST_F(VerifyRun, AnItemBegunAnewIsStillBeingWritten) {
  {
    Ledger ledger(run_.ledger_file());
    const std::string file = file_.lexically_relative(run_.folder()).generic_string();
    (void)ledger.append(kind::item_start, "v/m/level1/3", {{"file", file}});
  }
  std::ofstream(file_, std::ios::app) << ' ';
  EXPECT_TRUE(verify_run(run_).intact());
}

TEST_F(VerifyRun, AChangedArtifactAndALostOneAreNamed) {
  const std::filesystem::path path = Artifacts(run_.artifacts_folder()).path(artifact_);
  std::filesystem::remove(path);
  EXPECT_THAT(verify_run(run_).broken, ElementsAre(HasSubstr("row 1 names it")));
  std::ofstream(path) << "another prompt";
  EXPECT_THAT(verify_run(run_).broken, ElementsAre(HasSubstr(artifact_)));
}

TEST_F(VerifyRun, WhatAKilledWriterLeftIsPassedOver) {
  const std::filesystem::path folder = run_.artifacts_folder();
  std::ofstream(folder / ("." + artifact_ + ".dT3SdK")) << "half a prom";
  const RunVerification found = verify_run(run_);
  EXPECT_THAT(found.broken, IsEmpty());
  EXPECT_EQ(found.artifacts, 2U);
  std::ofstream(folder / ".other.dT3SdK") << "half a prom";
  EXPECT_THAT(verify_run(run_).broken, ElementsAre(HasSubstr("is no artifact name")));
}

TEST_F(VerifyRun, WhatAModelWasSayingAtAKillIsPassedOver) {
  std::ofstream(run_.stream_file(name_)) << "{}";
  EXPECT_THAT(verify_run(run_).broken, IsEmpty());
  EXPECT_EQ(run_.left_overs().size(), 1U);
  std::ofstream(file_.parent_path() / "other_stream.json") << "{}";
  EXPECT_THAT(verify_run(run_).broken, ElementsAre(HasSubstr("no file of a run")));
}

TEST_F(VerifyRun, ARowCannotNameAFileOutside) {
  {
    Ledger ledger(run_.ledger_file());
    (void)ledger.append(
        kind::item_end, "x", {{"file", "../../etc/passwd"}, {"trajectory_sha256", "0"}});
  }
  EXPECT_THAT(verify_run(run_).broken, ElementsAre("../../etc/passwd: missing"));
}

}  // namespace
}  // namespace sweep::record
