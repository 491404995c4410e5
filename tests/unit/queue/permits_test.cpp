#include "queue/permits.h"

#include "queue/item_limits.h"
#include "util/error.h"
#include "util/fake_clock.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sweep::queue {
namespace {

const record::Need kNeed{0, 1};
const LimitWait kAtOnce = [](int, double, const Waiting&) { return false; };

LimitSettings slots(std::int64_t count) {
  LimitSettings settings;
  settings.max_in_flight = count;
  return settings;
}

record::TryEnd answered() {
  record::TryEnd end;
  end.result = record::TryEnd::Result::answered;
  end.tokens = 1;
  return end;
}

class Permits : public ::testing::Test {
 protected:
  std::unique_ptr<SharedLimits> user(const LimitSettings& settings, const char* key = "k") {
    return std::make_unique<SharedLimits>(dir_.path(), key, settings, clock_);
  }

  // Runs `body` in a process of its own; _exit(0) when it returns true.
  template <class Body>
  static pid_t in_child(const Body& body) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::_exit(body() ? 0 : 1);
    }
    return child;
  }

  static int status_of(pid_t child) {
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  }

  util::TempDir dir_;
  util::RealClock clock_;
};

// rpm counts the minute in which a request is sent: it must not be granted while another limit is
// still waited for.
TEST_F(Permits, OfTwoLimitsNeitherIsHeldWhileTheOtherIsWaitedFor) {
  for (const bool general : {true, false}) {
    const auto own = user(slots(1), "own");
    const auto all = user(slots(1), "all");
    const auto other = user(slots(1), general ? "all" : "own");
    auto held = other->take(kNeed, false, kAtOnce);
    ASSERT_TRUE(held);
    int waits = 0;
    const LimitWait wait = [&](int, double, const Waiting&) {
      EXPECT_EQ((general ? own : all)->look().in_flight(), 0);
      if (++waits == 3) {
        held.reset();
      }
      return true;
    };
    const BothGrants both = take_both(*own, *all, kNeed, false, wait);
    EXPECT_GE(waits, 3);
    EXPECT_TRUE(both.own);
    EXPECT_TRUE(both.all);
    EXPECT_EQ(own->look().in_flight(), 1);
    EXPECT_EQ(all->look().in_flight(), 1);
  }
}

TEST_F(Permits, AreAsManyAsThereAreAndApartByKey) {
  const auto a = user(slots(2));
  const auto b = user(slots(2));
  const auto c = user(slots(2));
  auto first = a->take(kNeed, false, kAtOnce);
  const auto second = b->take(kNeed, false, kAtOnce);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(c->take(kNeed, false, kAtOnce));
  EXPECT_TRUE(user(slots(1), "other")->take(kNeed, false, kAtOnce));
  first.reset();
  EXPECT_TRUE(c->take(kNeed, false, kAtOnce));
}

TEST_F(Permits, WhoLeavesWakesTheNextAtOnce) {
  const auto a = user(slots(1));
  auto held = a->take(kNeed, false, kAtOnce);
  ASSERT_TRUE(held);
  util::Pipe told = util::make_pipe();
  const pid_t child = in_child([&] {
    const auto mine = user(slots(1));
    bool rung = false;
    const auto grant = mine->take(kNeed, false, [&](int bell, double, const Waiting& why) {
      util::write_all(told.write.get(), std::string(name(why.hold)).substr(0, 1), "test");
      pollfd one{bell, POLLIN, 0};
      rung = ::poll(&one, 1, 60000) == 1;  // longer than the test may take: only the bell ends it
      return true;
    });
    return grant && rung;
  });
  char why = 0;
  ASSERT_EQ(util::read_all(told.read.get(), &why, 1, "test"), 1U);
  EXPECT_EQ(why, 's');  // "slot"
  EXPECT_FALSE(held->settle(answered()));
  EXPECT_EQ(status_of(child), 0);
}

TEST_F(Permits, AKilledHolderGivesSlotAndTokensBackAndThoseWhoWaitGoOn) {
  LimitSettings settings = slots(1);
  settings.tpm = 600;
  settings.burst_seconds = 60;
  util::Pipe told = util::make_pipe();
  const pid_t child = in_child([&] {
    const auto mine = user(settings);
    const auto grant = mine->take({0, 500}, false, kAtOnce);
    util::write_all(told.write.get(), grant ? "y" : "n", "test");
    (void)::pause();
    return true;
  });
  char answer = 0;
  ASSERT_EQ(util::read_all(told.read.get(), &answer, 1, "test"), 1U);
  EXPECT_EQ(answer, 'y');
  const auto mine = user(settings);
  EXPECT_EQ(mine->look().tokens().last_minute(clock_.monotonic()), 500);
  EXPECT_FALSE(mine->take({0, 500}, false, kAtOnce));
  bool killed = false;
  const auto grant = mine->take({0, 500}, false, [&](int bell, double seconds, const auto& why) {
    if (!std::exchange(killed, true)) {
      EXPECT_EQ(::kill(child, SIGKILL), 0);
      (void)status_of(child);
    }
    return poll_wait()(bell, seconds, why);
  });
  EXPECT_TRUE(grant && killed);
  EXPECT_EQ(mine->look().tokens().last_minute(clock_.monotonic()), 500) << "its own alone";
  EXPECT_EQ(mine->look().requests().last_minute(clock_.monotonic()), 2);
}

// Eight processes hammer one key while some are killed at any instant; at no time hold more than
// three, and no request is counted less.
TEST_F(Permits, ProcessesAndKillsNeverExceedTheLimits) {
  LimitSettings settings = slots(3);
  settings.rpm = 400;
  settings.burst_seconds = 60;
  const auto log = dir_.path() / "log";
  std::ofstream(log).close();
  const auto work = [&](int number, int rounds) {
    return in_child([&, number, rounds] {
      const auto mine = user(settings);
      for (int i = 0; i < rounds; ++i) {
        const auto grant = mine->take(kNeed, i > 0, poll_wait());
        const LimitState state = mine->look();
        if (!grant || state.in_flight() > 3) {
          return false;
        }
        std::ofstream(log, std::ios::app) << number << '\n';
        (void)::usleep(200);
        (void)grant->settle(answered());
      }
      return true;
    });
  };
  std::vector<pid_t> steady;
  for (int i = 0; i < 5; ++i) {
    steady.push_back(work(i, 40));
  }
  for (int i = 0; i < 20; ++i) {
    const pid_t victim = work(99, 8);
    (void)::usleep(3000 + 700 * static_cast<unsigned>(i));
    EXPECT_EQ(::kill(victim, SIGKILL), 0);
    (void)status_of(victim);
  }
  for (const pid_t child : steady) {
    EXPECT_EQ(status_of(child), 0);
  }
  const LimitState state = user(settings)->look();
  EXPECT_EQ(state.in_flight(), 0);
  EXPECT_EQ(state.seats(), 0U);
  std::ifstream lines(log);
  const auto granted = std::count(std::istreambuf_iterator<char>(lines), {}, '\n');
  EXPECT_GE(granted, 200);
  EXPECT_LE(granted, 400);
  EXPECT_GE(state.requests().last_minute(clock_.monotonic()), granted);
}

TEST_F(Permits, ProcessesTogetherGetTheMinutesRequestsAndNoMore) {
  LimitSettings settings = slots(100);
  settings.rpm = 30;
  settings.burst_seconds = 60;
  const double began = clock_.monotonic();
  util::Pipe told = util::make_pipe();
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(in_child([&] {
      const auto mine = user(settings);
      for (int round = 0; round < 200; ++round) {
        if (const auto grant = mine->take(kNeed, false, kAtOnce)) {
          (void)grant->settle(answered());
          util::write_all(told.write.get(), "g", "test");
        }
      }
      return true;
    }));
  }
  for (const pid_t child : children) {
    EXPECT_EQ(status_of(child), 0);
  }
  told.write.reset();
  std::string granted(1000, ' ');
  // Who finds another first in the queue gives up, but has tries enough. What a slow machine lets
  // flow back into the bucket, half a request a second, comes on top.
  const double most = 30 + std::ceil(0.5 * (clock_.monotonic() - began));
  const auto count = util::read_all(told.read.get(), granted.data(), granted.size(), "test");
  EXPECT_GE(count, 20U);
  EXPECT_LE(static_cast<double>(count), most);
}

TEST_F(Permits, ThreadsOfOneProcessShareThemToo) {
  std::atomic<int> held = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      const auto mine = user(slots(2));
      for (int round = 0; round < 20; ++round) {
        const auto grant = mine->take(kNeed, false, poll_wait());
        const int now = ++held;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::yield();
        --held;
        (void)grant->settle(answered());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_LE(most, 2);
}

TEST_F(Permits, ATornOrForeignFileBeginsANewState) {
  {
    const auto mine = user(slots(1));
    (void)mine->take(kNeed, false, kAtOnce)->settle(answered());
    EXPECT_EQ(mine->look().requests().last_minute(clock_.monotonic()), 1);
  }
  // One copy damaged: the other still counts.
  const auto file = dir_.path() / "k.v2";
  std::string bytes = util::read_file(file, std::size_t{4} << 20);
  const std::string whole = bytes;
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  std::ofstream(file, std::ios::binary) << bytes;
  (void)user(slots(1))->look();
  for (std::size_t i = 0; i < bytes.size(); i += 7) {
    bytes[i] = static_cast<char>(bytes[i] ^ 0x55);
  }
  std::ofstream(file, std::ios::binary) << bytes;
  const auto mine = user(slots(1));
  EXPECT_EQ(mine->look().requests().last_minute(clock_.monotonic()), 0);
  EXPECT_TRUE(mine->take(kNeed, false, kAtOnce));
  std::ofstream(file, std::ios::binary) << "short";
  EXPECT_TRUE(user(slots(1))->take(kNeed, false, kAtOnce));
}

TEST_F(Permits, FilesAreTheUsersAlone) {
  const auto mine = user(slots(1));
  (void)mine->take(kNeed, false, kAtOnce);
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
    struct stat info {};

    ASSERT_EQ(::stat(entry.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0077U, 0U) << entry.path();
  }
}

TEST_F(Permits, AnOperatorsStartTriesAPausedKeyAtOnce) {
  const auto mine = user(slots(1));
  record::TryEnd refused;
  refused.result = record::TryEnd::Result::refused;
  refused.text = "authentication: wrong key";
  EXPECT_TRUE(mine->take(kNeed, false, kAtOnce)->settle(refused));
  Waiting said;
  // Another process, which met no refusal itself.
  EXPECT_FALSE(user(slots(1))->take(kNeed, false, [&](int, double, const Waiting& why) {
    said = why;
    return false;
  }));
  EXPECT_EQ(said.hold, Hold::paused);
  EXPECT_EQ(said.trouble, Trouble::refused);
  EXPECT_EQ(said.text, "authentication: wrong key");
  EXPECT_GT(said.seconds, 0);
  mine->try_now();
  EXPECT_TRUE(mine->take(kNeed, false, kAtOnce));
}

TEST_F(Permits, TheClockOfTheMachineIsAllThatTheyKnow) {
  util::FakeClock clock;
  LimitSettings settings = slots(10);
  settings.rpm = 60;
  settings.burst_seconds = 1;
  SharedLimits mine(dir_.path(), "k", settings, clock);
  double waited = 0;
  for (int i = 0; i < 30; ++i) {
    const auto grant = mine.take(kNeed, false, [&](int, double seconds, const Waiting&) {
      waited += seconds;
      clock.advance(seconds);
      return true;
    });
    ASSERT_TRUE(grant);
    (void)grant->settle(answered());
  }
  EXPECT_NEAR(waited, 29, 0.01);
}

TEST(LimitsKey, ToldApartByWhatSharesALimit) {
  const util::TempDir dir;
  const auto key = [&](const char* url, const char* api_key, const char* model, const char* group) {
    return limits_key(dir.path(), url, api_key, model, group);
  };
  const std::string one = key("https://host:1/v1", "sk-1234567890", "m", "");
  EXPECT_EQ(one.size(), 32U);
  EXPECT_EQ(key("https://host:1/v2/", "sk-1234567890", "m", ""), one);
  EXPECT_NE(key("https://host:2/v1", "sk-1234567890", "m", ""), one);
  EXPECT_NE(key("https://host:1/v1", "sk-1234567891", "m", ""), one);
  EXPECT_NE(key("https://host:1/v1", "", "m", ""), one);
  EXPECT_NE(key("https://host:1/v1", "sk-1234567890", "n", ""), one);
  EXPECT_EQ(key("a", "b", "c", "team"), key("d", "e", "f", "team"));
  // Nobody who knows the key can tell the name: it depends on the folder's secret.
  const util::TempDir other;
  EXPECT_NE(limits_key(other.path(), "https://host:1/v1", "sk-1234567890", "m", ""), one);
}

TEST(LimitsFolder, IsTheUsersAlone) {
  const util::TempDir dir;
  const auto folder = limits_folder(dir.path());
  EXPECT_EQ(limits_folder(dir.path()), folder);
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
  EXPECT_THROW((void)limits_folder(dir.path()), util::InfraError);
}

}  // namespace
}  // namespace sweep::queue
