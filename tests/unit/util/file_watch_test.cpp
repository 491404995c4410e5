#include "util/file_watch.h"

#include "util/file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

namespace sweep::util {
namespace {

namespace fs = std::filesystem;

constexpr double kLong = 20;     // seconds; a wait that succeeds returns long before
constexpr double kShort = 0.05;  // of a wait in which nothing happens

class FileWatchTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path file(const std::string& name = "k.cu") const {
    return folder_.path() / name;
  }

  static void save(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  TempDir folder_;
};

TEST_F(FileWatchTest, NothingHappensWithoutASave) {
  save(file(), "a");
  FileWatch watch({file()}, 0.01);
  EXPECT_FALSE(watch.wait(kShort));
  save(file("other"), "b");
  EXPECT_FALSE(watch.wait(kShort));
}

TEST_F(FileWatchTest, AWriteInPlaceIsSeenOnce) {
  save(file(), "a");
  FileWatch watch({file()}, 0.01);
  save(file(), "ab");
  save(file(), "abc");
  EXPECT_TRUE(watch.wait(kLong));
  EXPECT_FALSE(watch.wait(kShort));
}

TEST_F(FileWatchTest, ARenameOverIsSeen) {
  save(file(), "a");
  FileWatch watch({file()}, 0.01);
  save(file("tmp"), "b");  // as long as the old one
  fs::rename(file("tmp"), file());
  EXPECT_TRUE(watch.wait(kLong));
  save(file("tmp"), "c");
  fs::rename(file("tmp"), file());
  EXPECT_TRUE(watch.wait(kLong));
}

TEST_F(FileWatchTest, AFileThatVanishesIsWaitedFor) {
  save(file(), "a");
  FileWatch watch({file()}, 0.01);
  EXPECT_EQ(watch.missing(), std::nullopt);
  fs::remove(file());
  EXPECT_FALSE(watch.wait(kShort));
  EXPECT_EQ(watch.missing(), file());
  save(file(), "b");
  EXPECT_TRUE(watch.wait(kLong));
  EXPECT_EQ(watch.missing(), std::nullopt);
}

TEST_F(FileWatchTest, ASaveWakesAWaitThatHasBegun) {
  save(file(), "a");
  FileWatch watch({file()}, 0.01);
  std::jthread editor([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    save(file("tmp"), "b");
    fs::rename(file("tmp"), file());
  });
  EXPECT_TRUE(watch.wait(kLong));
}

TEST_F(FileWatchTest, AReplacedFolderIsFollowed) {
  fs::create_directory(file("dir"));
  save(file("dir") / "k.cu", "a");
  FileWatch watch({file("dir") / "k.cu"}, 0.01);
  fs::rename(file("dir"), file("old"));
  EXPECT_FALSE(watch.wait(kShort));
  fs::create_directory(file("dir"));
  save(file("dir") / "k.cu", "b");
  EXPECT_TRUE(watch.wait(kLong));
  save(file("dir") / "k.cu", "cc");
  EXPECT_TRUE(watch.wait(kLong));
}

TEST_F(FileWatchTest, TheTargetOfALinkIsWatched) {
  fs::create_directory(file("real"));
  save(file("real") / "k.cu", "a");
  fs::create_symlink(file("real") / "k.cu", file());
  FileWatch watch({file()}, 0.01);
  save(file("real") / "k.cu", "ab");
  EXPECT_TRUE(watch.wait(kLong));
}

TEST_F(FileWatchTest, EachOfSeveralFilesCounts) {
  save(file("a"), "1");
  save(file("b"), "1");
  FileWatch watch({file("a"), file("b")}, 0.01);
  save(file("b"), "22");
  EXPECT_TRUE(watch.wait(kLong));
  save(file("a"), "22");
  EXPECT_TRUE(watch.wait(kLong));
  EXPECT_FALSE(watch.wait(kShort));
}

// A file that is written without a pause: judged all the same.
TEST_F(FileWatchTest, AFileThatNeverRestsCountsInTheEnd) {
  save(file(), "a");
  FileWatch watch({file()}, 0.02);
  std::jthread writer([this](const std::stop_token& stop) {
    for (std::string text = "b"; !stop.stop_requested(); text += 'b') {
      save(file(), text);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_TRUE(watch.wait(kLong));
}

// Where inotify has nothing to give, as for a folder that is not there yet.
TEST_F(FileWatchTest, AFileInAFolderThatComesLaterIsFound) {
  FileWatch watch({file("later") / "k.cu"}, 0.01);
  EXPECT_EQ(watch.missing(), file("later") / "k.cu");
  fs::create_directory(file("later"));
  save(file("later") / "k.cu", "a");
  EXPECT_TRUE(watch.wait(kLong));
}

}  // namespace
}  // namespace sweep::util
