#include "record/claims.h"

#include "record/claim_files.h"
#include "record/run_dir.h"
#include "util/error.h"
#include "util/fake_clock.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <set>
#include <utility>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sweep::record {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using State = Claims::State;

constexpr const char* kClaimed = "v/m/level1/3";

class ClaimsTest : public ::testing::Test {
 protected:
  ClaimsTest() : work_(dir_.path() / "t.json") { std::ofstream(work_) << "{}\n"; }

  [[nodiscard]] fs::path file(const std::string& end) const {
    return folder_ / (claim_stem(kClaimed) + end);
  }

  util::TempDir dir_;
  fs::path folder_ = dir_.path() / "claims";
  fs::path work_;
  util::FakeClock clock_;
  Claims a_{folder_, {"a", "host", 1}, 100, clock_};
  Claims b_{folder_, {"b", "host", 2}, 100, clock_};
};

TEST_F(ClaimsTest, OneTaskHasAnItemUntilItIsFinished) {
  EXPECT_EQ(a_.claim(kClaimed).state, State::mine);
  EXPECT_EQ(a_.epoch_of(kClaimed), 1);
  EXPECT_EQ(b_.claim(kClaimed).state, State::busy);
  EXPECT_EQ(b_.epoch_of(kClaimed), 0);
  EXPECT_TRUE(a_.publish(kClaimed, work_, std::nullopt));
  EXPECT_EQ(b_.claim(kClaimed).state, State::finished);
  EXPECT_EQ(a_.claim(kClaimed).state, State::finished);
  ASSERT_EQ(published_of(folder_).size(), 1U);
  EXPECT_TRUE(fs::equivalent(published_of(folder_)[0].trajectory, work_));
}

TEST_F(ClaimsTest, AnEndedLeaseIsTakenOverAndTheFirstHolderMayNotPublish) {
  ASSERT_EQ(a_.claim(kClaimed).state, State::mine);
  expire(file(".1"));
  EXPECT_EQ(b_.claim(kClaimed).state, State::mine);
  EXPECT_EQ(b_.epoch_of(kClaimed), 2);
  EXPECT_FALSE(a_.publish(kClaimed, work_, std::nullopt));
  EXPECT_THAT(published_of(folder_), IsEmpty());
  EXPECT_TRUE(b_.publish(kClaimed, work_, std::nullopt));
  EXPECT_EQ(published_of(folder_).size(), 1U);
}

// The race that no look before can exclude: the old holder's link comes after the new claim.
TEST_F(ClaimsTest, AResultOfALowerEpochDoesNotCount) {
  ASSERT_EQ(a_.claim(kClaimed).state, State::mine);
  link_file(work_, file(".1.result"));
  EXPECT_EQ(published_of(folder_).size(), 1U);
  std::ofstream(file(".2")) << "{}";
  EXPECT_THAT(published_of(folder_), IsEmpty());
}

TEST_F(ClaimsTest, ARenewedLeaseGoesOnAndALostOneIsSaid) {
  ASSERT_EQ(a_.claim(kClaimed).state, State::mine);
  expire(file(".1"));
  clock_.advance(30);
  EXPECT_THAT(a_.renew(), IsEmpty());
  EXPECT_EQ(b_.claim(kClaimed).state, State::busy);
  expire(file(".1"));
  ASSERT_EQ(b_.claim(kClaimed).state, State::mine);
  clock_.advance(30);
  EXPECT_THAT(a_.renew(), ElementsAre(kClaimed));
  EXPECT_EQ(a_.epoch_of(kClaimed), 0);
}

TEST_F(ClaimsTest, WhoSleptForALeaseHasLostWhatItHeld) {
  ASSERT_EQ(a_.claim(kClaimed).state, State::mine);
  clock_.advance(80);
  EXPECT_FALSE(a_.publish(kClaimed, work_, std::nullopt));
}

TEST_F(ClaimsTest, AClaimOfALaterArrayIsNotOurs) {
  ASSERT_EQ(a_.claim(kClaimed).state, State::mine);
  std::ofstream(file(".1"), std::ios::trunc) << "{\"task\":\"a\"}";
  clock_.advance(30);
  EXPECT_THAT(a_.renew(), ElementsAre(kClaimed));
}

TEST_F(ClaimsTest, ReleaseFreesItemsAtOnce) {
  ASSERT_EQ(a_.claim(kClaimed).state, State::mine);
  EXPECT_EQ(task_signs(folder_, server_time(folder_)).size(), 2U);
  a_.release();
  EXPECT_EQ(task_signs(folder_, server_time(folder_)).size(), 1U);
  EXPECT_EQ(b_.claim(kClaimed).state, State::mine);
}

TEST_F(ClaimsTest, ATaskWhoseSignWasTakenAwayKnows) {
  EXPECT_TRUE(a_.open());
  fs::remove(folder_ / sign_name("a"));
  clock_.advance(30);
  (void)a_.renew();
  EXPECT_FALSE(a_.open());
}

TEST_F(ClaimsTest, HostileFilesAreClaimsOfUnknownTasks) {
  std::ofstream(file(".1")) << std::string(100000, '[');
  EXPECT_EQ(a_.claim(kClaimed).state, State::busy);
  expire(file(".1"));
  EXPECT_EQ(a_.claim(kClaimed).state, State::mine);
  EXPECT_EQ(a_.epoch_of(kClaimed), 2);
  const std::string other = "v/m/level1/4";
  fs::create_symlink("/etc/passwd", folder_ / (claim_stem(other) + ".1"));
  EXPECT_EQ(a_.claim(other).state, State::busy);
  clock_.advance(kLease);  // else nobody could ever take it
  EXPECT_EQ(a_.claim(other).state, State::mine);
  std::ofstream(folder_ / "task.x") << "{\"lease_s\":1e999,\"host\":7,\"pid\":\"x\"}";
  const auto signs = task_signs(folder_, server_time(folder_) + 10);
  ASSERT_EQ(signs.size(), 3U);
  EXPECT_EQ(signs[2].lease_s, kLease);
  EXPECT_EQ(lease_of("{\"lease_s\":1e12}"), 86400);
  EXPECT_EQ(lease_of("{\"lease_s\":-5}"), 1);
}

// Another task may have been given a clock that was wrong, or the file server's was set back.
TEST_F(ClaimsTest, ATimeOfChangeInTheFutureEndsWithTheLeaseBeforeOurEyes) {
  ASSERT_EQ(a_.claim(kClaimed).state, State::mine);
  fs::last_write_time(file(".1"), fs::file_time_type::clock::now() + std::chrono::hours(9000));
  EXPECT_EQ(b_.claim(kClaimed).state, State::busy);
  clock_.advance(99);
  EXPECT_EQ(b_.claim(kClaimed).state, State::busy);
  clock_.advance(1);
  EXPECT_EQ(b_.claim(kClaimed).state, State::mine);
  EXPECT_EQ(b_.epoch_of(kClaimed), 2);
}

// The file server's clock was set forward: every claim looks old, and its task is at work.
TEST_F(ClaimsTest, AClaimThatLooksTooOldIsWatchedFirst) {
  const auto old = [&] {
    fs::last_write_time(file(".1"), fs::file_time_type::clock::now() - std::chrono::hours(1));
  };
  ASSERT_EQ(a_.claim(kClaimed).state, State::mine);
  old();
  EXPECT_EQ(b_.claim(kClaimed).state, State::busy);
  clock_.advance(40);
  EXPECT_THAT(a_.renew(), IsEmpty());
  EXPECT_EQ(b_.claim(kClaimed).state, State::busy);
  clock_.advance(60);
  EXPECT_EQ(b_.claim(kClaimed).state, State::busy);  // renewed a moment ago by the server's clock
  old();
  EXPECT_EQ(b_.claim(kClaimed).state, State::busy);
  clock_.advance(50);
  EXPECT_EQ(b_.claim(kClaimed).state, State::mine);
}

TEST_F(ClaimsTest, LongNamesStayApart) {
  const std::string first = std::string(300, 'x') + "/1";
  const std::string second = std::string(300, 'x') + "/2";
  EXPECT_EQ(a_.claim(first).state, State::mine);
  EXPECT_EQ(a_.claim(second).state, State::mine);
  EXPECT_LT(claim_stem(first).size(), 200U);
}

TEST_F(ClaimsTest, StopIsSaidToAll) {
  EXPECT_EQ(stop_asked(folder_), StopAsked::no);
  ask_stop(folder_, false);
  EXPECT_EQ(stop_asked(folder_), StopAsked::stop);
  ask_stop(folder_, true);
  EXPECT_EQ(stop_asked(folder_), StopAsked::now);
}

// A clock that once does something between two steps of who reads it.
class HookedClock : public util::Clock {
 public:
  [[nodiscard]] double monotonic() override {
    if (hook && --reads == 0) {
      std::exchange(hook, nullptr)();
    }
    return clock.monotonic();
  }

  [[nodiscard]] double wall() override { return clock.wall(); }

  void sleep(double seconds) override { clock.sleep(seconds); }

  util::FakeClock clock;
  std::function<void()> hook;
  int reads = 0;
};

class PausedClaims : public ClaimsTest {
 protected:
  PausedClaims() { std::ofstream(late_) << "late\n"; }

  // What a publish of the paused task says that sleeps right before its links.
  bool publish_after(std::function<void()> meanwhile) {
    slow_.hook = std::move(meanwhile);
    slow_.reads = 3;  // age of the claim, its renewal, its age again; then come the links
    const bool counts = paused_.publish(kClaimed, late_, late_);
    EXPECT_FALSE(slow_.hook);
    return counts;
  }

  HookedClock slow_;
  fs::path late_ = dir_.path() / "late.json";
  Claims paused_{folder_, {"paused", "host", 3}, 100, slow_};
};

TEST_F(PausedClaims, WhoSleepsBetweenItsLookAndItsLinkReplacesNothing) {
  ASSERT_EQ(paused_.claim(kClaimed).state, State::mine);
  EXPECT_FALSE(publish_after([&] {
    expire(file(".1"));
    ASSERT_EQ(b_.claim(kClaimed).state, State::mine);
    ASSERT_TRUE(b_.publish(kClaimed, work_, std::nullopt));
  }));
  ASSERT_EQ(published_of(folder_).size(), 1U);
  EXPECT_TRUE(fs::equivalent(published_of(folder_)[0].trajectory, work_));
  EXPECT_FALSE(published_of(folder_)[0].kernel);
  EXPECT_FALSE(fs::exists(file(".1.result")));
  EXPECT_FALSE(fs::exists(file(".1.kernel")));
}

TEST_F(PausedClaims, AResultThatIsTooLateIsNoneOfALaterHolder) {
  ASSERT_EQ(paused_.claim(kClaimed).state, State::mine);
  EXPECT_FALSE(publish_after([&] {
    expire(file(".1"));
    ASSERT_EQ(b_.claim(kClaimed).state, State::mine);
  }));
  EXPECT_THAT(published_of(folder_), IsEmpty());
  expire(file(".2"));
  EXPECT_EQ(a_.claim(kClaimed).state, State::mine);
  EXPECT_EQ(a_.epoch_of(kClaimed), 3);
}

// The run was joined and given to a later array, whose claim has the very same name.
TEST_F(PausedClaims, AResultUnderAnotherArraysClaimDoesNotCount) {
  ASSERT_EQ(paused_.claim(kClaimed).state, State::mine);
  EXPECT_FALSE(publish_after([&] {
    fs::remove(file(".1"));
    ASSERT_EQ(b_.claim(kClaimed).state, State::mine);
    ASSERT_EQ(b_.epoch_of(kClaimed), 1);
  }));
  EXPECT_THAT(published_of(folder_), IsEmpty());
  EXPECT_TRUE(b_.publish(kClaimed, work_, work_));
}

TEST_F(PausedClaims, AResultWhoseRunWasJoinedMeanwhileDoesNotCount) {
  ASSERT_EQ(paused_.claim(kClaimed).state, State::mine);
  EXPECT_FALSE(publish_after([&] { fs::remove_all(folder_); }));
  EXPECT_FALSE(fs::exists(folder_));
}

// The other side: who takes over sleeps between its look for a result and its claim.
TEST_F(PausedClaims, AResultThatCameBeforeTheTakeoverStays) {
  ASSERT_EQ(a_.claim(kClaimed).state, State::mine);
  const auto changed = fs::last_write_time(file(".1"));
  fs::last_write_time(file(".1"), changed - std::chrono::seconds(1000));
  ASSERT_EQ(paused_.claim(kClaimed).state, State::busy);
  slow_.clock.advance(60);
  slow_.reads = 1;
  slow_.hook = [&] { ASSERT_TRUE(a_.publish(kClaimed, work_, late_)); };
  EXPECT_EQ(paused_.claim(kClaimed).state, State::finished);
  EXPECT_FALSE(slow_.hook);
  EXPECT_EQ(paused_.epoch_of(kClaimed), 0);
  ASSERT_EQ(published_of(folder_).size(), 1U);
  EXPECT_TRUE(fs::equivalent(published_of(folder_)[0].trajectory, work_));
  ASSERT_TRUE(published_of(folder_)[0].kernel);
  EXPECT_TRUE(fs::equivalent(*published_of(folder_)[0].kernel, late_));
  EXPECT_EQ(b_.claim(kClaimed).state, State::finished);
}

// Eight processes take two hundred items from one folder: each item goes to one of them.
TEST(ClaimsOfProcesses, EachItemIsClaimedOnce) {
  const util::TempDir dir;
  constexpr int kProcesses = 8;
  constexpr int kItems = 200;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      util::RealClock clock;
      const std::string name = "p" + std::to_string(p);
      Claims claims(dir.path() / "claims", {name, "host", ::getpid()}, 600, clock);
      std::ofstream out(dir.path() / name);
      for (int i = 0; i < kItems; ++i) {
        const std::string item = "v/m/level1/" + std::to_string(i);
        if (claims.claim(item).state == State::mine) {
          out << i << '\n';
        }
      }
      out.close();
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  std::multiset<int> taken;
  for (int p = 0; p < kProcesses; ++p) {
    std::ifstream in(dir.path() / ("p" + std::to_string(p)));
    for (int i = 0; in >> i;) {
      taken.insert(i);
    }
  }
  EXPECT_EQ(taken.size(), static_cast<std::size_t>(kItems));
  EXPECT_EQ(std::set<int>(taken.begin(), taken.end()).size(), static_cast<std::size_t>(kItems));
}

TEST(PutInPlace, ReplacesAFileInOneStepAndLeavesNothingBeside) {
  const util::TempDir dir;
  const fs::path source = dir.path() / "new";
  const fs::path target = dir.path() / "sub" / "target";
  std::ofstream(source) << "new";
  put_in_place(source, target);
  put_in_place(source, target);
  EXPECT_EQ(read_whole(target), "new");
  std::ofstream(dir.path() / "newer") << "newer";
  put_in_place(dir.path() / "newer", target);
  EXPECT_EQ(read_whole(target), "newer");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path() / "sub"), fs::directory_iterator{}), 1);
}

}  // namespace
}  // namespace sweep::record
