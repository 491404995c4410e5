// What the judge's process may do, tried from inside: on the cpu device it loads reference.cu,
// which here tries what a judge that went wrong would try.
#include "evaluate/evaluation.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

namespace sweep::evaluate {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

const fs::path kProblem = fs::path(SWEEP_SOURCE_DIR) / "tests/data/problems/test/affine";

// Raw system calls: the compiler refuses code for the cpu device that imports functions. Where
// there is no sandbox, none of them does harm: the last four fail for want of their object.
constexpr std::string_view kProbe = R"(
static long call(long n, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
  long result = n;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
  return result;
}
static long at(const char* text) { return (long)text; }
static void print(const char* text) {
  long size = 0;
  while (text[size] != 0) ++size;
  call(1, 2, at(text), size);
}
static void say(const char* what, long result) {
  print("probe ");
  print(what);
  print(result >= 0 ? ": allowed\n" : result == -13 ? ": denied\n" : result == -1 ? ": forbidden\n" : ": failed\n");
}
static void probe() {
  say("key", call(2, at(KEY_FILE)));
  say("granted", call(2, at(GRANTED_FILE)));
  say("ssh folder", call(2, at(SSH_FOLDER), 0200000));
  say("home", call(2, at(HOME_FOLDER), 0200000));
  say("passwd", call(2, at("/etc/passwd")));
  say("sysctl", call(2, at("/proc/sys/kernel/core_pattern"), 1));
  say("write", call(2, at("/tmp/sweep-judge-was-here"), 0101, 0600));
  say("inet", call(41, 2, 1));
  say("inet6", call(41, 10, 2));
  say("netlink", call(41, 16, 3));
  say("unix", call(41, 1, 1));
  say("mount", call(165, at("none"), at("/nowhere"), at("tmpfs")));
  say("trace", call(101, 16, 0x7fffffff));
  say("exec", call(59, at("/nowhere")));
  say("exec memory", call(322, call(319, at("x")), at(""), 0, 0, 0x1000));
}
)";

std::string quoted(const fs::path& path) {
  return '"' + path.string() + '"';
}

class JudgeSandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr) {
      GTEST_SKIP() << "the sandbox is switched off";
    }
    // Open to everybody, so that what is refused below is refused by the sandbox.
    ::chmod(folder_.path().c_str(), 0755);
    services_.problems = kProblem.parent_path().parent_path();
    services_.cache =
        fs::temp_directory_path() / ("sweep-test-cache-" + std::to_string(::getuid()));
    services_.locks = folder_.path() / "locks";
    services_.salt = folder_.path() / "state/salt";
    services_.program = SWEEP_BINARY;
    util::make_folders(folder_.path() / "home/.ssh");
    util::make_folders(services_.locks);
    util::write_file_atomic(folder_.path() / "home/.env", "API_KEY=planted", 0644);
    util::write_file_atomic(services_.locks / "note", "seen", 0644);
  }

  // The problem of tests/data with the probe before its reference.
  [[nodiscard]] fs::path probing_problem() const {
    const fs::path to = folder_.path() / "affine";
    fs::copy(kProblem, to);
    const char* home = std::getenv("HOME");
    const std::string text =
        "#define KEY_FILE " + quoted(folder_.path() / "home/.env") + "\n#define SSH_FOLDER " +
        quoted(folder_.path() / "home/.ssh") + "\n#define GRANTED_FILE " +
        quoted(services_.locks / "note") + "\n#define HOME_FOLDER " +
        quoted(home != nullptr && *home == '/' ? home : "/root") + std::string(kProbe);
    std::string reference = util::read_file(to / "reference.cu", 1 << 20);
    const std::size_t body = reference.find("  double sum");
    reference.insert(body, "  if (r == 0) probe();\n");
    reference.insert(reference.find("__global__"), text);
    util::write_file_atomic(to / "reference.cu", reference);
    return to;
  }

  util::TempDir folder_;
  Services services_;
};

TEST_F(JudgeSandbox, ReachesNothingAndStillJudges) {
  EvaluationRequest request;
  request.submission = {"mine.cu", util::read_file(kProblem / "seed.cu", 1 << 20)};
  request.problem = probing_problem().string();
  request.device = {device::Kind::cpu, 0};
  request.only = Stage::check;
  request.deadline_seconds = 240;
  ::testing::internal::CaptureStderr();
  const Evaluation e = evaluate(request, services_);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(outcome_of(e.verdict), Outcome::correct) << e.headline << e.infra << said;
  // The same kind of file opens where the policy names its folder.
  EXPECT_THAT(said, HasSubstr("probe granted: allowed\n"));
  for (const char* what : {"key", "ssh folder", "passwd", "write"}) {
    EXPECT_THAT(said, HasSubstr("probe " + std::string(what) + ": denied\n"));
  }
  for (const char* what :
       {"inet", "inet6", "netlink", "unix", "mount", "trace", "exec", "exec memory"}) {
    EXPECT_THAT(said, HasSubstr("probe " + std::string(what) + ": forbidden\n"));
  }
  EXPECT_THAT(said, ::testing::Not(HasSubstr("probe home: allowed")));
  EXPECT_THAT(said, ::testing::Not(HasSubstr("probe sysctl: allowed")));
  EXPECT_FALSE(fs::exists("/tmp/sweep-judge-was-here"));
  // Runners inside have theirs as well.
  EXPECT_TRUE(e.protections.landlock && e.protections.seccomp && e.protections.network &&
              e.protections.pids && e.protections.user);
}

}  // namespace
}  // namespace sweep::evaluate
