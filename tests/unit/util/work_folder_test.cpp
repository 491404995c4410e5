#include "util/work_folder.h"

#include "util/fd.h"
#include "util/file.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

namespace sweep::util {
namespace {

namespace fs = std::filesystem;

// Another process that makes a folder and lives until it is killed.
class Maker {
 public:
  explicit Maker(const fs::path& parent) {
    Pipe pipe = make_pipe();
    pid_ = ::fork();
    if (pid_ == 0) {
      const WorkFolder made("role", parent);
      write_file_atomic(made.path() / "file", "text");
      const std::string path = made.path().string() + "\n";
      write_all(pipe.write.get(), path, "test");
      ::pause();
    }
    pipe.write.reset();
    char byte = 0;
    while (read_all(pipe.read.get(), &byte, 1, "test") == 1 && byte != '\n') {
      path_ += byte;
    }
  }

  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;

  ~Maker() { kill(); }

  void kill() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      pid_ = -1;
    }
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  pid_t pid_ = -1;
  std::string path_;
};

TEST(WorkFolder, GoesWithItsMaker) {
  const TempDir parent;
  fs::path path;
  {
    const WorkFolder folder("role", parent.path());
    path = folder.path();
    EXPECT_EQ(path.parent_path(), parent.path());
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    write_file_atomic(path / "file", "text");
    EXPECT_EQ(remove_abandoned("role", parent.path()), 0U);
    EXPECT_TRUE(fs::exists(path / "file"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(WorkFolder, OfAKilledMakerIsRemovedByTheNext) {
  const TempDir parent;
  Maker one(parent.path());
  Maker other(parent.path());
  ASSERT_TRUE(fs::exists(fs::path(one.path()) / "file"));
  one.kill();
  EXPECT_EQ(remove_abandoned("role", parent.path()), 1U);
  EXPECT_FALSE(fs::exists(one.path()));
  EXPECT_TRUE(fs::exists(fs::path(other.path()) / "file"));
}

TEST(WorkFolder, NothingElseIsTakenForAbandoned) {
  const TempDir parent;
  const TempDir outside;
  write_file_atomic(outside.path() / "file", "kept");
  fs::create_directory_symlink(outside.path(), parent.path() / "role-abcdef");
  for (const char* name :
       {"role-abcde", "role-abcdefg", "role.abcdef", "other-abcdef", "role-a.cdef"}) {
    fs::create_directory(parent.path() / name);
  }
  write_file_atomic(parent.path() / "role-ABCDEF", "a file");
  EXPECT_EQ(remove_abandoned("role", parent.path()), 0U);
  EXPECT_TRUE(fs::exists(outside.path() / "file"));
  EXPECT_EQ(std::distance(fs::directory_iterator(parent.path()), {}), 7);
}

}  // namespace
}  // namespace sweep::util
