#include "profile/dump.h"

#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace sweep::profile {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Dump : public testing::Test {
 protected:
  void refused(const fs::path& path, const std::string& what) const {
    try {
      const DumpFolder dump(path);
      FAIL() << path << " was taken";
    } catch (const util::UsageError& error) {
      EXPECT_EQ(error.code(), "E_DUMP_FOLDER");
      EXPECT_THAT(error.what(), HasSubstr(what));
    }
  }

  util::TempDir folder_;
};

TEST_F(Dump, MakesAFolderAndListsWhatItWrote) {
  DumpFolder dump(folder_.path() / "new/");
  dump.write("a.txt", "abc");
  dump.write("b.bin", std::string_view("\0x", 2));
  ASSERT_EQ(dump.written().size(), 2U);
  EXPECT_EQ(dump.written()[0].name, "a.txt");
  EXPECT_EQ(dump.written()[1].bytes, 2U);
  EXPECT_EQ(util::read_file(folder_.path() / "new/a.txt", 10), "abc");
}

TEST_F(Dump, TakesAnEmptyFolderOnly) {
  fs::create_directory(folder_.path() / "empty");
  EXPECT_NO_THROW(DumpFolder(folder_.path() / "empty"));
  util::write_file_atomic(folder_.path() / "empty/.hidden", "x");
  refused(folder_.path() / "empty", "is not empty");
}

TEST_F(Dump, RefusesFilesLinksAndMissingParents) {
  util::write_file_atomic(folder_.path() / "file", "x");
  refused(folder_.path() / "file", "is no folder");
  fs::create_directory(folder_.path() / "target");
  fs::create_symlink(folder_.path() / "target", folder_.path() / "link");
  refused(folder_.path() / "link", "symbolic link");
  refused(folder_.path() / "link/", "symbolic link");
  fs::create_symlink(folder_.path() / "nowhere", folder_.path() / "dangling");
  refused(folder_.path() / "dangling", "symbolic link");
  refused(folder_.path() / "no/parent", "cannot be made");
  EXPECT_TRUE(fs::is_empty(folder_.path() / "target"));
}

TEST_F(Dump, NeverFollowsALinkThatAppearedMeanwhile) {
  DumpFolder dump(folder_.path() / "new");
  util::write_file_atomic(folder_.path() / "precious", "mine");
  fs::create_symlink(folder_.path() / "precious", folder_.path() / "new/a.txt");
  EXPECT_THROW(dump.write("a.txt", "theirs"), util::InfraError);
  EXPECT_EQ(util::read_file(folder_.path() / "precious", 10), "mine");
}

TEST_F(Dump, WritesIntoTheFolderItOpenedAlsoWhenItWasMoved) {
  DumpFolder dump(folder_.path() / "new");
  fs::rename(folder_.path() / "new", folder_.path() / "moved");
  fs::create_directory(folder_.path() / "other");
  fs::create_symlink(folder_.path() / "other", folder_.path() / "new");
  dump.write("a.txt", "abc");
  EXPECT_TRUE(fs::exists(folder_.path() / "moved/a.txt"));
  EXPECT_TRUE(fs::is_empty(folder_.path() / "other"));
}

}  // namespace
}  // namespace sweep::profile
