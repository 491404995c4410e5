#include "queue/stop_run.h"

#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

namespace sweep::queue {
namespace {

using ::testing::HasSubstr;

// A process that has nothing to do with any run.
class Bystander {
 public:
  Bystander() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) {
        ::pause();
      }
    }
  }

  ~Bystander() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

std::string on_this_host(pid_t pid) {
  std::array<char, 256> host{};
  EXPECT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  return "process " + std::to_string(pid) + " on " + host.data() + "\n";
}

TEST(RunProcess, IsTheHolderOfTheLock) {
  const util::TempDir folder;
  const record::RunDir run(folder.path());
  EXPECT_FALSE(RunProcess(run).exists());
  const record::RunLock lock(run);
  const RunProcess process(run);
  EXPECT_TRUE(process.exists());
  EXPECT_THAT(process.holder(), HasSubstr("process " + std::to_string(::getpid()) + " on "));
}

TEST(RunProcess, IsNoProcessThatOnlyTheLockFileNames) {
  const util::TempDir folder;
  const record::RunDir run(folder.path());
  const record::RunLock lock(run);
  const Bystander other;
  std::ofstream(run.lock_file()) << on_this_host(other.pid());
  try {
    const RunProcess process(run);
    FAIL() << "no error";
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_STOP_ELSEWHERE");
  }
}

}  // namespace
}  // namespace sweep::queue
