// Kernels whose outputs depend on earlier calls. The compiler refuses the writable variables they
// need, so these are compiled without that refusal: the judge has to catch them by itself.
#include "judge_state.h"

#include "evaluate/timed_pair.h"
#include "evaluate/timed_shape.h"
#include "processes.h"
#include "util/lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <functional>
#include <set>
#include <span>
#include <thread>

#include <unistd.h>

namespace sweep::evaluate {
namespace {

TEST_F(JudgeState, AnHonestKernelPassesTheSameWay) {
  open(std::string(kPlan) + std::string(kHead) + std::string(kRow) + "}\n");
  EXPECT_FALSE(check().failure);
  EXPECT_FALSE(time(4).failure);
}

TEST_F(JudgeState, AnOutputKeptFromTheCallBeforeIsStale) {
  // Computes honestly the first time a row is seen and gives that result out for ever.
  open(std::string(kPlan) +
       "static float kept_y[1 << 17], kept_total[4096];\nstatic bool have[4096];\n" +
       std::string(kHead) +
       "  if (have[r]) {\n"
       "    for (int c = 0; c < cols; ++c) y[r * cols + c] = kept_y[r * cols + c];\n"
       "    total[r] = kept_total[r];\n"
       "    return;\n"
       "  }\n" +
       std::string(kRow) +
       "  for (int c = 0; c < cols; ++c) kept_y[r * cols + c] = y[r * cols + c];\n"
       "  kept_total[r] = sum;\n"
       "  have[r] = true;\n"
       "}\n");
  const CheckResult result = check();
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->verdict, Verdict::rejected_stale) << result.failure->text;
  EXPECT_EQ(result.calls.size(), 2U);  // the second content of the first shape
}

TEST_F(JudgeState, AKernelThatIsWrongOnlyInLaterCallsIsCaughtWhileItIsTimed) {
  // Check makes 12 calls (2 shapes x 2 contents x 3 seeds), a replicate 2 + 2 x 2 x 8 = 34 for each
  // arm, the first one 2 more to set the pace.
  open(turncoat(20));
  EXPECT_FALSE(check().failure);
  const TimeResult result = time(8);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->verdict, Verdict::incorrect_value) << result.failure->text;
  EXPECT_EQ(result.failure->tensor, "y");
  EXPECT_FALSE(result.decision);
}

TEST_F(JudgeState, EveryTimedCallIsJudged) {
  // Wrong late in a replicate only: 35 right calls do not excuse it. The calls of the slope clock
  // come after them.
  open(turncoat(35));
  EXPECT_FALSE(check().failure);
  EXPECT_TRUE(time(8).failure);
  open(turncoat(400));
  EXPECT_FALSE(time(8).failure);
}

// Crashes in call `nth` of a process.
std::string crasher(int nth) {
  return std::string(kPlan) + "static int calls;\n" + std::string(kHead) + std::string(kRow) +
         "  if (r == 0 && ++calls == " + std::to_string(nth) +
         ") *reinterpret_cast<volatile int*>(16) = 1;\n}\n";
}

TEST_F(JudgeState, OneFaultOfATimedCallThatDoesNotRecurCostsItsBlock) {
  // Of 36 calls; the process after the fault makes too few for another one.
  open(crasher(20));
  const TimeResult result = time(8, 1);
  EXPECT_FALSE(result.failure) << result.failure->text;
  // Of 2 shapes x 8 blocks x 4 calls the fault's own is missing, and the seed's if it came after.
  EXPECT_LT(result.samples.size(), 64U);
  EXPECT_GE(result.samples.size(), 62U);
  EXPECT_GE(result.discarded, 1);
}

TEST_F(JudgeState, TheSecondFaultOfTimedCallsCounts) {
  open(crasher(20));
  const TimeResult result = time(8, 2);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->verdict, Verdict::runtime_fault) << result.failure->text;
}

// The plan's scalar alpha is drawn with each content.
class ForeseenPlan : public JudgeState {
 protected:
  void SetUp() override {
    open(std::string(kPlan) + std::string(kHead) + std::string(kRow) + "}\n");
    bench_ = session_->make_bench(first_);
    bench_->fill(first_);
  }

  static problem::Draw drawn(const problem::Problem& problem, std::uint64_t seed) {
    const expr::IntEnv dims{{"rows", 3}, {"cols", 5}};
    return problem::make_draw(problem, "small", dims, "default", problem::Key::from_seed(seed));
  }

  // The alpha that a call with the plan as it is now makes use of.
  double called_with(Seat& seat) { return called_with(seat, *bench_); }

  double called_with(Seat& seat, Bench& bench) {
    bench.before_call(poison_word(7));
    (void)seat.run(60, poison_word(8));
    const auto first = [&](const char* tensor) {
      float value = 0;
      device_->download(std::as_writable_bytes(std::span(&value, 1)),
                        bench.slot(tensor).shared.front().address());
      return static_cast<double>(value);
    };
    return (first("y") - first("shift")) / first("x");
  }

  static double alpha(const problem::Draw& draw) {
    return std::get<double>(draw.scalars.at("alpha"));
  }

  const problem::Problem problem_ = problem::require(kSource / "tests/data/problems/test/affine");
  const problem::Draw first_ = drawn(problem_, 1), second_ = drawn(problem_, 2);
  std::unique_ptr<Bench> bench_;
};

constexpr double kNear = 1e-4;  // of fp32, through a sum and a quotient

TEST_F(ForeseenPlan, IsChangedInTheTurnOfTheCallBefore) {
  ASSERT_GT(std::abs(alpha(first_) - alpha(second_)), 10 * kNear);
  Seat& seat = session_->seat(session_->candidate(), *bench_, first_);
  seat.foresee(second_);
  EXPECT_NEAR(called_with(seat), alpha(first_), kNear);
  // Nothing was said to the runner since.
  EXPECT_NEAR(called_with(seat), alpha(second_), kNear);
  (void)session_->seat(session_->candidate(), *bench_, second_);
  EXPECT_NEAR(called_with(seat), alpha(second_), kNear);
  (void)session_->seat(session_->candidate(), *bench_, first_);
  EXPECT_NEAR(called_with(seat), alpha(first_), kNear);
}

TEST_F(ForeseenPlan, IsDroppedWhereNoCallCame) {
  Seat& seat = session_->seat(session_->candidate(), *bench_, first_);
  seat.foresee(second_);
  (void)session_->seat(session_->candidate(), *bench_, first_);
  EXPECT_NEAR(called_with(seat), alpha(first_), kNear);
  EXPECT_NEAR(called_with(seat), alpha(first_), kNear);
}

TEST_F(ForeseenPlan, OfAnotherSeatIsChangedToo) {
  const std::unique_ptr<Bench> other = session_->make_bench(first_);
  Seat& mine = session_->seat(session_->candidate(), *bench_, first_);
  Seat& theirs = session_->seat(session_->candidate(), *other, first_);
  theirs.foresee(second_);
  EXPECT_NEAR(called_with(mine), alpha(first_), kNear);
  EXPECT_NEAR(called_with(mine), alpha(first_), kNear);
  other->fill(first_);
  EXPECT_NEAR(called_with(theirs, *other), alpha(second_), kNear);
  std::erase_if(session_->candidate().seats,
                [&](const auto& seat) { return seat.first == other.get(); });
}

class GivesWay : public JudgeState {
 protected:
  void SetUp() override {
    open(std::string(kPlan) + std::string(kHead) + std::string(kRow) + "}\n");
    session_->lock(util::LockMode::shared);
  }

  // Starts a process and stops it on its way. It may be faster: then another.
  static void stop_on_its_way(Player& player, const std::function<void()>& start) {
    do {
      player.reset();
      start();
      for (const test::Running& one : test::descendants(::getpid())) {
        ::kill(one.pid, SIGSTOP);
      }
    } while (player.arm->started());
  }

  // Another wants to be alone, and lets go at once when it was. Ends with the test.
  void wait_to_be_alone() {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      alone_ = util::acquire(folder_.path(), "cpu", util::LockMode::exclusive, [&](double) {
                 return !stop.stop_requested();
               }).has_value();
    });
    while (util::FileLock::try_lock(util::open_lock_file(folder_.path(), "cpu.turn"),
                                    util::LockMode::exclusive)) {
      std::this_thread::yield();
    }
  }

  std::atomic<bool> alone_ = false;
  std::jthread thread_;
};

TEST_F(GivesWay, NotWhileAProcessGetsReady) {
  stop_on_its_way(session_->candidate(), [&] { session_->start_players(0); });
  wait_to_be_alone();
  session_->give_way();
  EXPECT_FALSE(alone_);
  session_->candidate().reset();
  session_->seed().reset();
  while (!alone_) {
    session_->give_way();
  }
}

TEST_F(GivesWay, NorForAPair) {
  Pair pair;
  stop_on_its_way(pair.candidate, [&] { pair = start_pair(*session_, timing::Arm::seed, 0); });
  EXPECT_FALSE(started(pair));
  pair.candidate.reset();
  pair.seed.reset();
  EXPECT_TRUE(started(pair));
}

TEST_F(GivesWay, OnceAllAreReady) {
  session_->start_players(1);
  wait_to_be_alone();
  while (!alone_) {
    session_->give_way();
  }
  EXPECT_FALSE(check().failure);
}

TEST_F(GivesWay, WhatThatTakesIsNoWorkOnThePool) {
  int asked = 0;
  const TimedShape shape =
      make_timed_shape(*session_,
                       visible_places(session_->problem(), device::Kind::cpu, true).front(),
                       problem::Key::from_seed(1),
                       false,
                       2,
                       [&] {
                         if (asked++ == 0) {
                           std::this_thread::sleep_for(std::chrono::milliseconds(1200));
                         }
                       });
  EXPECT_GT(shape.pool.size(), 1U);
  EXPECT_GT(asked, 1);
}

// Replicates take turns on sets of buffers, each at a place of its own; what a runner maps last on
// one set it maps first on another.
TEST_F(JudgeState, ReplicatesRotateOverSetsOfBuffers) {
  open(std::string(kPlan) + std::string(kHead) + std::string(kRow) + "}\n");
  const TimedShape shape =
      make_timed_shape(*session_,
                       visible_places(session_->problem(), device::Kind::cpu, true).front(),
                       problem::Key::from_seed(1),
                       false,
                       5,
                       [] {});
  ASSERT_EQ(shape.benches.size(), 3U);
  std::set<device::Address> addresses;
  std::set<std::size_t> first;
  for (int replicate = 0; replicate < 3; ++replicate) {
    addresses.insert(shape.bench(replicate).slots().front().shared.front().address());
    first.insert(shape.bench(replicate).first_mapped());
    EXPECT_EQ(&shape.bench(replicate), &shape.bench(replicate + 3));
  }
  EXPECT_EQ(addresses.size(), 3U);
  EXPECT_EQ(first.size(), 3U);
  EXPECT_FALSE(time(4, 4).failure);
}

}  // namespace
}  // namespace sweep::evaluate
