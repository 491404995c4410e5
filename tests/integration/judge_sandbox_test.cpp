// What the judge's process may do, tried from inside: on the cpu device it loads reference.cu,
// which here tries what a judge that went wrong would try.
#include "evaluate/evaluation.h"
#include "probe_code.h"
#include "processes.h"
#include "util/file.h"
#include "util/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include <sys/stat.h>
#include <unistd.h>

namespace sweep::evaluate {
namespace {

using test::line_of;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

const fs::path kProblem = fs::path(SWEEP_SOURCE_DIR) / "tests/data/problems/test/affine";

constexpr std::string_view kProbe = R"(
static void probe() {
  dangerous();
  say("key", get(KEY_FILE));
  say("trajectory", get(RUN_FILE));
  say("reference", get(REFERENCE));
  say("granted", get(GRANTED_FILE) >= 0);
  say("ssh folder", list(SSH_FOLDER));
  say("home", list(HOME_FOLDER));
  say("passwd", get("/etc/passwd"));
  say("sysctl", call(2, at("/proc/sys/kernel/core_pattern"), 1));
  say("write", make("/tmp/sweep-judge-was-here"));
  say("shm", make("/dev/shm/sweep-judge-was-here"));
  say("sockets", sockets());
  say("connect", call(42, 3, at("\1\0\0name"), 6));
  say("parent", call(110));
  say("starter environ", get(STARTER "environ"));
  say("starter memory", get(STARTER "mem"));
  say("kill starter", call(62, STARTER_PID, 0));
  say("exec memory", call(322, call(319, at("x")), at(""), 0, 0, 0x1000));
  print_descriptors();
}
)";

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
    util::make_folders(folder_.path() / "runs/demo");
    util::write_file_atomic(folder_.path() / "runs/demo/a_trajectory.json", "planted", 0644);
    util::write_file_atomic(services_.locks / "note", "seen", 0644);
  }

  // The problem of tests/data with the probe before its reference.
  [[nodiscard]] fs::path probing_problem() const {
    const fs::path to = folder_.path() / "affine";
    fs::copy(kProblem, to);
    const char* home = std::getenv("HOME");
    const std::string self = std::to_string(::getpid());
    using test::defined;
    const std::string text =
        "static const int say_to = 2;\n" + defined("KEY_FILE", folder_.path() / "home/.env") +
        defined("RUN_FILE", folder_.path() / "runs/demo/a_trajectory.json") +
        defined("REFERENCE", kProblem / "reference.cu") +
        defined("SSH_FOLDER", folder_.path() / "home/.ssh") +
        defined("GRANTED_FILE", services_.locks / "note") +
        defined("HOME_FOLDER", home != nullptr && *home == '/' ? home : "/root") +
        defined("STARTER", "/proc/" + self + "/") + "#define STARTER_PID " + self + "\n" +
        std::string(test::kProbeCode) + std::string(kProbe);
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

// Standard ones, channel, program, locks; memory of its own; its runners and their channels; what
// an earlier call of the probe itself opened (note).
void expect_descriptors(const std::string& said) {
  const std::regex known(
      "fd (0: /dev/null|1: /dev/null|2: .*|3: socket:.*|4: .*/sweep.*|5: .*/locks"
      "|[0-9]+: (/memfd:.*|.*/locks/(cpu.*|note)|socket:.*|anon_inode:.*pidfd.*))");
  std::size_t seen = 0;
  for (const std::string_view line : util::split(said, '\n')) {
    if (line.starts_with("fd ")) {
      ++seen;
      EXPECT_TRUE(std::regex_match(std::string(line), known)) << line;
    }
  }
  EXPECT_GE(seen, 6U) << said;
}

TEST_F(JudgeSandbox, ReachesNothingAndStillJudges) {
  EvaluationRequest request;
  request.submission = {"mine.cu", util::read_file(kProblem / "seed.cu", 1 << 20)};
  request.problem = probing_problem().string();
  request.device = {device::Kind::cpu, 0};
  request.only = Stage::check;
  request.deadline_seconds = 240;
  ::setenv("SWEEP_TEST_API_KEY", "planted-secret", 1);
  ::testing::internal::CaptureStderr();
  std::vector<std::string> environments;
  const Evaluation e = evaluate(request, services_, [&environments](const ProgressEvent&) {
    for (std::string& one : test::environments("__judge")) {
      environments.push_back(std::move(one));
    }
  });
  const std::string said = ::testing::internal::GetCapturedStderr();
  ::unsetenv("SWEEP_TEST_API_KEY");
  EXPECT_EQ(outcome_of(e.verdict), Outcome::correct) << e.headline << e.infra << said;
  // The same kind of file opens where the policy names its folder.
  EXPECT_THAT(said, HasSubstr(line_of("granted", 1)));
  for (const char* what :
       {"key", "trajectory", "reference", "ssh folder", "passwd", "write", "shm"}) {
    EXPECT_THAT(said, HasSubstr(line_of(what, -13)));
  }
  for (const std::string_view what : test::kDangerous) {
    // It makes namespaces for its runners.
    if (!what.starts_with("unshare")) {
      EXPECT_THAT(said, HasSubstr(line_of(what, -1)));
    }
  }
  EXPECT_THAT(said, HasSubstr(line_of("sockets", 0)));
  EXPECT_THAT(said, HasSubstr(line_of("connect", -1)));
  EXPECT_THAT(said, HasSubstr(line_of("exec memory", -1)));
  // In its own namespace nobody started it, and the numbers outside name nobody.
  EXPECT_THAT(said, HasSubstr(line_of("parent", 0)));
  EXPECT_THAT(said, ::testing::ContainsRegex("probe starter environ: -(2|13)\n"));
  EXPECT_THAT(said, ::testing::ContainsRegex("probe starter memory: -(2|13)\n"));
  EXPECT_THAT(said, HasSubstr(line_of("kill starter", -3)));
  EXPECT_THAT(said, ::testing::Not(HasSubstr("planted")));
  EXPECT_THAT(environments,
              ::testing::Contains(HasSubstr("PATH=/usr/local/bin:/usr/bin:/bin\nLANG=C.UTF-8\n")));
  EXPECT_THAT(environments, ::testing::Each(::testing::Not(HasSubstr("planted"))));
  expect_descriptors(said);
  EXPECT_THAT(said, ::testing::Not(::testing::ContainsRegex("probe (home|sysctl): [0-9]")));
  EXPECT_FALSE(fs::exists("/tmp/sweep-judge-was-here"));
  // Runners inside have theirs as well.
  EXPECT_TRUE(e.protections.landlock && e.protections.seccomp && e.protections.network &&
              e.protections.pids && e.protections.user);
}

// A judge cannot break off a kernel of its own process, but it can say so and end.
TEST_F(JudgeSandbox, AReferenceThatNeverEndsIsNamed) {
  const fs::path to = folder_.path() / "affine";
  fs::copy(kProblem, to);
  std::string reference = util::read_file(to / "reference.cu", 1 << 20);
  reference.insert(reference.find("  double sum"), "  for (volatile int i = 0;; i = i + 1) { }\n");
  util::write_file_atomic(to / "reference.cu", reference);
  std::string toml = util::read_file(to / "problem.toml", 1 << 20);
  toml.replace(toml.find("seconds = 2"), 11, "seconds = 1");
  util::write_file_atomic(to / "problem.toml", toml);
  EvaluationRequest request;
  request.submission = {"mine.cu", util::read_file(kProblem / "seed.cu", 1 << 20)};
  request.problem = to.string();
  request.device = {device::Kind::cpu, 0};
  request.only = Stage::check;
  request.deadline_seconds = 240;
  const Evaluation e = evaluate(request, services_);
  EXPECT_EQ(outcome_of(e.verdict), Outcome::infra_error);
  EXPECT_THAT(e.infra, HasSubstr("reference.cu: did not end within 10"));
}

}  // namespace
}  // namespace sweep::evaluate
