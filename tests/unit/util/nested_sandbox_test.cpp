#include "util/error.h"
#include "util/file.h"
#include "util/lock_down.h"
#include "util/process.h"
#include "util/sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

// A sandboxed process, as the judge is one, that starts a sandboxed process of its own.
namespace sweep::util {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class NestedSandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!sealed(probe_sandbox())) {
      GTEST_SKIP() << "this machine lacks a mandatory protection";
    }
  }

  [[nodiscard]] SpawnSpec spec(SandboxPolicy policy) const {
    SpawnSpec made;
    made.env = basic_environment(work_.path());
    made.work_folder = work_.path();
    made.deadline = 30;
    made.sandbox = std::move(policy);
    return made;
  }

  TempDir work_;
};

// Body of a child that is sandboxed itself, started as this program again: tries to start one of
// its own and prints what held there. Run by the tests below only.
TEST(DISABLED_InSandbox, StartsAChild) {
  const TempDir folder;
  SpawnSpec spec;
  spec.env = basic_environment(folder.path());
  spec.env.emplace_back("ASAN_OPTIONS=detect_leaks=0");
  spec.work_folder = folder.path();
  spec.argv = {"itself", "--gtest_also_run_disabled_tests", "--gtest_filter=*InSandbox.Ends"};
  SandboxPolicy policy = system_libraries();
  policy.read.emplace_back("/proc");
  spec.sandbox = policy;
  const Captured done = run_self(Self::open(), spec);
  std::printf("ended %s\n", done.status.text().c_str());
  for (const Protection& p : done.protections) {
    std::printf("inner %s %s\n", p.name.c_str(), p.active ? "on" : "off");
  }
  std::printf("%s%s", done.out.c_str(), done.err.c_str());
  SpawnSpec other;
  other.argv = {"true"};
  other.sandbox = policy;
  try {
    (void)run_program("/bin/true", other);
    std::printf("other program: ran\n");
  } catch (const InfraError& error) {
    std::printf("other program: %s\n", error.what());
  }
  std::printf("socket: %s\n",
              ::socket(AF_INET, SOCK_STREAM, 0) < 0 ? std::strerror(errno) : "made");
  std::printf("passwd: %s\n",
              ::open("/etc/passwd", O_RDONLY) < 0 ? std::strerror(errno) : "opened");
}

TEST(DISABLED_InSandbox, Ends) {
  std::printf("inner socket pair: %s\n",
              ::socketpair(AF_UNIX, SOCK_STREAM, 0, std::array<int, 2>{}.data()) < 0
                  ? std::strerror(errno)
                  : "made");
  std::printf("inner namespace: %s\n",
              ::unshare(CLONE_NEWUSER) < 0 ? std::strerror(errno) : "made");
}

// As a runner on a GPU: it sees /proc, where the one that started it is number 1, and has its user.
TEST(DISABLED_InSandbox, StartsAGpuRunner) {
  const TempDir folder;
  SpawnSpec spec;
  spec.env = basic_environment(folder.path());
  spec.env.emplace_back("ASAN_OPTIONS=detect_leaks=0");
  spec.work_folder = folder.path();
  spec.argv = {"itself", "--gtest_also_run_disabled_tests", "--gtest_filter=*InSandbox.Reaches"};
  SandboxPolicy policy = system_libraries();
  policy += nvidia_driver();
  policy.own_pids = false;
  spec.sandbox = policy;
  const Captured done = run_self(Self::open(), spec);
  std::printf("%s%s", done.out.c_str(), done.err.c_str());
}

TEST(DISABLED_InSandbox, Reaches) {
  const std::string starter = fmt::format("/proc/{}/", ::getppid());
  const auto say = [](const char* what, bool done) {
    std::printf("%s: %s\n", what, done ? "done" : "refused");
  };
  say("see", ::access(starter.c_str(), F_OK) == 0);
  for (const char* file : {"environ", "mem", "maps", "fd/3"}) {
    say(file, ::open((starter + file).c_str(), O_RDONLY) >= 0);
  }
  lock_down(MemoryFiles::allow);
  say("signal", ::kill(::getppid(), 0) == 0);
  say("limits", ::prlimit(::getppid(), RLIMIT_CORE, nullptr, nullptr) == 0);
}

TEST_F(NestedSandbox, AGpuRunnerCannotReachTheJudge) {
  SandboxPolicy policy = system_libraries();
  policy += nvidia_driver();
  policy.start_sandboxed = true;
  SpawnSpec made = spec(policy);
  made.argv = {
      "itself", "--gtest_also_run_disabled_tests", "--gtest_filter=*InSandbox.StartsAGpuRunner"};
  made.env.emplace_back("ASAN_OPTIONS=detect_leaks=0");
  const Captured done = run_self(Self::open(), made);
  EXPECT_THAT(done.out, HasSubstr("see: done\n")) << done.err;
  for (const char* what : {"environ", "mem", "maps", "fd/3", "signal", "limits"}) {
    EXPECT_THAT(done.out, HasSubstr(fmt::format("{}: refused\n", what)));
  }
}

TEST_F(NestedSandbox, StartsSandboxedChildren) {
  SandboxPolicy policy = system_libraries();
  policy.start_sandboxed = true;
  policy.max_processes = 256;
  SpawnSpec made = spec(policy);
  made.argv = {
      "itself", "--gtest_also_run_disabled_tests", "--gtest_filter=*InSandbox.StartsAChild"};
  made.env.emplace_back("ASAN_OPTIONS=detect_leaks=0");
  const Captured done = run_self(Self::open(), made);
  EXPECT_TRUE(done.status.ok()) << done.status.text() << done.out << done.err;
  EXPECT_TRUE(sealed(done.protections));
  EXPECT_THAT(done.out, HasSubstr("ended exit code 0\n")) << done.err;
  for (const std::string_view name : protection_names()) {
    // Nothing can be mounted under Landlock.
    const bool on = name != "private /proc";
    EXPECT_THAT(done.out, HasSubstr(fmt::format("inner {} {}\n", name, on ? "on" : "off")));
  }
  EXPECT_THAT(done.out, HasSubstr("inner socket pair: Operation not permitted"));
  EXPECT_THAT(done.out, HasSubstr("inner namespace: Operation not permitted"));
  EXPECT_THAT(done.out, HasSubstr("other program: /bin/true: open failed: Permission denied"));
  EXPECT_THAT(done.out, HasSubstr("socket: Operation not permitted"));
  EXPECT_THAT(done.out, HasSubstr("passwd: Permission denied"));
}

TEST_F(NestedSandbox, OnlyThoseWhoMayStartChildren) {
  SandboxPolicy policy = system_libraries();
  policy.read.emplace_back("/proc");
  SpawnSpec made = spec(policy);
  made.argv = {
      "itself", "--gtest_also_run_disabled_tests", "--gtest_filter=*InSandbox.StartsAChild"};
  made.env.emplace_back("ASAN_OPTIONS=detect_leaks=0");
  const Captured done = run_self(Self::open(), made);
  EXPECT_THAT(done.out, Not(HasSubstr("inner"))) << done.err;
}

}  // namespace
}  // namespace sweep::util
