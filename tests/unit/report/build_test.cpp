#include "report/build.h"

#include "record/artifacts.h"
#include "record/ledger.h"
#include "record/plan.h"
#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

namespace sweep::report {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// The report of a run without items.
class ReportBuild : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(outside());
    fs::create_directory(folder_.path() / "run");
  }

  [[nodiscard]] fs::path outside() const { return folder_.path() / "outside"; }

  util::TempDir folder_;
  record::RunDir run_{folder_.path() / "run"};
};

TEST_F(ReportBuild, WritesInsideTheRun) {
  const Built built = build(run_);
  EXPECT_TRUE(fs::is_regular_file(built.index));
  EXPECT_EQ(built.index.parent_path(), run_.folder() / "report");
}

TEST_F(ReportBuild, FollowsNoLinkOutOfTheRun) {
  fs::create_directory_symlink(outside(), run_.report_folder());
  EXPECT_THROW((void)build(run_), util::UsageError);
  EXPECT_TRUE(fs::is_empty(outside()));
}

TEST_F(ReportBuild, FollowsNoLinkBelowItsFolder) {
  (void)build(run_);
  fs::create_directory_symlink(outside(), run_.report_folder() / "t");
  EXPECT_THROW((void)build(run_), util::UsageError);
  EXPECT_TRUE(fs::is_empty(outside()));
}

TEST_F(ReportBuild, PutsPagesInPlaceOfLinks) {
  (void)build(run_);
  util::write_file_atomic(outside() / "file", "kept");
  fs::remove(run_.report_folder() / "index.html");
  fs::create_symlink(outside() / "file", run_.report_folder() / "index.html");
  (void)build(run_);
  EXPECT_EQ(util::read_file(outside() / "file", 100), "kept");
  EXPECT_FALSE(fs::is_symlink(run_.report_folder() / "index.html"));
}

// A run of three items, one of which was begun.
class ReportOfAPlan : public ReportBuild {
 protected:
  void SetUp() override {
    ReportBuild::SetUp();
    const record::Artifacts artifacts(run_.artifacts_folder());
    const std::string plan = artifacts.put(record::plan_json(
        {{"v", "one", "1", "3", 1}, {"v", "one", "1", "4", 1}, {"v", "two", "1", "3", 1}}));
    ledger_.emplace(run_.ledger_file());
    (void)ledger_->append(record::kind::run_start, {}, {{"items_sha256", plan}});
    record::Trajectory begun;
    begun.model_name = "one";
    begun.level = "1";
    begun.problem_id = "4";
    run_.save({"v", "one", "1", "4", 1}, begun);
  }

  [[nodiscard]] std::string index(const BuildOptions& options = {}) const {
    return util::read_file(build(run_, options).index, 1 << 20);
  }

  std::optional<record::Ledger> ledger_;
};

TEST_F(ReportOfAPlan, ShowsWhatWaits) {
  const std::string live = index({.refresh_seconds = 1});
  EXPECT_THAT(live, HasSubstr("badge running"));
  EXPECT_THAT(live, HasSubstr("0 of 3 items finished, 1 in progress, 2 queued."));
  EXPECT_THAT(live, HasSubstr("<b>0 / 3</b>"));
  EXPECT_THAT(live, HasSubstr("0/2"));
  EXPECT_THAT(live, HasSubstr(">queued<"));
  EXPECT_THAT(live, HasSubstr("Ledger of 1 row, head"));
  EXPECT_THAT(live, HasSubstr(ledger_->head()));
  EXPECT_TRUE(fs::exists(run_.report_folder() / "m/two.html"));
}

TEST_F(ReportOfAPlan, OfAKilledRunSaysInterrupted) {
  const std::string page = index();
  EXPECT_THAT(page, HasSubstr("badge interrupted"));
  EXPECT_THAT(page, HasSubstr("0 of 3 items finished, 2 not started, 1 unfinished."));
}

TEST_F(ReportOfAPlan, OfARunThatAProcessHoldsSaysRunning) {
  const record::RunLock lock(run_);
  EXPECT_THAT(index(), HasSubstr("badge running"));
}

TEST_F(ReportOfAPlan, OfAnEndedRunSaysSo) {
  (void)ledger_->append(record::kind::run_end, {}, {{"interrupted", false}});
  EXPECT_THAT(index(), HasSubstr("badge ended"));
  EXPECT_THAT(index(), HasSubstr("Ledger of 2 rows, head"));
}

TEST_F(ReportOfAPlan, NamesAPlannedItemThatCannotBeRead) {
  util::write_file_atomic(run_.trajectory_file({"v", "one", "1", "4", 1}), "{");
  EXPECT_THAT(index(), HasSubstr(">unreadable<"));
}

TEST_F(ReportOfAPlan, OfTheCpuDeviceSaysSoOnEveryPage) {
  record::Trajectory judged;
  judged.model_name = "two";
  judged.level = "1";
  judged.problem_id = "3";
  judged.provenance.device = "cpu";
  judged.final_result.emplace().flags = {"unsealed"};
  run_.save({"v", "two", "1", "3", 1}, judged);
  const fs::path other = run_.report_folder() / "t/v/one/level_1_problem_4.html";
  (void)build(run_);
  std::size_t pages = 0;
  for (const auto& entry : fs::recursive_directory_iterator(run_.report_folder())) {
    // An item of another device says nothing of this one.
    if (entry.path().extension() == ".html" && entry.path() != other) {
      ++pages;
      const std::string page = util::read_file(entry.path(), 1 << 20);
      EXPECT_THAT(page, HasSubstr("no GPU times")) << entry.path();
      EXPECT_THAT(page, HasSubstr("1 result is of kernels that ran unsealed")) << entry.path();
    }
  }
  EXPECT_EQ(pages, 5U);
}

}  // namespace
}  // namespace sweep::report
