// What a runner may do, tried from inside a real one below a real judge. Needs no GPU; a runner on
// one has the same sandbox but for what tests/gpu/sandbox_test.cpp and docs/protections.md name.
#include "hostile_fixture.h"
#include "processes.h"

#include <gmock/gmock.h>

#include <regex>

namespace sweep::evaluate {
namespace {

using test::line_of;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

constexpr long kRefused = -1;    // EPERM
constexpr long kClosed = -13;    // EACCES
constexpr long kTryAgain = -11;  // EAGAIN

class RunnerSandbox : public Hostile {
 protected:
  // Every probe was answered with `result`, and the kernel is right for all that.
  static void expect_all(const Ran& ran, const std::vector<std::string>& names, long result) {
    EXPECT_FALSE(ran.check.failure) << why(ran);
    for (const std::string& name : names) {
      EXPECT_THAT(ran.said, HasSubstr(line_of(name, result)));
    }
  }
};

TEST_F(RunnerSandbox, HasNoNetwork) {
  const Ran ran = run("", R"(
    say("sockets", sockets());
    int pair[2];
    say("socketpair", call(53, 1, 1, 0, at(pair)));
    say("connect", call(42, 3, at("\1\0\0name"), 6));
    say("bind", call(49, 3, at("\1\0\0name"), 6));
    say("listen", call(50, 3, 1));
    say("accept", call(43, 3));
    say("accept4", call(288, 3));)");
  expect_all(ran, {"sockets"}, 0);
  expect_all(ran, {"socketpair", "connect", "bind", "listen", "accept", "accept4"}, kRefused);
}

TEST_F(RunnerSandbox, HasNoKeyInItsEnvironment) {
  ::setenv("SWEEP_TEST_API_KEY", "planted-secret", 1);
  std::vector<std::string> found;
  const Ran ran = judge(honest_, {.during = [&found] {
                          for (std::string& one : test::environments("__run")) {
                            found.push_back(std::move(one));
                          }
                        }});
  ::unsetenv("SWEEP_TEST_API_KEY");
  EXPECT_FALSE(ran.check.failure) << why(ran);
  EXPECT_FALSE(found.empty());
  EXPECT_THAT(found, ::testing::Each("PATH=/usr/local/bin:/usr/bin:/bin\nLANG=C.UTF-8\nHOME=/\n"));
}

TEST_F(RunnerSandbox, HasNoDescriptorButItsChannel) {
  const Ran ran = run("", "print_descriptors();");
  EXPECT_FALSE(ran.check.failure) << why(ran);
  // Its copy of the module is sealed.
  EXPECT_TRUE(std::regex_match(ran.said,
                               std::regex("fd 0: /dev/null\n"
                                          "fd 1: pipe:.*\n"
                                          "fd 2: /dev/null\n"
                                          "fd 3: socket:.*\n"
                                          "fd [0-9]+: /memfd:sweep-module.*\n")))
      << ran.said;
  // Without a printing kernel there is not even that: the sum of open numbers below 4 is told by
  // the output.
  const Ran silent =
      judge(kernel("",
                   "long open = 0;\n"
                   "for (long fd = 0; fd < 4; ++fd) {\n"
                   "  char what[100] = {};\n"
                   "  const char* names[] = {\"/proc/self/fd/0\", "
                   "\"/proc/self/fd/1\", \"/proc/self/fd/2\", \"/proc/self/fd/3\"};\n"
                   "  call(89, at(names[fd]), at(what), 99);\n"
                   "  open += what[0] == '/' && what[5] == 'n' ? 1 : 0;\n"
                   "}\n"
                   "total[0] = 1000000 + open;"),
            {.printing = false});
  ASSERT_TRUE(silent.check.failure) << why(silent);
  EXPECT_EQ(silent.check.failure->got, 1000003) << why(silent);  // three are /dev/null
}

TEST_F(RunnerSandbox, ReachesNoOtherProcess) {
  const Ran ran = run("", R"(
    say("kill all", call(62, -1, 0));
    say("kill group", call(62, 0, 0));
    say("kill other", call(62, 2, 0));
    say("tgkill", call(234, 2, 2, 0));
    say("tkill", call(200, 2, 0));
    say("sigqueue", call(129, 2, 0, 0));
    say("pidfd_open", call(434, 1, 0));
    say("pidfd_send_signal", call(424, 0, 0, 0));
    say("prlimit", call(302, 2, 7, 0, 0));
    say("setpriority", call(141, 0, 2, 1));
    say("affinity", call(203, 2, 8, at("\1\0\0\0\0\0\0\0")));
    say("owner", call(72, 3, 8, 2));
    say("self", call(62, call(39), 0));
    say("own environ", get("/proc/self/environ"));
    say("own memory", get("/proc/self/mem"));
    say("first environ", get("/proc/1/environ"));
    say("first memory", get("/proc/1/mem"));
    say("first channel", get("/proc/1/fd/3"));
    say("first command", get("/proc/1/cmdline"));
    say("second environ", get("/proc/2/environ"));
    say("second memory", get("/proc/2/mem"));
    say("processes", list("/proc"));)");
  expect_all(ran,
             {"kill all",
              "kill group",
              "kill other",
              "tgkill",
              "tkill",
              "sigqueue",
              "pidfd_open",
              "pidfd_send_signal",
              "prlimit",
              "setpriority",
              "affinity",
              "owner"},
             kRefused);
  expect_all(ran, {"self"}, 0);
  // The /proc that it sees is the judge's: 1 is the judge.
  expect_all(ran,
             {"own environ",
              "own memory",
              "first environ",
              "first memory",
              "first channel",
              "first command",
              "processes"},
             kClosed);
  EXPECT_THAT(ran.said, Not(HasSubstr(line_of("second environ", 0))));
  EXPECT_TRUE(std::regex_search(ran.said, std::regex("second environ: -(2|13)\n"))) << ran.said;
  EXPECT_TRUE(std::regex_search(ran.said, std::regex("second memory: -(2|13)\n"))) << ran.said;
}

TEST_F(RunnerSandbox, MakesNoDangerousCall) {
  const Ran ran = run("", R"(
    dangerous();
    say("fork", call(57));
    say("clone", call(56, 17));
    say("clone user", call(56, 0x10000011));
    say("clone3", call(435));
    say("own program", call(322, 199, at(""), 0, 0, 0x1000));
    unsigned header[2] = {0x20080522, 0};
    unsigned sets[6] = {};
    say("capget", call(125, at(header), at(sets)));
    say("capabilities", sets[0] | sets[1] | sets[3] | sets[4]);
    say("setuid", call(105, 0));)");
  std::vector<std::string> names(std::begin(test::kDangerous), std::end(test::kDangerous));
  names.insert(names.end(), {"fork", "clone", "clone user", "own program"});
  expect_all(ran, names, kRefused);
  expect_all(ran, {"clone3"}, -38);  // ENOSYS
  expect_all(ran, {"capget", "capabilities"}, 0);
  EXPECT_THAT(ran.said, Not(HasSubstr(line_of("setuid", 0))));
}

TEST_F(RunnerSandbox, ReadsNoFile) {
  const auto plant = [this](const std::string& name) {
    const fs::path file = folder_.path() / name;
    util::make_folders(file.parent_path());
    util::write_file_atomic(file, "planted", 0644);
    return file.string();
  };
  const char* home = std::getenv("HOME");
  const Ran ran =
      run(test::defined("KEYS", plant("home/.env")) +
              test::defined("RUN", plant("runs/demo/default/m/level_1_problem_3_trajectory.json")) +
              test::defined("OTHER", plant("runs/demo/default/m/level_1_problem_3_kernel.cu")) +
              test::defined("REFERENCE", (problem_->folder / "reference.cu").string()) +
              test::defined("HOME", home != nullptr && *home == '/' ? home : "/root") +
              test::defined("FOLDER", folder_.path().string()),
          R"(
    say("keys", get(KEYS));
    say("run", get(RUN));
    say("other kernel", get(OTHER));
    say("reference", get(REFERENCE));
    say("passwd", get("/etc/passwd"));
    say("hostname", get("/etc/hostname"));
    say("list folder", list(FOLDER));
    say("list home", list(HOME));
    say("list root", list("/"));
    say("list here", list("."));
    say("list tmp", list("/tmp"));
    say("list dev", list("/dev"));
    say("list sys", list("/sys"));
    say("zero", get("/dev/zero"));
    say("memory", get("/dev/mem"));
    say("granted", get("/etc/ld.so.cache") >= 0);)");
  expect_all(ran,
             {"keys",
              "run",
              "other kernel",
              "reference",
              "passwd",
              "list folder",
              "list home",
              "list root",
              "list here",
              "list tmp",
              "list dev",
              "list sys",
              "zero"},
             kClosed);
  EXPECT_THAT(ran.said, Not(::testing::ContainsRegex("probe (hostname|memory): [0-9]")));
  // The same kind of call does open what the policy names.
  expect_all(ran, {"granted"}, 1);
}

TEST_F(RunnerSandbox, WritesNowhere) {
  const fs::path victim = folder_.path() / "victim";
  util::write_file_atomic(victim, "whole", 0666);
  const fs::path open = folder_.path() / "open";
  fs::create_directory(open);
  ::chmod(open.c_str(), 0777);
  const Ran ran = run(test::defined("VICTIM", victim.string()) +
                          test::defined("OPEN", (open / "made").string()) +
                          test::defined("LOCKS", (folder_.path() / "locks/made").string()),
                      R"(
    say("in open", make(OPEN));
    say("in locks", make(LOCKS));
    say("in tmp", make("/tmp/sweep-runner-was-here"));
    say("in shm", make("/dev/shm/sweep-runner-was-here"));
    say("in var", make("/var/tmp/sweep-runner-was-here"));
    say("here", make("sweep-runner-was-here"));
    say("unnamed", call(2, at("/tmp"), 020200001, 0600));
    say("victim", call(2, at(VICTIM), 1));
    say("emptied", call(2, at(VICTIM), 01001));
    say("folder", call(83, at(OPEN), 0700));
    say("link", call(88, at("/etc/passwd"), at(OPEN)));
    say("hard link", call(86, at(VICTIM), at(OPEN)));
    say("rename", call(82, at(VICTIM), at(OPEN)));
    say("unlink", call(87, at(VICTIM)));
    say("truncate", call(76, at(VICTIM), 0));
    say("chmod", call(90, at(VICTIM), 0));
    say("fchmod", call(91, 3, 0));
    say("chown", call(92, at(VICTIM), 0, 0));
    say("times", call(280, -100, at(VICTIM), 0, 0));
    say("attribute", call(188, at(VICTIM), at("user.x"), at("x"), 1, 0));
    say("watch", call(254, 0, at(VICTIM), 2));)");
  expect_all(ran,
             {"in open",
              "in locks",
              "in tmp",
              "in shm",
              "in var",
              "here",
              "unnamed",
              "victim",
              "emptied",
              "folder",
              "link",
              "unlink"},
             kClosed);
  expect_all(
      ran, {"truncate", "chmod", "fchmod", "chown", "times", "attribute", "watch"}, kRefused);
  EXPECT_THAT(ran.said, Not(::testing::ContainsRegex("probe (hard link|rename): 0")));
  EXPECT_EQ(util::read_file(victim, 100), "whole");
  EXPECT_TRUE(fs::is_empty(open));
}

TEST_F(RunnerSandbox, CannotMakeInputsWritable) {
  const Ran ran = run("", "say(\"inputs\", call(10, at(x) & -4096, 4096, 3));");
  expect_all(ran, {"inputs"}, kClosed);
}

TEST_F(RunnerSandbox, ThreadBombIsBounded) {
  // Threads that only pause need no stack of their own.
  const Ran ran = run(R"(
static long bomb() {
  static char stack[4096];
  long made = 0;
  for (; made < 5000; ++made) {
    long result = 56;
    register long r10 __asm__("r10") = 0;
    register long r8 __asm__("r8") = 0;
    __asm__ volatile("syscall\n test %%rax, %%rax\n jnz 2f\n1: movl $34, %%eax\n syscall\n jmp 1b\n2:"
                     : "+a"(result)
                     : "D"(0x50f00L), "S"(stack + 4096), "d"(0L), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    if (result < 0) { say("bomb", result); break; }
  }
  return made;
}
)",
                      "say(\"made\", bomb());");
  EXPECT_FALSE(ran.check.failure) << why(ran);
  EXPECT_THAT(ran.said, HasSubstr(line_of("bomb", kTryAgain)));
  std::smatch made;
  ASSERT_TRUE(std::regex_search(ran.said, made, std::regex("made: ([0-9]+)"))) << ran.said;
  EXPECT_LT(std::stol(made[1]), 64);
  EXPECT_GT(std::stol(made[1]), 0);
}

}  // namespace
}  // namespace sweep::evaluate
