#include "util/spawn_plan.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Runs between clone and exec in memory shared with the parent: raw system calls only. The libc
// wrappers of setuid and its kin would signal the parent's threads.
namespace sweep::util::spawn {

namespace {

// First number of the child's temporary descriptors, above kProgramFd.
constexpr int kScratchFds = kProgramFd + 1;
constexpr int kExitNotStarted = 127;
constexpr unsigned kCloseRangeCloexec = 1U << 2U;

[[noreturn]] void give_up(Plan& plan, const char* step) {
  plan.failed_step = step;
  plan.failed_errno = errno;
  ::_exit(kExitNotStarted);
}

// A protection that cannot be had ends the child, unless it is not mandatory or the policy lets it
// pass.
void note(Plan& plan, Guard guard, bool holds) {
  GuardState& state = plan.guards[guard];
  state.active = holds;
  state.error = holds ? 0 : errno;
  if (!holds && is_mandatory(plan, guard) && !plan.allow_missing) {
    give_up(plan, kGuardNames[guard]);
  }
}

bool write_small(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) {
    return false;
  }
  const bool done = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  return done;
}

void reset_signals() {
  struct sigaction action {};

  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) {
    ::sigaction(signal, &action, nullptr);
  }
}

// Moves all wanted descriptors above the targets first, so that no target overwrites a source.
void place_descriptors(Plan& plan, int& parent_pidfd) {
  parent_pidfd = ::fcntl(parent_pidfd, F_DUPFD_CLOEXEC, kScratchFds);
  for (FdMapping& mapping : plan.fds) {
    mapping.from = ::fcntl(mapping.from, F_DUPFD_CLOEXEC, kScratchFds);
    if (mapping.from < 0) {
      give_up(plan, kDescriptorLimit);
    }
  }
  if (plan.program_fd >= 0) {
    const int safe = ::fcntl(plan.program_fd, F_DUPFD_CLOEXEC, kScratchFds);
    if (safe < 0 || ::dup3(safe, kProgramFd, O_CLOEXEC) < 0) {
      give_up(plan, kDescriptorLimit);
    }
  }
  for (const FdMapping& mapping : plan.fds) {
    if (::dup2(mapping.from, mapping.to) < 0) {
      give_up(plan, "dup2");
    }
  }
  if (::syscall(SYS_close_range, 3U, ~0U, kCloseRangeCloexec) != 0) {
    give_up(plan, "close_range (kernel 5.11 or newer is needed)");
  }
  for (const FdMapping& mapping : plan.fds) {
    if (::fcntl(mapping.to, F_SETFD, 0) != 0) {
      give_up(plan, "fcntl");
    }
  }
}

// A /proc of the new pid namespace, so that no other process shows. Refused in many containers.
bool mount_own_proc() {
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
}

// For root, to whom the files below are writable where Landlock grants /proc.
bool protect_proc() {
  constexpr unsigned long kReadOnly =
      MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
  for (const char* path : {"/proc/sys", "/proc/sysrq-trigger"}) {
    const bool bound = ::mount(path, path, nullptr, MS_BIND, nullptr) == 0;
    // A kernel may have no sysrq.
    if (!bound && errno == ENOENT) {
      continue;
    }
    if (!bound || ::mount(nullptr, path, nullptr, kReadOnly, nullptr) != 0) {
      return false;
    }
  }
  return true;
}

// In a user namespace of one user the limit counts that namespace's processes; as real root only a
// user of the child's own makes it bind.
void change_user(Plan& plan) {
  if (plan.maps_user) {
    const bool mapped = write_small("/proc/self/setgroups", "deny") &&
                        write_small("/proc/self/gid_map", plan.gid_map) &&
                        write_small("/proc/self/uid_map", plan.uid_map);
    note(plan, kOtherUser, mapped);
  }
}

void drop_user(Plan& plan) {
  if (plan.drops_user) {
    const bool dropped = ::syscall(SYS_setgroups, 0, nullptr) == 0 &&
                         ::syscall(SYS_setresgid, plan.uid, plan.uid, plan.uid) == 0 &&
                         ::syscall(SYS_setresuid, plan.uid, plan.uid, plan.uid) == 0;
    note(plan, kOtherUser, dropped);
    // The change made the memory that we share with the parent undumpable, and so its /proc files
    // root's.
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  }
  errno = EPERM;
  note(plan, kProcessLimit, plan.guards[kOtherUser].active && plan.limit_binds);
}

void set_limits(Plan& plan) {
  for (const auto& [resource, limit] : plan.limits) {
    if (::syscall(SYS_prlimit64, 0, resource, &limit, nullptr) != 0) {
      give_up(plan, "setrlimit");
    }
  }
}

void die_with_parent(Plan& plan, int parent_pidfd) {
  // Changing the user clears this, so it comes after it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    give_up(plan, "prctl");
  }
  // A parent that died before the signal was set would leave us alone for ever.
  pollfd parent{parent_pidfd, POLLIN, 0};
  if (parent_pidfd >= 0 && ::poll(&parent, 1, 0) > 0) {
    ::_exit(kExitNotStarted);
  }
}

// Rules as a descriptor; -1 without Landlock.
int make_rules(Plan& plan) {
  if (plan.landlock_abi == 0) {
    errno = EOPNOTSUPP;
    note(plan, kLandlock, false);
    return -1;
  }
  const int ruleset = landlock_ruleset(plan);
  if (ruleset < 0) {
    note(plan, kLandlock, false);
  }
  return ruleset;
}

void apply_filters(Plan& plan, int ruleset) {
  if (ruleset >= 0) {
    note(plan, kLandlock, landlock_restrict(ruleset) == 0);
  }
  const sock_fprog program{static_cast<unsigned short>(plan.filter.size()), plan.filter.data()};
  note(plan, kSeccomp, ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
}

void enter_sandbox(Plan& plan) {
  const auto in = [&](std::uint64_t flag) { return (plan.clone_flags & flag) != 0; };
  change_user(plan);
  errno = plan.clone_errno;
  note(plan, kNetwork, in(CLONE_NEWNET));
  note(plan, kPidNamespace, in(CLONE_NEWPID));
  note(plan, kIpcNamespace, in(CLONE_NEWIPC));
  note(plan, kPrivateProc, in(CLONE_NEWNS) && in(CLONE_NEWPID) && mount_own_proc());
  if (plan.keeps_root && !(plan.guards[kPrivateProc].active && protect_proc()) &&
      !plan.allow_missing) {
    give_up(plan, kGuardNames[kPrivateProc]);
  }
}

}  // namespace

void child_main(Plan& plan, int parent_pidfd) {
  reset_signals();
  if (::setpgid(0, 0) != 0) {
    give_up(plan, "setpgid");
  }
  place_descriptors(plan, parent_pidfd);
  int ruleset = -1;
  if (plan.first_to_die) {
    // Where /proc is missing the kernel chooses by size alone.
    (void)write_small("/proc/self/oom_score_adj", "1000");
  }
  if (plan.sandboxed) {
    enter_sandbox(plan);
    ruleset = make_rules(plan);
  }
  if (::chdir(plan.folder.c_str()) != 0) {
    give_up(plan, "chdir to the work folder");
  }
  set_limits(plan);
  if (plan.sandboxed) {
    drop_user(plan);
  }
  die_with_parent(plan, parent_pidfd);
  if (plan.sandboxed) {
    apply_filters(plan, ruleset);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (plan.entry != nullptr) {
    ::_exit(plan.entry(plan));
  }
  if (!plan.script.empty()) {
    ::execve(plan.script.c_str(), plan.argv.data(), plan.env.data());
    give_up(plan, "exec");
  }
  ::syscall(SYS_execveat, kProgramFd, "", plan.argv.data(), plan.env.data(), AT_EMPTY_PATH);
  give_up(plan, "exec");
}

}  // namespace sweep::util::spawn
