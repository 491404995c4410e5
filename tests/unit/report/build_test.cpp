#include "report/build.h"

#include "util/error.h"
#include "util/file.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace sweep::report {
namespace {

namespace fs = std::filesystem;

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

}  // namespace
}  // namespace sweep::report
