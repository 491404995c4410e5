// Judges that are started before their evaluation, as a worker of a sweep has them.
#include "evaluate/spares.h"

#include "evaluate/evaluation.h"
#include "evaluate/evaluation_json.h"
#include "processes.h"
#include "util/clock.h"
#include "util/file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <regex>
#include <string>
#include <vector>

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

  // One stage, two seeds, four random shapes.
  EvaluationRequest request(Stage only, const std::string& source) const {
    EvaluationRequest made;
    made.submission = {"mine.cu", source};
    made.device = {device::Kind::cpu, 0};
    made.only = only;
    made.check_seeds = 2;
    made.stress_draws = 4;
    made.deadline_seconds = 240;
    made.allow_unsandboxed = std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr;
    return made;
  }

  // The text with `from` replaced, which must be there.
  std::string with(const std::string& from, const std::string& to) const {
    std::string text = source_;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  static const JudgeCosts& costs(const Evaluation& of) {
    return of.check ? of.check->costs : of.stress->costs;
  }

  static std::size_t calls(const Evaluation& of) {
    return of.check ? of.check->calls.size() : of.stress->calls.for_archive().size();
  }

  // By a spare judge that had computed all that this one is held against.
  Evaluation prepared(const EvaluationRequest& wanted) {
    util::RealClock clock;
    Evaluation made;
    for (double pause = 0; pause < 8; pause = 2 * pause + 0.1) {
      clock.sleep(pause);
      made = evaluate(wanted, services_, {}, &spares_);
      if (costs(made).ready == static_cast<int>(calls(made))) {
        break;
      }
    }
    return made;
  }

  // Everything that is stored of it but times and addresses.
  static nlohmann::json untimed(const Evaluation& of) {
    nlohmann::json body = to_json(of, View::archive);
    const std::function<void(nlohmann::json&)> strip = [&](nlohmann::json& node) {
      if (node.is_object()) {
        for (const char* name :
             {"seconds", "device_seconds", "lock_wait_seconds", "costs", "cached"}) {
          node.erase(name);
        }
      }
      for (nlohmann::json& inner : node) {
        if (inner.is_structured()) {
          strip(inner);
        }
      }
    };
    strip(body);
    static const std::regex kAddress("0x[0-9a-f]+");
    return nlohmann::json::parse(std::regex_replace(body.dump(), kAddress, "0x"));
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
  // The seed has made the calls of check already, and none of stress.
  (void)prepared(request(Stage::check, source_));
  util::RealClock().sleep(0.5);
  const auto waiting = children();
  ASSERT_EQ(waiting.size(), 1U);
  ASSERT_EQ(runners_of(waiting[0].pid, 2), 2U);
  for (const test::Running& one : test::processes()) {
    if (one.parent == waiting[0].pid) {
      EXPECT_EQ(::kill(one.pid, SIGKILL), 0);
    }
  }
  const Evaluation made = evaluate(request(Stage::stress, source_), services_, {}, &spares_);
  EXPECT_EQ(made.verdict, Verdict::pass_inconclusive) << made.headline << made.infra;
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

// Right, wrong, with poison in the failure, and with the calls before it as evidence.
TEST_F(SparesOnCpu, WhatWasComputedAheadChangesNoResult) {
  const std::vector<std::string> sources = {
      source_,
      with("alpha * ", "2 * alpha * "),
      with("y[i] =", "if (i % 3 != 1) y[i] ="),
      with("y[i] =", "if (blockIdx.x == 0) y[i] ="),
      with("y[i] =", "y[i + (1 << 20)] = y[i] ="),
      util::read_file(kSource / "tests/data/problems/test/exchange/seed.cu", 1 << 16),  // of ranks
  };
  for (const Stage stage : {Stage::check, Stage::stress}) {
    for (const std::string& source : sources) {
      EvaluationRequest wanted = request(stage, source);
      wanted.prepare = false;
      const Evaluation without = evaluate(wanted, services_);
      ASSERT_TRUE(without.check || without.stress) << without.infra;
      EXPECT_EQ(costs(without).ready, 0);
      wanted.prepare = true;
      const Evaluation with = prepared(wanted);
      EXPECT_EQ(costs(with).ready, calls(with));
      EXPECT_EQ(untimed(with), untimed(without)) << source;
    }
  }
}

TEST_F(SparesOnCpu, OneForAnotherProblemServes) {
  const std::string other =
      util::read_file(kSource / "tests/data/problems/test/softmax/seed.cu", 1 << 16);
  for (const std::string& source : {source_, other, source_}) {
    const Evaluation made = evaluate(request(Stage::check, source), services_, {}, &spares_);
    EXPECT_EQ(outcome_of(made.verdict), Outcome::correct) << made.headline << made.infra;
  }
}

// What is switched off may let results of earlier calls through.
TEST_F(SparesOnCpu, NothingIsComputedAheadWhereADefenceIsOff) {
  EvaluationRequest wanted = request(Stage::check, source_);
  wanted.off = {Defence::poison};
  for (int round = 0; round < 3; ++round) {
    const Evaluation made = evaluate(wanted, services_, {}, &spares_);
    EXPECT_EQ(costs(made).ready, 0);
    util::RealClock().sleep(0.3);
  }
}

TEST_F(SparesOnCpu, OneThatRunsNothingLeavesTheSpareOne) {
  (void)judge(source_);
  const auto waiting = children();
  ASSERT_EQ(waiting.size(), 1U);
  (void)evaluate(request(Stage::compile, source_), services_, {}, &spares_);
  EXPECT_EQ(children(), waiting);
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
