#include "util/sandbox.h"

#include "util/error.h"
#include "util/file.h"
#include "util/process.h"
#include "util/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Every test starts a real child. Perl plays the hostile program: Debian's perl-base is always
// there.
namespace sweep::util {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

bool can_seal() {
  static const bool answer = sealed(probe_sandbox());
  return answer;
}

class Sandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_seal()) {
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

  [[nodiscard]] Captured perl(const std::string& code,
                              const SandboxPolicy& policy = readable()) const {
    SpawnSpec made = spec(policy);
    made.argv = {"perl", "-e", code};
    return run_program("/usr/bin/perl", made);
  }

  static SandboxPolicy readable() {
    SandboxPolicy policy = system_libraries();
    policy.read.emplace_back("/usr/share/perl");
    return policy;
  }

  // Outcome of opening a path for reading, as the child sees it.
  [[nodiscard]] std::string open_result(const std::string& path,
                                        const SandboxPolicy& policy) const {
    return perl("print open(my $f, '<', '" + path + "') ? 'opened' : $!", policy).out;
  }

  TempDir work_;
};

TEST_F(Sandbox, ReportsWhatHolds) {
  const Captured done = perl("print 'ran'");
  EXPECT_EQ(done.out, "ran") << done.err;
  EXPECT_TRUE(sealed(done.protections));
  std::vector<std::string> names;
  for (const Protection& p : done.protections) {
    names.push_back(p.name);
    EXPECT_FALSE(p.mandatory && !p.active) << p.name << ": " << p.detail;
  }
  EXPECT_THAT(names,
              testing::IsSupersetOf({"landlock", "seccomp", "network namespace", "process limit"}));
  EXPECT_FALSE(sealed({}));
}

TEST_F(Sandbox, FilesOutsideThePolicyStayClosed) {
  const TempDir outside;
  ::chmod(outside.path().c_str(), 0755);
  write_file_atomic(outside.path() / "env", "API_KEY=planted", 0644);
  const std::string key = (outside.path() / "env").string();
  SandboxPolicy open = readable();
  open.read.push_back(outside.path());
  // The same file opens when the policy names it, so the refusals below are Landlock's.
  EXPECT_EQ(open_result(key, open), "opened");
  EXPECT_EQ(open_result(key, readable()), "Permission denied");
  EXPECT_EQ(open_result("/etc/passwd", readable()), "Permission denied");
  EXPECT_EQ(open_result("/proc/self/status", readable()), "Permission denied");
  // Neither ways around by links of its own.
  EXPECT_THAT(perl("symlink('" + key + "', 'l'); print open(my $f, '<', 'l') ? 'opened' : $!").out,
              HasSubstr("Permission denied"));
  EXPECT_THAT(perl("print link('" + key + "', 'h') ? 'linked' : 'no'").out,
              Not(HasSubstr("linked")));
}

TEST_F(Sandbox, WorkFolderIsItsOwn) {
  write_file_atomic(work_.path() / "in", "text", 0600);
  const Captured done = perl(
      "open(my $i, '<', 'in') or die $!; print <$i>; open(my $o, '>', 'out') or die $!; print $o "
      "'done'; "
      "mkdir 'sub' or die $!; rename 'in', 'sub/in' or die $!; close $o;");
  EXPECT_EQ(done.out, "text") << done.err;
  EXPECT_EQ(read_file(work_.path() / "out", 100, Links::refuse), "done");
  EXPECT_EQ(read_file(work_.path() / "sub/in", 100), "text");
  EXPECT_THAT(perl("open(my $o, '>', '/tmp/sweep-escape') or print $!").out, HasSubstr("denied"));
  EXPECT_THAT(perl("open(my $o, '>', '/usr/lib/sweep-escape') or print $!").out,
              HasSubstr("denied"));
}

TEST_F(Sandbox, LinksThatItLeavesAreNotFollowed) {
  (void)perl("symlink('/etc/passwd', 'result')");
  EXPECT_THROW((void)read_file(work_.path() / "result", 1 << 20, Links::refuse), UsageError);
}

TEST_F(Sandbox, CannotConnect) {
  // A listening socket on this machine's loopback, which the child's namespace does not have.
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  for (const char* call : {"socket(my $s, 2, 1, 0)",
                           "socket(my $s, 1, 1, 0)",
                           "socket(my $s, 16, 3, 0)",
                           "socketpair(my $a, my $b, 1, 1, 0)"}) {
    EXPECT_EQ(perl(std::string("print ") + call + " ? 'made' : $!").out, "Operation not permitted")
        << call;
  }
  // An inherited socket cannot be connected either.
  const Fd spare(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  SpawnSpec made = spec(readable());
  made.argv = {"perl",
               "-e",
               "open(my $s, '+<&=', 7) or die $!; print connect($s, pack('S n a4 x8', 2, 80, "
               "pack('C4', 127, 0, 0, 1))) ? 'connected' : $!"};
  made.fds = {{spare.get(), 7}};
  EXPECT_EQ(run_program("/usr/bin/perl", made).out, "Operation not permitted");
}

TEST_F(Sandbox, ListeningIsAllUnixSocketsCanDo) {
  SandboxPolicy policy = readable();
  policy.listen_unix = true;
  EXPECT_EQ(
      perl("socket(my $s, 1, 1, 0) or die $!; bind($s, pack('S a*', 1, \"\\0name\")) or die $!; "
           "listen($s, 1) or die $!; print 'listens'",
           policy)
          .out,
      "listens");
  EXPECT_EQ(perl("socket(my $s, 1, 1, 0) or die $!; print connect($s, pack('S a*', 1, '/x')) ? "
                 "'connected' : $!",
                 policy)
                .out,
            "Operation not permitted");
  // Internet, netlink, unix datagrams, raw unix.
  for (const char* kind :
       {"2, 1", "2, 2", "10, 1", "16, 3", "1, 2", "1, 3", "1, 0x80002", "40, 1"}) {
    EXPECT_EQ(perl(std::string("print socket(my $s, ") + kind + ", 0) ? 'made' : $!", policy).out,
              "Operation not permitted")
        << kind;
  }
}

TEST_F(Sandbox, HasAnEmptyNetwork) {
  SandboxPolicy policy = readable();
  policy.read.emplace_back("/proc");
  const std::string devices =
      perl("open(my $f, '<', '/proc/self/net/dev') or die $!; print <$f>", policy).out;
  EXPECT_THAT(devices, HasSubstr("lo:"));
  EXPECT_THAT(devices, Not(HasSubstr("eth")));
  EXPECT_EQ(split(devices, '\n').size(), 4U) << devices;  // two lines of heading, lo, the end
}

TEST_F(Sandbox, CannotReadAnotherProcessEnvironment) {
  SpawnSpec victim_spec;
  victim_spec.argv = {"sh", "-c", "sleep 1000"};
  victim_spec.env = {"API_KEY=planted-secret", "PATH=/bin"};
  Process victim = Process::start_program("/bin/sh", victim_spec);
  SandboxPolicy policy = readable();
  policy.read.emplace_back("/proc");
  // By its number, and whatever else shows in /proc.
  const std::string code = "for my $f (glob('/proc/[0-9]*/environ'), '/proc/" +
                           std::to_string(victim.pid()) +
                           "/environ') { open(my $h, '<', $f) or next; print <$h>; } print 'end'";
  const Captured done = perl(code, policy);
  EXPECT_THAT(done.out, HasSubstr("end")) << done.err;
  EXPECT_THAT(done.out, Not(HasSubstr("planted-secret")));
}

TEST_F(Sandbox, CannotSignalOrTraceOthers) {
  SpawnSpec victim_spec;
  victim_spec.argv = {"sh", "-c", "sleep 1000"};
  Process victim = Process::start_program("/bin/sh", victim_spec);
  const std::string pid = std::to_string(victim.pid());
  const Captured done =
      perl("print kill(9, " + pid + ") ? 'killed' : 'no'; $r = syscall(101, 16, " + pid +
           ", 0, 0); print $r == -1 ? \" $!\" : ' traced'; print syscall(310, " + pid +
           ", 0, 0, 0, 0, 0) == -1 ? \" $!\" : ' read'");
  EXPECT_EQ(done.out, "no Operation not permitted Operation not permitted") << done.err;
  EXPECT_EQ(victim.wait_for(0), std::nullopt);
}

TEST_F(Sandbox, DangerousCallsAreRefused) {
  // x86-64 numbers: mount, unshare(user), keyctl, bpf, perf_event_open, io_uring_setup,
  // userfaultfd, setns.
  for (const char* call : {"165, 0, 0, 0, 0, 0",
                           "272, 0x10000000",
                           "250, 0, 0, 0, 0, 0",
                           "321, 0, 0, 0",
                           "298, 0, 0, 0, 0, 0",
                           "425, 1, 0",
                           "323, 0",
                           "308, 0, 0",
                           "56, 0x10000011, 0, 0, 0, 0"}) {
    EXPECT_EQ(perl(std::string("print syscall(") + call + ") == -1 ? $! : 'allowed'").out,
              "Operation not permitted")
        << call;
  }
  EXPECT_EQ(perl("print syscall(435, 0, 0) == -1 ? $! : 'allowed'").out,
            "Function not implemented");
}

TEST_F(Sandbox, ExecutesNothingElse) {
  EXPECT_EQ(perl("exec('/bin/true') or print $!").out, "Operation not permitted");
  EXPECT_EQ(perl("system('/bin/true'); print $?").out, "-1");
  SandboxPolicy programs = system_programs();
  EXPECT_EQ(perl("print `echo from a shell`", programs).out, "from a shell\n");
  // Programs that the child wrote itself do not run, even where exec is allowed.
  const Captured own = perl(
      "open(my $i, '<', '/bin/true') or die $!; open(my $o, '>', 'mine'); print $o $_ while <$i>; "
      "close $o; "
      "chmod 0755, 'mine'; exec('./mine') or print $!",
      programs);
  EXPECT_EQ(own.out, "Permission denied");
}

TEST_F(Sandbox, ForkBombIsBounded) {
  SandboxPolicy policy = readable();
  policy.max_processes = 16;
  const Captured done = perl(
      "my $n = 1; while ($n < 200) { my $p = fork(); if (!defined $p) { print \"$n $!\"; exit 0 } "
      "if ($p == 0) { sleep 1000; exit 0 } $n++ } print 'no end'",
      policy);
  EXPECT_EQ(done.out, "16 Resource temporarily unavailable");
}

TEST_F(Sandbox, IsFirstToDie) {
  SandboxPolicy policy = readable();
  policy.read.emplace_back("/proc");
  const std::string code = "open(my $f, '<', '/proc/self/oom_score_adj') or die $!; print <$f>";
  EXPECT_EQ(perl(code, policy).out, "1000\n");
  // Not one that has others below it, which would end with it.
  policy.start_sandboxed = true;
  EXPECT_EQ(perl(code, policy).out, read_file("/proc/self/oom_score_adj", 100));
}

TEST_F(Sandbox, EscapeFromTheGroupDiesToo) {
  // A descendant with a session of its own, which the pid namespace ends.
  SpawnSpec made = spec(readable());
  made.argv = {"perl",
               "-e",
               "$| = 1; if (fork() == 0) { syscall(112); if (fork() == 0) { print 'x'; sleep 1000 "
               "} exit 0 } "
               "sleep 1000"};
  made.deadline = 2;
  Pipe out = make_pipe();
  made.fds = {{out.write.get(), 1}};
  Process process = Process::start_program("/usr/bin/perl", made);
  out.write.reset();
  char byte = 0;
  ASSERT_EQ(read_all(out.read.get(), &byte, 1, "test"), 1U);
  process.kill_group();
  (void)process.wait();
  // Only descendants hold the write end now: end of file means that all are gone.
  ASSERT_TRUE(wait_readable(out.read.get(), 20));
  EXPECT_EQ(read_all(out.read.get(), &byte, 1, "test"), 0U);
}

TEST_F(Sandbox, CannotRegainPrivileges) {
  const Captured done = perl(
      "$> = 0; print \"$< $>\"; print chown(0, 0, 'x') ? 'c' : ''; print syscall(105, 0) == -1 ? ' "
      "no' : ' root'");
  EXPECT_THAT(done.out, Not(HasSubstr("root")));
  if (::geteuid() == 0) {
    EXPECT_THAT(done.out, Not(testing::StartsWith("0 ")));
  }
}

TEST_F(Sandbox, StartsItselfWithoutExecRights) {
  SandboxPolicy policy = system_libraries();
  // Sanitized builds read their options in /proc, and their leak check needs ptrace.
  policy.read.emplace_back("/proc");
  SpawnSpec made = spec(policy);
  made.argv = {"itself", "--gtest_list_tests"};
  made.env.emplace_back("ASAN_OPTIONS=detect_leaks=0");
  const Captured done = run_self(Self::open(), made);
  EXPECT_TRUE(done.status.ok()) << done.status.text() << done.err;
  EXPECT_THAT(done.out, HasSubstr("StartsItselfWithoutExecRights"));
}

TEST_F(Sandbox, CompilerRuns) {
  write_file_atomic(work_.path() / "a.cpp",
                    "#include <vector>\nint f() { return int(std::vector<int>(3).size()); }\n");
  SpawnSpec made = spec(system_programs());
  made.argv = {"g++", "-c", "a.cpp", "-o", "a.o"};
  const Captured done = run_program("/usr/bin/g++", made);
  EXPECT_TRUE(done.status.ok()) << done.err;
  EXPECT_TRUE(std::filesystem::exists(work_.path() / "a.o"));
  // An include of a file outside the policy leaks nothing.
  write_file_atomic(work_.path() / "b.cpp", "#include \"/etc/passwd\"\n");
  made = spec(system_programs());
  made.argv = {"g++", "-c", "b.cpp", "-o", "b.o"};
  const Captured leak = run_program("/usr/bin/g++", made);
  EXPECT_NE(leak.status.code, 0);
  EXPECT_THAT(leak.err, Not(HasSubstr("root:")));
  EXPECT_THAT(leak.err, HasSubstr("ermission denied"));
}

TEST_F(Sandbox, AfterDenyExecNothingElseIsReached) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    deny_exec();
    ::execl("/bin/true", "true", nullptr);
    const bool executes = errno != EPERM;
    rlimit limit{};
    const bool reaches = ::kill(::getppid(), 0) == 0 || ::kill(-1, 0) == 0 ||
                         ::prlimit(::getppid(), RLIMIT_NOFILE, nullptr, &limit) == 0 ||
                         ::setpriority(PRIO_PROCESS, 0, 1) == 0 ||
                         ::fcntl(0, F_SETOWN, ::getppid()) == 0;
    const bool itself = ::kill(::getpid(), 0) == 0 && ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
    ::_exit(!executes && !reaches && itself ? 42 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST(SandboxProbe, NamesEveryProtection) {
  const std::vector<Protection> found = probe_sandbox();
  ASSERT_EQ(found.size(), protection_names().size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, protection_names()[i]);
    EXPECT_TRUE(found[i].active || !found[i].detail.empty()) << found[i].name;
  }
}

TEST(SandboxPolicy, AddsUp) {
  SandboxPolicy a = system_libraries();
  const std::size_t before = a.read.size();
  SandboxPolicy b;
  b.read = {"/x"};
  b.max_processes = 1000;
  b.allow_exec = true;
  a += b;
  EXPECT_EQ(a.read.size(), before + 1);
  EXPECT_EQ(a.max_processes, 1000U);
  EXPECT_TRUE(a.allow_exec);
  EXPECT_FALSE(a.allow_unsandboxed);
}

}  // namespace
}  // namespace sweep::util
