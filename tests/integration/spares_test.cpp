// Judges that are started before their evaluation, as a worker of a sweep has them.
#include "evaluate/spares.h"

#include "evaluate/evaluation.h"
#include "processes.h"
#include "util/clock.h"
#include "util/file.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

namespace sweep::evaluate {
namespace {

const std::filesystem::path kSource = SWEEP_SOURCE_DIR;

class SparesOnCpu : public ::testing::Test {
 protected:
  void SetUp() override {
    services_.problems = kSource / "tests/data/problems";
    services_.seeds = kSource / "tests/data/seeds";
    services_.cache =
        std::filesystem::temp_directory_path() / ("sweep-test-cache-" + std::to_string(::getuid()));
    services_.locks = folder_.path() / "locks";
    std::filesystem::create_directory(services_.locks);
    services_.program = SWEEP_BINARY;
    source_ = util::read_file(kSource / "tests/data/problems/test/affine/seed.cu", 1 << 16);
  }

  Evaluation judge(const std::string& source) {
    EvaluationRequest request;
    request.submission = {"mine.cu", source};
    request.device = {device::Kind::cpu, 0};
    request.only = Stage::check;
    request.check_seeds = 1;
    request.deadline_seconds = 240;
    request.allow_unsandboxed = std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr;
    return evaluate(request, services_, {}, &spares_);
  }

  JudgeSpec spec() const {
    JudgeSpec made;
    made.program = SWEEP_BINARY;
    made.locks = services_.locks;
    made.allow_unsandboxed = std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr;
    return made;
  }

  // Children of this process that run.
  static std::vector<test::Running> children() {
    std::vector<test::Running> mine;
    for (const test::Running& one : test::processes()) {
      if (one.parent == ::getpid()) {
        mine.push_back(one);
      }
    }
    return mine;
  }

  // Children of `parent` that are runners, once there are `count`; fewer after ten seconds.
  static std::size_t runners_of(int parent, std::size_t count) {
    util::RealClock clock;
    std::size_t found = 0;
    for (const double end = clock.monotonic() + 10; clock.monotonic() < end && found < count;
         clock.sleep(0.05)) {
      found = 0;
      for (const test::Running& one : test::processes()) {
        found += one.parent == parent && one.command.find("__run") != std::string::npos ? 1U : 0U;
      }
    }
    return found;
  }

  util::TempDir folder_;
  Services services_;
  Spares spares_;
  std::string source_;
};

TEST_F(SparesOnCpu, AnEvaluationLeavesOneThatTheNextOneTakes) {
  const Evaluation first = judge(source_);
  EXPECT_EQ(outcome_of(first.verdict), Outcome::correct) << first.headline << first.infra;
  const auto waiting = children();
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(runners_of(waiting[0].pid, 2), 2U);
  const Spares::Taken taken = spares_.take([this] {
    JudgeSpec same = spec();
    same.deadline_seconds = 240;
    return same;
  }());
  EXPECT_TRUE(taken.spare);
  EXPECT_EQ(taken.judge->info().uuid, "cpu");
  EXPECT_EQ(children(), waiting);
}

TEST_F(SparesOnCpu, JudgesAsANewOneDoes) {
  const std::string wrong = [this] {
    std::string text = source_;
    const std::size_t at = text.find("alpha * ");
    EXPECT_NE(at, std::string::npos);
    return text.replace(at, 8, "2 * alpha * ");
  }();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(judge(source_).verdict, Verdict::pass_inconclusive);
    EXPECT_EQ(judge(wrong).verdict, Verdict::incorrect_value);
  }
}

TEST_F(SparesOnCpu, OneThatDiedIsReplaced) {
  (void)judge(source_);
  const auto waiting = children();
  ASSERT_EQ(waiting.size(), 1U);
  ASSERT_EQ(::kill(waiting[0].pid, SIGKILL), 0);
  EXPECT_EQ(judge(source_).verdict, Verdict::pass_inconclusive);
}

TEST_F(SparesOnCpu, OneWhoseRunnersDiedIsReplaced) {
  (void)judge(source_);
  const auto waiting = children();
  ASSERT_EQ(waiting.size(), 1U);
  ASSERT_EQ(runners_of(waiting[0].pid, 2), 2U);
  for (const test::Running& one : test::processes()) {
    if (one.parent == waiting[0].pid) {
      EXPECT_EQ(::kill(one.pid, SIGKILL), 0);
    }
  }
  EXPECT_EQ(judge(source_).verdict, Verdict::pass_inconclusive);
}

TEST_F(SparesOnCpu, AnotherKindOfEvaluationGetsANewOne) {
  (void)spares_.take(spec());
  spares_.refill();
  JudgeSpec other = spec();
  other.off = {Defence::poison};
  EXPECT_FALSE(spares_.take(other).spare);
  spares_.refill();
  EXPECT_TRUE(spares_.take(other).spare);
  EXPECT_FALSE(spares_.take(other).spare);
}

TEST_F(SparesOnCpu, NothingIsLeftBehind) {
  {
    Spares inner;
    (void)inner.take(spec());
    inner.refill();
    EXPECT_EQ(children().size(), 1U);
  }
  EXPECT_TRUE(children().empty());
}

}  // namespace
}  // namespace sweep::evaluate
