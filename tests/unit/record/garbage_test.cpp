#include "record/garbage.h"

#include "record/artifacts.h"
#include "record/ledger.h"
#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include <unistd.h>

namespace sweep::record {
namespace {

using ::testing::IsEmpty;

class GarbageOf : public ::testing::Test {
 protected:
  GarbageOf() : run(folder.path() / "r") { run.create(); }

  void put_text(const std::filesystem::path& file, const std::string& text) const {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  util::TempDir folder;
  RunDir run;
};

TEST_F(GarbageOf, KeepsWhatIsNamedByRowsTrajectoriesAndKeptArtifacts) {
  const Artifacts artifacts(run.artifacts_folder());
  const std::string leaf = artifacts.put("leaf"), other = artifacts.put("other");
  const std::string row = artifacts.put(R"({"tries":[{"request":")" + leaf + R"("}]})");
  const std::string trajectory = artifacts.put("named by a trajectory");
  {
    Ledger ledger(run.ledger_file());
    (void)ledger.append(kind::request, "v/m/level1/3", {{"output", row}});
  }
  put_text(run.folder() / "v/m/level_1_problem_3_trajectory.json",
           "{\"x\":\"" + trajectory + "\"}");
  put_text(run.artifacts_folder() / ("." + leaf + ".a1B2c3"), "half");
  put_text(run.artifacts_folder() / "notes.txt", "a stranger's");
  const std::vector<Garbage> found = garbage_of(run);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].kind, Garbage::Kind::unfinished);
  EXPECT_EQ(found[0].bytes, 4U);
  EXPECT_EQ(found[1].kind, Garbage::Kind::unnamed);
  EXPECT_EQ(found[1].file, artifacts.path(other));
}

TEST_F(GarbageOf, NamesThatGoInCirclesEnd) {
  const Artifacts artifacts(run.artifacts_folder());
  const std::string one = artifacts.put("one");
  put_text(run.artifacts_folder() / std::string(64, 'a'), one + " " + std::string(64, 'a'));
  {
    Ledger ledger(run.ledger_file());
    (void)ledger.append(kind::tool, "i", {{"output", std::string(64, 'a')}});
  }
  EXPECT_THAT(garbage_of(run), IsEmpty());
}

TEST_F(GarbageOf, AnotherFolderBehindALinkIsLeftAlone) {
  put_text(folder.path() / "elsewhere" / std::string(64, 'e'), "another run's");
  std::filesystem::remove_all(run.artifacts_folder());
  std::filesystem::create_directory_symlink(folder.path() / "elsewhere", run.artifacts_folder());
  { (void)Ledger(run.ledger_file()).append(kind::tool, "i", nlohmann::json::object()); }
  try {
    (void)garbage_of(run);
    FAIL() << "no error";
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_GC_LINK");
  }
}

TEST_F(GarbageOf, AFolderThatCannotBeReadLosesNothing) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may read every folder";
  }
  (void)Artifacts(run.artifacts_folder()).put("x");
  { const Ledger ledger(run.ledger_file()); }
  std::filesystem::create_directories(run.folder() / "v/m");
  std::filesystem::permissions(run.folder() / "v/m", std::filesystem::perms::none);
  EXPECT_THROW((void)garbage_of(run), util::InfraError);
  std::filesystem::permissions(run.folder() / "v/m", std::filesystem::perms::owner_all);
}

TEST_F(GarbageOf, ABrokenLedgerLosesNothing) {
  put_text(run.ledger_file(), "{\"kind\":\"run_start\"}\n");
  (void)Artifacts(run.artifacts_folder()).put("x");
  EXPECT_THROW((void)garbage_of(run), util::UsageError);
}

}  // namespace
}  // namespace sweep::record
