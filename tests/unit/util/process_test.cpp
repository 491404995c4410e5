#include "util/process.h"

#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sweep::util {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

SpawnSpec shell(const std::string& script) {
  SpawnSpec spec;
  spec.argv = {"sh", "-c", script};
  spec.env = basic_environment();
  spec.deadline = 30;
  return spec;
}

Captured run_shell(const std::string& script,
                   std::string_view input = {},
                   std::size_t room = 65536) {
  return run_program("/bin/sh", shell(script), input, room);
}

bool is_alive(int pid) {
  // A zombie that init has not reaped yet counts as dead.
  std::string stat;
  try {
    stat = read_file("/proc/" + std::to_string(pid) + "/stat", 4096);
  } catch (const Error&) {
    return false;
  }
  return stat.find(") Z") == std::string::npos;
}

bool dies_soon(int pid) {
  for (int i = 0; i < 500 && is_alive(pid); ++i) {
    ::usleep(10000);
  }
  return !is_alive(pid);
}

TEST(Process, CapturesOutputAndExitCode) {
  const Captured done = run_shell("echo out; echo err >&2; exit 7");
  EXPECT_EQ(done.out, "out\n");
  EXPECT_EQ(done.err, "err\n");
  EXPECT_EQ(done.status.code, 7);
  EXPECT_EQ(done.status.text(), "exit code 7");
  EXPECT_FALSE(done.status.ok());
  EXPECT_TRUE(done.protections.empty());
}

TEST(Process, FeedsInput) {
  std::string text(3 << 20, 'x');
  const Captured done = run_shell("cat", text, text.size());
  EXPECT_TRUE(done.status.ok());
  EXPECT_EQ(done.out, text);
  // A child that does not read its input is no failure.
  EXPECT_TRUE(run_shell("exit 0", text).status.ok());
}

TEST(Process, StartsItself) {
  SpawnSpec spec;
  spec.argv = {"itself", "--gtest_list_tests", "--gtest_filter=Process.StartsItself"};
  const Captured done = run_self(Self::open(), spec);
  EXPECT_TRUE(done.status.ok()) << done.err;
  EXPECT_THAT(done.out, HasSubstr("StartsItself"));
}

TEST(Process, EnvironmentIsExact) {
  ::setenv("SWEEP_TEST_KEY", "planted-secret", 1);
  const Captured done = run_program("/usr/bin/env", [] {
    SpawnSpec spec;
    spec.argv = {"env"};
    spec.env = {"A=1", "B=two words"};
    return spec;
  }());
  EXPECT_EQ(done.out, "A=1\nB=two words\n");
}

TEST(Process, PassesOnlyNamedDescriptors) {
  const Pipe mine = make_pipe();
  const int leak = ::open("/dev/null", O_RDONLY);  // inheritable
  SpawnSpec spec = shell("ls /proc/self/fd; echo mapped >&5");
  spec.fds = {{mine.write.get(), 5}};
  const Captured done = run_program("/bin/sh", spec);
  ::close(leak);
  // 3 is the folder that ls itself reads.
  EXPECT_EQ(done.out, "0\n1\n2\n3\n5\n");
  std::array<char, 7> text{};
  EXPECT_EQ(read_all(mine.read.get(), text.data(), text.size(), "test"), 7U);
  EXPECT_EQ(std::string(text.data(), 7), "mapped\n");
}

TEST(Process, MapsDescriptorsThatOverlap) {
  // The targets are each other's sources.
  const Pipe a = make_pipe();
  const Pipe b = make_pipe();
  SpawnSpec spec = shell("echo to-a >&" + std::to_string(b.write.get()) + "; echo to-b >&" +
                         std::to_string(a.write.get()));
  spec.fds = {{a.write.get(), b.write.get()}, {b.write.get(), a.write.get()}};
  EXPECT_TRUE(run_program("/bin/sh", spec).status.ok());
  std::array<char, 5> text{};
  EXPECT_EQ(read_all(a.read.get(), text.data(), text.size(), "test"), 5U);
  EXPECT_EQ(std::string(text.data(), 5), "to-a\n");
}

TEST(Process, RunsScripts) {
  const TempDir folder;
  write_file_atomic(folder.path() / "hello", "#!/bin/sh\necho hello $1\n", 0755);
  SpawnSpec spec;
  spec.argv = {"hello", "you"};
  EXPECT_EQ(run_program(folder.path() / "hello", spec).out, "hello you\n");
}

TEST(Process, MissingProgramIsAnError) {
  EXPECT_THROW((void)run_program("/nonexistent/program", shell("")), InfraError);
  const TempDir folder;
  write_file_atomic(folder.path() / "data", "no program", 0644);
  try {
    (void)run_program(folder.path() / "data", shell(""));
    FAIL() << "a file without execute permission ran";
  } catch (const InfraError& error) {
    EXPECT_EQ(error.code(), "E_SPAWN");
    EXPECT_THAT(error.what(), HasSubstr("exec"));
  }
}

TEST(Process, ReportsSignals) {
  const Captured done = run_shell("kill -SEGV $$");
  EXPECT_EQ(done.status.signal, SIGSEGV);
  EXPECT_THAT(done.status.text(), HasSubstr("signal 11"));
}

TEST(Process, LimitsHold) {
  SpawnSpec spec = shell("ulimit -f; ulimit -t");
  spec.limits = {{RLIMIT_FSIZE, 512 * 100}, {RLIMIT_CPU, 7}};
  EXPECT_EQ(run_program("/bin/sh", spec).out, "100\n7\n");
}

TEST(Process, OneGibibyteOfOutputStaysBounded) {
  const Captured done =
      run_shell("echo first; head -c 1073741824 /dev/zero | tr '\\0' y; echo last", {}, 3000);
  EXPECT_TRUE(done.status.ok());
  EXPECT_EQ(done.out_bytes, 1073741824U + 6 + 5);
  EXPECT_LT(done.out.size(), 3100U);
  EXPECT_THAT(done.out, testing::StartsWith("first\nyyy"));
  EXPECT_THAT(done.out, HasSubstr("bytes left out"));
  EXPECT_THAT(done.out, testing::EndsWith("ylast\n"));
}

TEST(Process, DeadlineKillsTheGroup) {
  SpawnSpec spec = shell("sleep 1000 & echo $!; sleep 1000");
  spec.deadline = 0.5;
  const Captured done = run_program("/bin/sh", spec);
  EXPECT_TRUE(done.status.timed_out);
  EXPECT_EQ(done.status.signal, SIGKILL);
  EXPECT_THAT(done.status.text(), HasSubstr("deadline"));
  EXPECT_TRUE(dies_soon(std::stoi(done.out)));
}

TEST(Process, LeftoversOfTheGroupDieWithTheLeader) {
  const Captured done = run_shell("sleep 1000 & echo $!");
  EXPECT_TRUE(done.status.ok());
  EXPECT_TRUE(dies_soon(std::stoi(done.out)));
}

TEST(Process, DestructorKills) {
  int pid = 0;
  {
    Process process = Process::start_program("/bin/sh", shell("sleep 1000"));
    pid = process.pid();
    EXPECT_TRUE(is_alive(pid));
    EXPECT_EQ(process.wait_for(0), std::nullopt);
    EXPECT_GT(process.time_left(), 0);
  }
  EXPECT_FALSE(is_alive(pid));
}

TEST(Process, DeadlineCanBeMovedLater) {
  SpawnSpec spec = shell("sleep 1000");
  spec.deadline = 0.2;
  Process process = Process::start_program("/bin/sh", spec);
  process.extend_deadline(0.3);
  process.extend_deadline(-100);
  const ExitStatus status = process.wait();
  EXPECT_TRUE(status.timed_out);
  EXPECT_GE(status.seconds, 0.5);
}

TEST(Process, DiesWithTheThreadThatStartedIt) {
  std::optional<Process> process;
  std::thread([&] { process = Process::start_program("/bin/sh", shell("sleep 1000")); }).join();
  const ExitStatus status = process->wait();
  EXPECT_EQ(status.signal, SIGKILL);
  EXPECT_FALSE(status.timed_out);
}

TEST(Process, DiesWithItsParent) {
  // A middle process starts a child and is killed.
  const Pipe report = make_pipe();
  const pid_t middle = ::fork();
  ASSERT_GE(middle, 0);
  if (middle == 0) {
    const Process process = Process::start_program("/bin/sh", shell("sleep 1000"));
    const int pid = process.pid();
    (void)!::write(report.write.get(), &pid, sizeof(pid));
    ::pause();
  }
  int grandchild = 0;
  ASSERT_EQ(read_all(report.read.get(), &grandchild, sizeof(grandchild), "test"),
            sizeof(grandchild));
  EXPECT_TRUE(is_alive(grandchild));
  ::kill(middle, SIGKILL);
  ::waitpid(middle, nullptr, 0);
  EXPECT_TRUE(dies_soon(grandchild));
}

TEST(Process, SignalDispositionsAreFresh) {
  const auto before = ::signal(SIGTERM, SIG_IGN);
  const Captured done = run_shell("kill -TERM $$; echo survived");
  ::signal(SIGTERM, before);
  EXPECT_EQ(done.status.signal, SIGTERM);
  EXPECT_THAT(done.out, Not(HasSubstr("survived")));
}

TEST(Process, ManyThreadsMayStartChildren) {
  std::vector<std::thread> threads;
  std::vector<std::string> outputs(8);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    threads.emplace_back([&outputs, i] {
      for (int round = 0; round < 10; ++round) {
        outputs[i] += run_shell("echo " + std::to_string(i)).out;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::string expected;
    for (int round = 0; round < 10; ++round) {
      expected += std::to_string(i) + "\n";
    }
    EXPECT_EQ(outputs[i], expected);
  }
}

TEST(Process, FindsPrograms) {
  EXPECT_TRUE(find_program("sh").has_value());
  EXPECT_FALSE(find_program("no-such-program-anywhere").has_value());
  EXPECT_FALSE(find_program("/etc/passwd").has_value());
}

}  // namespace
}  // namespace sweep::util
