#include "util/error.h"
#include "util/fake_clock.h"
#include "util/fd.h"
#include "util/file.h"
#include "util/lock.h"
#include "util/log.h"
#include "util/sha256.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sweep::util {
namespace {

namespace fs = std::filesystem;

template <typename Action>
std::string code_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return "none";
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

TEST(Fd, OwnsAndMoves) {
  Fd a = open_file("/dev/null", O_RDONLY);
  const int number = a.get();
  EXPECT_NE(::fcntl(number, F_GETFD) & FD_CLOEXEC, 0);
  Fd b = std::move(a);
  EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move): the moved-from state is promised
  EXPECT_TRUE(is_open(number));
  b = Fd();
  EXPECT_FALSE(is_open(number));
  EXPECT_THROW((void)open_file("/nonexistent/x", O_RDONLY), InfraError);
}

TEST(Fd, PassesDescriptors) {
  const auto [a, b] = make_socketpair();
  const Pipe pipe = make_pipe();
  const std::array<int, 1> fds = {pipe.write.get()};
  EXPECT_EQ(send_with_fds(a.get(), "x", fds), 1U);
  char byte = 0;
  const Received got = receive_with_fds(b.get(), &byte, 1);
  EXPECT_EQ(got.bytes, 1U);
  ASSERT_EQ(got.fds.size(), 1U);
  write_all(got.fds[0].get(), "y", "test");
  EXPECT_TRUE(wait_readable(pipe.read.get(), 5));
  EXPECT_FALSE(wait_readable(b.get(), 0));
  EXPECT_THROW((void)send_with_fds(a.get(), "", fds), InfraError);
}

TEST(Fd, ClosedPeerIsAnErrorNotASignal) {
  auto [a, b] = make_socketpair();
  b.reset();
  EXPECT_THROW(write_all(a.get(), "text", "peer"), InfraError);
}

TEST(File, ReadsWithinBounds) {
  const TempDir folder;
  const fs::path path = folder.path() / "f";
  write_file_atomic(path, "12345");
  EXPECT_EQ(read_file(path, 5), "12345");
  EXPECT_EQ(code_of([&] { (void)read_file(path, 4); }), "E_FILE_SIZE");
  EXPECT_EQ(code_of([&] { (void)read_file(folder.path(), 4); }), "E_FILE_KIND");
  EXPECT_EQ(code_of([&] { (void)read_file(folder.path() / "none", 4); }), "E_FILE_MISSING");
  EXPECT_EQ(code_of([&] { (void)read_file(path / "below", 4); }), "E_FILE_MISSING");
  ASSERT_EQ(::mkfifo((folder.path() / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(code_of([&] { (void)read_file(folder.path() / "fifo", 4); }), "E_FILE_KIND");
  EXPECT_EQ(code_of([&] { (void)read_file("/dev/zero", 4); }), "E_FILE_KIND");
  // Files of /proc say that they are empty.
  EXPECT_FALSE(read_file("/proc/self/status", 1 << 20).empty());
  write_file_atomic(path, "");
  EXPECT_EQ(read_file(path, 0), "");
}

TEST(File, SymbolicLinksCanBeRefused) {
  const TempDir folder;
  write_file_atomic(folder.path() / "f", "x");
  fs::create_symlink("f", folder.path() / "l");
  EXPECT_EQ(read_file(folder.path() / "l", 1), "x");
  EXPECT_EQ(code_of([&] { (void)read_file(folder.path() / "l", 1, Links::refuse); }),
            "E_FILE_KIND");
}

TEST(File, AtomicWriteReplacesOrLeaves) {
  const TempDir folder;
  const fs::path path = folder.path() / "f";
  write_file_atomic(path, "old", 0600);

  struct stat info {};

  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  write_file_atomic(path, "new");
  EXPECT_EQ(read_file(path, 10), "new");
  // A folder in the way: nothing changes and no temporary file stays.
  fs::create_directory(folder.path() / "d");
  EXPECT_THROW(write_file_atomic(folder.path() / "d", "x"), InfraError);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2);
  EXPECT_THROW(write_file_atomic(folder.path() / "none" / "f", "x"), InfraError);
}

TEST(File, ReadersNeverSeeAPartOfAnAtomicWrite) {
  const TempDir folder;
  const fs::path path = folder.path() / "f";
  write_file_atomic(path, std::string(20000, 'a'));
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (char c = 'b'; !stop; c = c == 'z' ? 'a' : static_cast<char>(c + 1)) {
      write_file_atomic(path, std::string(20000, c));
    }
  });
  for (int i = 0; i < 300; ++i) {
    const std::string text = read_file(path, 1 << 20);
    EXPECT_EQ(text.size(), 20000U);
    EXPECT_EQ(text.find_first_not_of(text.front()), std::string::npos);
  }
  stop = true;
  writer.join();
}

TEST(File, Appends) {
  const TempDir folder;
  append_durable(folder.path() / "log", "a\n");
  append_durable(folder.path() / "log", "b\n");
  EXPECT_EQ(read_file(folder.path() / "log", 10), "a\nb\n");
}

TEST(File, FullDiskIsOneClearError) {
  // /dev/full refuses every byte.
  EXPECT_EQ(code_of([] { append_durable("/dev/full", "x"); }), "E_SYSTEM");
}

TEST(File, InsidePaths) {
  for (const char* good : {"a", "a/b", "a/./b", "..a", "a..", ".hidden", "a//b"}) {
    EXPECT_TRUE(is_inside_path(good)) << good;
  }
  for (const char* bad : {"", "/", "/a", "..", "../a", "a/..", "a/../b", "a/b/.."}) {
    EXPECT_FALSE(is_inside_path(bad)) << bad;
  }
  EXPECT_FALSE(is_inside_path(std::string_view("a\0b", 3)));
  EXPECT_EQ(join_inside("/r", "a/b"), fs::path("/r/a/b"));
  EXPECT_EQ(code_of([] { (void)join_inside("/r", "../x"); }), "E_PATH");
}

TEST(File, TempDirGoesAway) {
  fs::path path;
  {
    const TempDir folder("name");
    path = folder.path();
    make_folders(path / "a/b");
    write_file_atomic(path / "a/b/f", "x");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Sha256, PublishedVectors) {
  // FIPS 180-4 examples and RFC 4231 cases 1, 2 and 6.
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(to_hex(hmac_sha256(std::string(131, '\xaa'),
                               "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(to_hex(hmac_sha256("", "")),
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(Sha256, StreamsAndFiles) {
  const std::string text(1000000, 'a');
  const std::string expected = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
  EXPECT_EQ(sha256_hex(text), expected);
  Sha256 hash;
  for (std::size_t at = 0; at < text.size(); at += 777) {
    hash.update(std::string_view(text).substr(at, 777));
  }
  EXPECT_EQ(to_hex(hash.finish()), expected);
  const TempDir folder;
  write_file_atomic(folder.path() / "f", text);
  EXPECT_EQ(sha256_file(folder.path() / "f"), expected);
  EXPECT_EQ(leading_u64(sha256("abc")), 0xeacf018fbf1678baU);
  EXPECT_NE(random_bytes(16), random_bytes(16));
}

TEST(Clock, FakeMovesOnlyWhenTold) {
  FakeClock clock(1000);
  EXPECT_EQ(clock.wall(), 1000);
  clock.sleep(2.5);
  clock.advance(1);
  clock.sleep(-1);
  EXPECT_EQ(clock.monotonic(), 3.5);
  EXPECT_EQ(clock.wall(), 1003.5);
  EXPECT_THAT(clock.slept(), testing::ElementsAre(2.5, -1));
}

TEST(Clock, RealSleepIsNeverShort) {
  RealClock clock;
  const double start = clock.monotonic();
  clock.sleep(0.02);
  EXPECT_GE(clock.monotonic() - start, 0.02);
  clock.sleep(-5);
  EXPECT_EQ(iso_time(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(iso_time(1709210096.789), "2024-02-29T12:34:56.789Z");
}

TEST(Lock, ModesExclude) {
  const TempDir folder;
  const auto file = [&] { return open_lock_file(folder.path(), "gpu"); };
  auto shared = FileLock::try_lock(file(), LockMode::shared);
  ASSERT_TRUE(shared);
  EXPECT_TRUE(FileLock::try_lock(file(), LockMode::shared));
  EXPECT_FALSE(FileLock::try_lock(file(), LockMode::exclusive));
  shared.reset();
  const auto exclusive = FileLock::try_lock(file(), LockMode::exclusive);
  ASSERT_TRUE(exclusive);
  EXPECT_FALSE(FileLock::try_lock(file(), LockMode::shared));
}

TEST(Lock, WaitingCanBeGivenUp) {
  const TempDir folder;
  const auto held = acquire(folder.path(), "gpu", LockMode::exclusive);
  ASSERT_TRUE(held);
  int calls = 0;
  EXPECT_FALSE(
      acquire(folder.path(), "gpu", LockMode::shared, [&](double) { return ++calls < 3; }));
  EXPECT_EQ(calls, 3);
}

TEST(Lock, WaitingExclusiveIsNotOvertaken) {
  const TempDir folder;
  auto first = acquire(folder.path(), "gpu", LockMode::shared);
  std::atomic<bool> waiting = false;
  std::atomic<bool> got = false;
  std::thread exclusive([&] {
    const auto lock = acquire(folder.path(), "gpu", LockMode::exclusive, [&](double) {
      waiting = true;
      return true;
    });
    got = lock.has_value();
  });
  while (!waiting) {
    std::this_thread::yield();
  }
  // A newcomer would be compatible with the shared holder, but somebody exclusive is waiting.
  EXPECT_FALSE(
      acquire(folder.path(), "gpu", LockMode::shared, [](double waited) { return waited < 0.2; }));
  first.reset();
  exclusive.join();
  EXPECT_TRUE(got);
  EXPECT_TRUE(acquire(folder.path(), "gpu", LockMode::shared));
}

TEST(Lock, DiesWithItsHolder) {
  const TempDir folder;
  const Pipe ready = make_pipe();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto lock = FileLock::try_lock(open_lock_file(folder.path(), "gpu"), LockMode::exclusive);
    (void)!::write(ready.write.get(), lock ? "y" : "n", 1);
    ::pause();
  }
  char answer = 0;
  ASSERT_EQ(read_all(ready.read.get(), &answer, 1, "test"), 1U);
  EXPECT_EQ(answer, 'y');
  EXPECT_FALSE(FileLock::try_lock(open_lock_file(folder.path(), "gpu"), LockMode::shared));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(FileLock::try_lock(open_lock_file(folder.path(), "gpu"), LockMode::shared));
}

TEST(Lock, FolderAndFilesAreForEveryone) {
  const TempDir base;
  const fs::path folder = base.path() / "locks";
  ::setenv("SWEEP_LOCK_DIR", folder.c_str(), 1);
  const mode_t before = ::umask(077);
  EXPECT_EQ(lock_folder(), folder);
  (void)open_lock_file(lock_folder(), "gpu");
  ::umask(before);
  ::unsetenv("SWEEP_LOCK_DIR");

  struct stat info {};

  ASSERT_EQ(::stat(folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 01777U);
  ASSERT_EQ(::stat((folder / "gpu").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0666U);
  fs::create_symlink("/etc/passwd", folder / "trap");
  EXPECT_THROW((void)open_lock_file(folder, "trap"), InfraError);
  EXPECT_THROW((void)open_lock_file(folder, "../x"), InfraError);
}

TEST(Log, WritesSafeLines) {
  const TempDir folder;
  const fs::path path = folder.path() / "log";
  const Log log = Log::to_file(path, LogLevel::info);
  log.debug("hidden {}", 1);
  log.warning("model says {}", "\x1b[31mred");
  Log().error("dropped");
  const std::string text = read_file(path, 4096);
  EXPECT_THAT(text, testing::HasSubstr("warning model says \\x1b[31mred\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("hidden")));
  EXPECT_EQ(code_of([&] { (void)Log::to_file(folder.path(), LogLevel::info); }), "E_LOG_FILE");
}

TEST(Error, TextHasItsParts) {
  EXPECT_EQ((Message{"a:1", "bad", "do this"}).text(), "a:1: bad; do this");
  EXPECT_EQ((Message{"", "bad", ""}).text(), "bad");
  errno = ENOENT;
  EXPECT_EQ(code_of([] { throw_errno("open", "x"); }), "E_SYSTEM");
}

}  // namespace
}  // namespace sweep::util
