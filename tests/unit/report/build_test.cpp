#include "report/build.h"

#include "../../support/synthetic_run.h"
#include "record/artifacts.h"
#include "record/ledger.h"
#include "record/plan.h"
#include "report/row_cache.h"
#include "report/stream.h"
#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
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
  EXPECT_THAT(live, HasSubstr("0 / 2"));
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
  // Of the run, its variant, level, two problems and two models; items, rejected, environment,
  // methods, cite; two trajectories.
  EXPECT_EQ(pages, 14U);
}

TEST_F(ReportOfAPlan, ShowsWhatAModelSaysWhileItDoes) {
  const record::ItemName name{"v", "one", "1", "4", 1};
  write_stream(run_.stream_file(name), {0, "let me think", "", 12, 0});
  const auto page = [&](const BuildOptions& options) {
    (void)build(run_, options);
    return util::read_file(run_.report_folder() / "t/v/one/level_1_problem_4.html", 1 << 20);
  };
  EXPECT_THAT(page({.refresh_seconds = 1}), HasSubstr("let me think"));
  write_stream(run_.stream_file(name), {0, "let me think on", "", 15, 0});
  EXPECT_THAT(page({.refresh_seconds = 1}), HasSubstr("let me think on"));
  EXPECT_THAT(page({}), ::testing::Not(HasSubstr("let me think")));  // killed: nobody says it
  write_stream(run_.stream_file(name), {3, "of another turn", "", 15, 0});
  EXPECT_THAT(page({.refresh_seconds = 1}), ::testing::Not(HasSubstr("of another turn")));
}

// The state of each file below a folder.
std::map<std::string, FileStamp> stamps(const fs::path& folder) {
  std::map<std::string, FileStamp> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      out[entry.path().lexically_relative(folder).generic_string()] = stamp_of(entry.path());
    }
  }
  return out;
}

// What pages and files for readers hold.
std::map<std::string, std::string> texts(const fs::path& folder) {
  std::map<std::string, std::string> out;
  for (const auto& [name, stamp] : stamps(folder)) {
    if (!name.starts_with(".")) {
      out[name] = util::read_file(folder / name, std::size_t{64} << 20U);
    }
  }
  return out;
}

class ReportAgain : public ::testing::Test {
 protected:
  void SetUp() override { support::make_synthetic_run(run_.folder(), {.items = 60}); }

  void change_one() const {
    const fs::path file = run_.trajectory_files().back();
    record::Trajectory t = run_.load(file);
    t.error = "changed by hand";
    util::write_file_atomic(file, record::to_json(t).dump());
  }

  [[nodiscard]] fs::path cache() const { return run_.report_folder() / ".rows"; }

  util::TempDir folder_;
  record::RunDir run_{folder_.path() / "run"};
};

TEST_F(ReportAgain, TouchesNothingOfAnUnchangedRun) {
  const Built first = build(run_);
  EXPECT_EQ(first.unreadable.size(), 2U);
  EXPECT_GE(first.pages, 60U);
  const auto before = stamps(run_.report_folder());
  const Built second = build(run_);
  EXPECT_EQ(second.pages, 0U);
  EXPECT_EQ(second.unreadable, first.unreadable);
  EXPECT_EQ(stamps(run_.report_folder()), before);
}

TEST_F(ReportAgain, FollowsTheOneThatChanged) {
  (void)build(run_);
  auto before = stamps(run_.report_folder());
  change_one();
  (void)build(run_);
  auto after = stamps(run_.report_folder());
  std::size_t items = 0;
  for (const auto& [name, stamp] : after) {
    items += name.starts_with("t/") && before[name] != stamp ? 1U : 0U;
  }
  EXPECT_EQ(items, 1U);
}

// What a rebuild leaves is what a build from nothing makes.
TEST_F(ReportAgain, IsAsIfMadeAnew) {
  (void)build(run_);
  change_one();
  fs::remove(run_.trajectory_files().front());
  {
    record::Ledger ledger(run_.ledger_file());
    ledger.append(record::kind::run_end, "", {{"interrupted", false}});
  }
  (void)build(run_);
  const auto again = texts(run_.report_folder());
  fs::remove_all(run_.report_folder());
  (void)build(run_, {.workers = 1, .use_cache = false});
  auto anew = texts(run_.report_folder());
  for (const auto& [name, bytes] : again) {
    // Of a problem whose only item is gone a page is left.
    EXPECT_TRUE(!anew.contains(name) || anew[name] == bytes) << name;
    anew.erase(name);
  }
  EXPECT_TRUE(anew.empty());
  EXPECT_THAT(again.at("index.html"), HasSubstr("changed by hand"));
}

TEST_F(ReportAgain, MakesAnewWhatIsGoneOrWasTouched) {
  (void)build(run_);
  std::vector<fs::path> pages;
  for (const auto& entry : fs::recursive_directory_iterator(run_.report_folder() / "t")) {
    if (entry.is_regular_file()) {
      pages.push_back(entry.path());
    }
  }
  const std::string good = util::read_file(pages[1], 1 << 24);
  fs::remove(pages[0]);
  util::write_file_atomic(pages[1], "something else");
  (void)build(run_);
  EXPECT_TRUE(fs::exists(pages[0]));
  EXPECT_EQ(util::read_file(pages[1], 1 << 24), good);
}

TEST_F(ReportAgain, TrustsNoDamagedCache) {
  (void)build(run_);
  const std::string index = util::read_file(run_.report_folder() / "index.html", 1 << 24);
  const std::string good = util::read_file(cache(), 1 << 24);
  std::string flipped = good;
  flipped[good.size() / 2] ^= 1;
  for (const std::string& bad : {std::string(),
                                 good.substr(0, good.size() - 1),
                                 flipped,
                                 good + "x",
                                 std::string("sweep rows 1\n")}) {
    util::write_file_atomic(cache(), bad);
    (void)build(run_);
    EXPECT_EQ(util::read_file(run_.report_folder() / "index.html", 1 << 24), index);
    EXPECT_NE(util::read_file(cache(), 1 << 24), bad);  // written anew
  }
}

TEST_F(ReportAgain, LeavesNoFileOfItsOwnBehind) {
  (void)build(run_);
  for (const auto& [name, stamp] : stamps(run_.report_folder())) {
    EXPECT_EQ(name.find(".page."), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace sweep::report
