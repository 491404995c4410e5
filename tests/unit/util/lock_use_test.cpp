#include "util/file.h"
#include "util/lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace sweep::util {
namespace {

using ::testing::SizeIs;

constexpr std::uint64_t kCapacity = 100;

class LockUses : public ::testing::Test {
 protected:
  // Gives up at the first callback, that is when it would have to wait.
  [[nodiscard]] std::optional<FileLock> try_shared(std::uint64_t bytes) const {
    return acquire(folder_.path(), "gpu", {LockMode::shared, bytes, kCapacity, 0}, [](double) {
      return false;
    });
  }

  [[nodiscard]] std::vector<Holder> now() const { return holders(folder_.path(), "gpu"); }

  TempDir folder_;
};

TEST_F(LockUses, SharedHoldersFitOrWait) {
  auto first = try_shared(60);
  ASSERT_TRUE(first);
  const auto second = try_shared(40);
  ASSERT_TRUE(second);
  EXPECT_FALSE(try_shared(1));
  // Who needs nothing is never in the way.
  EXPECT_TRUE(try_shared(0));
  EXPECT_THAT(now(), SizeIs(2));
  first.reset();
  EXPECT_THAT(now(), SizeIs(1));
  EXPECT_TRUE(try_shared(60));
  EXPECT_FALSE(try_shared(61));
}

TEST_F(LockUses, MoreThanThereIsWaitsToBeAlone) {
  auto other = try_shared(1);
  EXPECT_FALSE(try_shared(kCapacity + 1));
  EXPECT_FALSE(try_shared(UINT64_MAX));
  other.reset();
  const auto large = try_shared(UINT64_MAX);
  ASSERT_TRUE(large);
  EXPECT_FALSE(try_shared(1));
}

TEST_F(LockUses, WaitsUntilThereIsRoom) {
  auto first = try_shared(60);
  int calls = 0;
  const auto second =
      acquire(folder_.path(), "gpu", {LockMode::shared, 60, kCapacity, 0}, [&](double) {
        if (++calls == 2) {
          first.reset();
        }
        return true;
      });
  EXPECT_TRUE(second);
  EXPECT_EQ(calls, 2);
}

TEST_F(LockUses, ReservationsDieWithTheirHolder) {
  const Pipe ready = make_pipe();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto lock = try_shared(90);
    (void)!::write(ready.write.get(), lock ? "y" : "n", 1);
    ::pause();
  }
  char answer = 0;
  ASSERT_EQ(read_all(ready.read.get(), &answer, 1, "test"), 1U);
  ASSERT_EQ(answer, 'y');
  EXPECT_FALSE(try_shared(50));
  ASSERT_THAT(now(), SizeIs(1));
  EXPECT_EQ(now().front().pid, child);
  EXPECT_EQ(now().front().bytes, 90U);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_THAT(now(), SizeIs(0));
  EXPECT_TRUE(try_shared(50));
}

TEST_F(LockUses, ExclusiveHoldersAreNamed) {
  const auto lock = acquire(folder_.path(), "gpu", {LockMode::exclusive, 0, 0, 4711});
  ASSERT_TRUE(lock);
  EXPECT_FALSE(try_shared(0));
  ASSERT_THAT(now(), SizeIs(1));
  EXPECT_EQ(now().front().mode, LockMode::exclusive);
  EXPECT_EQ(text(now()), "held by pid 4711 for timing");
}

TEST_F(LockUses, NobodyWaitsSoNothingIsGivenAway) {
  auto mine = try_shared(60);
  ASSERT_TRUE(mine);
  EXPECT_TRUE(give_way(*mine, folder_.path(), "gpu", [](double) { return false; }));
  const auto alone =
      acquire(folder_.path(), "gpu", LockMode::exclusive, [](double) { return false; });
  EXPECT_FALSE(alone);
  EXPECT_THAT(now(), SizeIs(1));
}

// Waits for exclusive use in a thread; `held` until it is told to let go.
class Timing {
 public:
  explicit Timing(const std::filesystem::path& folder)
      : thread_([this, folder] {
          const auto lock = acquire(folder, "gpu", LockMode::exclusive);
          held_ = lock.has_value();
          while (!done_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }) {}

  ~Timing() {
    let_go();
    thread_.join();
  }

  [[nodiscard]] bool held() const { return held_; }

  void let_go() { done_ = true; }

 private:
  std::atomic<bool> held_ = false, done_ = false;
  std::thread thread_;
};

void until_turnstile_is_taken(const std::filesystem::path& folder) {
  while (FileLock::try_lock(open_lock_file(folder, "gpu.turn"), LockMode::exclusive)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_F(LockUses, WhoWaitsToBeAloneGoesFirst) {
  auto mine = try_shared(60);
  ASSERT_TRUE(mine);
  Timing timing(folder_.path());
  until_turnstile_is_taken(folder_.path());
  EXPECT_FALSE(timing.held());
  bool was_held = false;
  EXPECT_TRUE(give_way(*mine, folder_.path(), "gpu", [&](double) {
    was_held = was_held || timing.held();
    if (was_held) {
      // What is kept is still reserved.
      EXPECT_THAT(now(), SizeIs(2));
      timing.let_go();
    }
    return true;
  }));
  EXPECT_TRUE(was_held);
  // It is held again.
  EXPECT_FALSE(acquire(folder_.path(), "gpu", LockMode::exclusive, [](double) { return false; }));
  EXPECT_FALSE(try_shared(50));
  EXPECT_TRUE(try_shared(40));
}

TEST_F(LockUses, WhoGivesWayComesBackThoughAnotherWaitsForItsRoom) {
  auto mine = try_shared(60);
  ASSERT_TRUE(mine);
  Timing timing(folder_.path());
  until_turnstile_is_taken(folder_.path());
  // Next at the turnstile, and with what is reserved there is no room for it.
  std::atomic<bool> has_room = false;
  std::thread large([&] {
    has_room = acquire(folder_.path(), "gpu", {LockMode::shared, 60, kCapacity, 0}).has_value();
  });
  EXPECT_TRUE(give_way(*mine, folder_.path(), "gpu", [&](double) {
    if (timing.held()) {
      timing.let_go();
    }
    return true;
  }));
  EXPECT_FALSE(has_room);
  mine.reset();
  large.join();
  EXPECT_TRUE(has_room);
}

TEST_F(LockUses, GivingWayCanBeGivenUp) {
  auto mine = try_shared(60);
  ASSERT_TRUE(mine);
  Timing timing(folder_.path());
  until_turnstile_is_taken(folder_.path());
  EXPECT_FALSE(give_way(*mine, folder_.path(), "gpu", [&](double) { return !timing.held(); }));
}

// The file can be written by every user of the machine.
TEST_F(LockUses, DamagedRecordsCountNothing) {
  const auto holder = try_shared(90);
  ASSERT_TRUE(holder);
  std::mt19937 random(1);
  const Fd file = open_lock_file(folder_.path(), "gpu.use");
  for (int round = 0; round < 200; ++round) {
    std::string bytes(64 * 600, '\0');
    for (char& c : bytes) {
      constexpr std::string_view kParts = "0123456789 xs-\n";
      c = random() % 4 == 0 ? static_cast<char>(random()) : kParts[random() % kParts.size()];
    }
    ASSERT_EQ(::pwrite(file.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    EXPECT_THAT(now(), SizeIs(1));
    (void)try_shared(1);
  }
  ASSERT_EQ(::ftruncate(file.get(), 0), 0);
  EXPECT_THAT(now(), SizeIs(1));
  EXPECT_EQ(now().front().bytes, 0U);
  EXPECT_TRUE(try_shared(50));
}

// What is announced lasts as long as its descriptor, beside uses of the same name and after the
// lock was held and let go; a damaged file says nothing wrong of who is alive.
TEST_F(LockUses, AnnouncedAreThoseWhoStillSaySo) {
  EXPECT_THAT(announced(folder_.path(), "gpu"), ::testing::IsEmpty());
  std::optional<Fd> first = announce(folder_.path(), "gpu");
  const Fd second = announce(folder_.path(), "gpu");
  EXPECT_THAT(announced(folder_.path(), "gpu"), ::testing::ElementsAre(::getpid(), ::getpid()));
  EXPECT_THAT(announced(folder_.path(), "other"), ::testing::IsEmpty());
  EXPECT_TRUE(try_shared(60));
  EXPECT_THAT(now(), SizeIs(0));
  first.reset();
  EXPECT_THAT(announced(folder_.path(), "gpu"), ::testing::ElementsAre(::getpid()));
  const Fd third = announce(folder_.path(), "gpu");
  EXPECT_THAT(announced(folder_.path(), "gpu"), SizeIs(2)) << "in the place that was let go";
  const Fd file = open_lock_file(folder_.path(), "gpu.open");
  ASSERT_EQ(::ftruncate(file.get(), 0), 0);
  EXPECT_THAT(announced(folder_.path(), "gpu"), ::testing::ElementsAre(0, 0));
}

// It ends with the process, however that ends.
TEST_F(LockUses, WhoDiesIsAnnouncedNoMore) {
  const pid_t child = ::fork();
  if (child == 0) {
    const Fd mine = announce(folder_.path(), "gpu");
    ::kill(::getpid(), SIGSTOP);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  EXPECT_THAT(announced(folder_.path(), "gpu"), ::testing::ElementsAre(child));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_THAT(announced(folder_.path(), "gpu"), ::testing::IsEmpty());
}

TEST(LockText, NamesTheFirstFew) {
  EXPECT_EQ(text({}), "others are before us");
  EXPECT_EQ(text({{3, LockMode::shared, 1}, {4, LockMode::shared, 1}}), "held by pids 3, 4");
  EXPECT_EQ(text(std::vector<Holder>(5, {7, LockMode::shared, 1})), "held by pids 7, 7, 7, 7, ..");
}

}  // namespace
}  // namespace sweep::util
