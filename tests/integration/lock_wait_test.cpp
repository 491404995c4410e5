// An evaluation whose device another process holds.
#include "evaluate/evaluation.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

namespace sweep::evaluate {
namespace {

namespace fs = std::filesystem;

const fs::path kProblem = fs::path(SWEEP_SOURCE_DIR) / "tests/data/problems/test/affine";

// Another process that holds the lock of the cpu device, or what is named, until it is told to
// leave.
class OtherHolder {
 public:
  OtherHolder(const fs::path& locks, const util::LockUse& use, const std::string& what = "cpu") {
    util::Pipe ready = util::make_pipe();
    pid_ = ::fork();
    if (pid_ == 0) {
      const auto lock = util::acquire(locks, what, use);
      (void)!::write(ready.write.get(), "x", 1);
      ::pause();
    }
    char byte = 0;
    EXPECT_EQ(util::read_all(ready.read.get(), &byte, 1, "test"), 1U);
  }

  OtherHolder(const OtherHolder&) = delete;
  OtherHolder& operator=(const OtherHolder&) = delete;

  ~OtherHolder() { leave(); }

  void leave() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      pid_ = -1;
    }
  }

  [[nodiscard]] std::string pid() const { return std::to_string(pid_); }

 private:
  pid_t pid_ = -1;
};

class LockWait : public ::testing::Test {
 protected:
  void SetUp() override {
    services_.problems = kProblem.parent_path().parent_path();
    services_.cache =
        fs::temp_directory_path() / ("sweep-test-cache-" + std::to_string(::getuid()));
    services_.locks = folder_.path() / "locks";
    services_.program = SWEEP_BINARY;
    util::make_folders(services_.locks);
    request_.submission = {"mine.cu", util::read_file(kProblem / "seed.cu", 1 << 20)};
    request_.problem = kProblem.string();
    request_.device = {device::Kind::cpu, 0};
    request_.only = Stage::check;
    request_.deadline_seconds = 240;
    request_.allow_unsandboxed = std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr;
  }

  // Evaluates; the holder leaves `after` seconds after the first word of waiting. Gives the words.
  std::string evaluate_beside(OtherHolder& other, double after) {
    std::string said;
    double since = -1;
    util::RealClock clock;
    result_ = evaluate(request_, services_, [&](const ProgressEvent& event) {
      if (event.text.find("waiting for") == std::string::npos) {
        return;
      }
      since = since < 0 ? clock.monotonic() : since;
      said = event.text;
      if (clock.monotonic() - since >= after) {
        other.leave();
      }
    });
    return said;
  }

  util::TempDir folder_;
  Services services_;
  EvaluationRequest request_;
  Evaluation result_;
};

TEST_F(LockWait, IsOutsideTheDeadline) {
  // Compiling has a cache, so that the deadline is the judge's alone.
  (void)evaluate(request_, services_);
  request_.deadline_seconds = 15;
  OtherHolder other(services_.locks, {util::LockMode::exclusive, 0, 0, 0});
  const std::string expected = "waiting for cpu (held by pid " + other.pid() + " for timing)";
  EXPECT_EQ(evaluate_beside(other, request_.deadline_seconds + 1), expected);
  EXPECT_EQ(outcome_of(result_.verdict), Outcome::correct) << result_.headline << result_.infra;
  EXPECT_GT(result_.seconds, request_.deadline_seconds);
}

TEST_F(LockWait, HappensForWantOfMemoryAsWell) {
  OtherHolder other(services_.locks, {util::LockMode::shared, UINT64_MAX, 0, 0});
  const std::string expected = "waiting for cpu (held by pid " + other.pid() + ")";
  EXPECT_EQ(evaluate_beside(other, 0), expected);
  EXPECT_EQ(outcome_of(result_.verdict), Outcome::correct) << result_.headline << result_.infra;
}

// Places for compilers are counted over all sweeps of a machine.
TEST_F(LockWait, HappensForACompilerAsWell) {
  OtherHolder other(services_.locks, {util::LockMode::shared, 1, 2, 0}, "compilers");
  services_.compilers = 2;
  EXPECT_EQ(evaluate_beside(other, 0), "");
  services_.compilers = 1;
  const std::string expected = "waiting for a compiler (held by pid " + other.pid() + ")";
  EXPECT_EQ(evaluate_beside(other, 0), expected);
  EXPECT_EQ(outcome_of(result_.verdict), Outcome::correct) << result_.headline << result_.infra;
}

TEST_F(LockWait, DoesNotHappenBesideASmallSharedHolder) {
  OtherHolder other(services_.locks, {util::LockMode::shared, 1 << 20, 0, 0});
  EXPECT_EQ(evaluate_beside(other, 0), "");
  EXPECT_EQ(outcome_of(result_.verdict), Outcome::correct) << result_.headline << result_.infra;
}

}  // namespace
}  // namespace sweep::evaluate
