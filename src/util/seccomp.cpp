#include "util/error.h"
#include "util/fd.h"
#include "util/lock_down.h"
#include "util/sandbox.h"
#include "util/spawn_plan.h"

#include <array>
#include <cerrno>
#include <initializer_list>
#include <memory>

#include <fcntl.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sweep::util {

namespace {

struct Release {
  void operator()(void* context) const { seccomp_release(context); }
};

using Context = std::unique_ptr<void, Release>;

void check(int result, const std::string& what) {
  if (result < 0) {
    errno = -result;
    throw_errno(what, "seccomp filter", "update libseccomp");
  }
}

Context make_context() {
  Context context(seccomp_init(SCMP_ACT_ALLOW));
  if (!context) {
    errno = ENOMEM;
    throw_errno("seccomp_init", "seccomp filter");
  }
  // A call by the tables of another architecture (32 bits, x32) ends the process, not one thread,
  // after which the others would wait for ever.
  check(seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS),
        "seccomp_attr_set");
  return context;
}

void deny(const Context& context,
          const char* name,
          int error = EPERM,
          std::initializer_list<scmp_arg_cmp> arguments = {}) {
  const int number = seccomp_syscall_resolve_name(name);
  // A name that this libseccomp or this machine does not know cannot be filtered by it; numbers
  // cover the new ones.
  if (number == __NR_SCMP_ERROR) {
    return;
  }
  check(seccomp_rule_add_array(context.get(),
                               SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)),
                               number,
                               static_cast<unsigned>(arguments.size()),
                               arguments.begin()),
        std::string("seccomp_rule_add ") + name);
}

// New descriptors to the outside, other processes' memory, the kernel's larger attack surfaces, and
// everything that changes the machine. An unprivileged child could not do most of it; root in a
// container might.
constexpr std::array kDenied = {"connect",
                                "accept",
                                "accept4",
                                "ptrace",
                                "process_vm_readv",
                                "process_vm_writev",
                                "process_madvise",
                                "pidfd_getfd",
                                "kcmp",
                                "mount",
                                "umount2",
                                "pivot_root",
                                "chroot",
                                "open_tree",
                                "move_mount",
                                "fsopen",
                                "fsconfig",
                                "fsmount",
                                "fspick",
                                "mount_setattr",
                                "setns",
                                "unshare",
                                "keyctl",
                                "add_key",
                                "request_key",
                                "bpf",
                                "perf_event_open",
                                "userfaultfd",
                                "io_uring_setup",
                                "io_uring_enter",
                                "io_uring_register",
                                "init_module",
                                "finit_module",
                                "delete_module",
                                "kexec_load",
                                "kexec_file_load",
                                "reboot",
                                "swapon",
                                "swapoff",
                                "open_by_handle_at",
                                "name_to_handle_at",
                                "acct",
                                "quotactl",
                                "quotactl_fd",
                                "settimeofday",
                                "clock_settime",
                                "clock_adjtime",
                                "adjtimex",
                                "sethostname",
                                "setdomainname",
                                "syslog",
                                "fanotify_init",
                                "lookup_dcookie",
                                "iopl",
                                "ioperm",
                                "vhangup",
                                "mbind",
                                "migrate_pages",
                                "move_pages",
                                "modify_ldt",
                                "mknod",
                                "mknodat",
                                "personality"};

// Refused to all but those who start sandboxed children.
constexpr std::array kDeniedUnlessStarting = {"socketpair", "pidfd_open"};

// Datagram sockets could send to a path without connecting, and raw unix sockets are datagram ones.
void deny_sockets(const Context& context, bool listen_unix) {
  if (!listen_unix) {
    for (const char* name : {"socket", "bind", "listen"}) {
      deny(context, name);
    }
    return;
  }
  constexpr std::uint64_t kTypeBits = 0xF;
  deny(context, "socket", EPERM, {scmp_arg_cmp{0, SCMP_CMP_NE, AF_UNIX, 0}});
  for (const std::uint64_t type : {std::uint64_t{SOCK_DGRAM}, std::uint64_t{SOCK_RAW}}) {
    deny(context, "socket", EPERM, {scmp_arg_cmp{1, SCMP_CMP_MASKED_EQ, kTypeBits, type}});
  }
}

void deny_namespaces(const Context& context) {
  constexpr std::array<std::uint64_t, 7> kFlags = {CLONE_NEWUSER,
                                                   CLONE_NEWNS,
                                                   CLONE_NEWPID,
                                                   CLONE_NEWNET,
                                                   CLONE_NEWIPC,
                                                   CLONE_NEWUTS,
                                                   CLONE_NEWCGROUP};
  for (const std::uint64_t flag : kFlags) {
    deny(context, "clone", EPERM, {scmp_arg_cmp{0, SCMP_CMP_MASKED_EQ, flag, flag}});
  }
}

// Whoever shares our user could be reached by number: ended, starved or slowed down.
void deny_other_processes(const Context& context) {
  const auto self = static_cast<std::uint64_t>(::getpid());
  for (const char* name : {"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"}) {
    deny(context, name, EPERM, {scmp_arg_cmp{0, SCMP_CMP_NE, self, 0}});
  }
  for (const char* name : {"tkill", "pidfd_send_signal", "setpriority", "ioprio_set"}) {
    deny(context, name);
  }
  for (const char* name : {"prlimit64", "sched_setscheduler", "sched_setparam", "sched_setattr"}) {
    deny(context, name, EPERM, {scmp_arg_cmp{0, SCMP_CMP_NE, 0, 0}});
  }
  // Signals by way of a descriptor's owner.
  for (const std::uint64_t command :
       {std::uint64_t{F_SETOWN}, std::uint64_t{15} /* F_SETOWN_EX */}) {
    deny(context, "fcntl", EPERM, {scmp_arg_cmp{1, SCMP_CMP_MASKED_EQ, 0xFFFFFFFFU, command}});
  }
  for (const std::uint64_t request : {std::uint64_t{FIOSETOWN}, std::uint64_t{SIOCSPGRP}}) {
    deny(context, "ioctl", EPERM, {scmp_arg_cmp{1, SCMP_CMP_MASKED_EQ, 0xFFFFFFFFU, request}});
  }
}

// Threads may be started, processes not. libc falls back from clone3, whose flags cannot be seen.
void deny_processes(const Context& context) {
  deny(context, "fork");
  deny(context, "vfork");
  deny(context, "clone", EPERM, {scmp_arg_cmp{0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0}});
  deny(context, "clone3", ENOSYS);
}

// Memory with a name of its own, which outlives who made it and which no limit of a process counts.
void deny_named_memory(const Context& context) {
  for (const char* name : {"shmget", "shmat", "msgget", "semget", "mq_open"}) {
    deny(context, name);
  }
}

// What changes or watches a file without opening it, which Landlock does not see: harmful where the
// process has its starter's user.
void deny_unopened_files(const Context& context) {
  for (const char* name :
       {"chmod",     "fchmod",      "fchmodat",     "fchmodat2",    "chown",
        "lchown",    "fchown",      "fchownat",     "utime",        "utimes",
        "utimensat", "futimesat",   "truncate",     "setxattr",     "lsetxattr",
        "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "inotify_add_watch"}) {
    deny(context, name);
  }
}

// What RLIMIT_DATA leaves out: pages of memory files and of shared mappings, and mappings that grow
// down, which count as stacks.
void deny_uncounted_memory(const Context& context) {
  deny(context, "memfd_create");
  deny(context, "memfd_secret");
  constexpr std::uint64_t kType = 0xF;
  deny(context,
       "mmap",
       EPERM,
       {scmp_arg_cmp{3,
                     SCMP_CMP_MASKED_EQ,
                     kType | MAP_ANONYMOUS,
                     std::uint64_t{MAP_SHARED | MAP_ANONYMOUS}}});
  deny(context, "mmap", EPERM, {scmp_arg_cmp{3, SCMP_CMP_MASKED_EQ, MAP_GROWSDOWN, MAP_GROWSDOWN}});
}

std::vector<sock_filter> compile(const Context& context) {
  const Fd file = make_memfd("seccomp");
  check(seccomp_export_bpf(context.get(), file.get()), "seccomp_export_bpf");
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  if (size <= 0 || ::lseek(file.get(), 0, SEEK_SET) != 0) {
    throw_errno("lseek", "seccomp filter");
  }
  std::vector<sock_filter> filter(static_cast<std::size_t>(size) / sizeof(sock_filter));
  const std::size_t bytes = filter.size() * sizeof(sock_filter);
  if (read_all(file.get(), filter.data(), bytes, "seccomp filter") != bytes) {
    errno = EIO;
    throw_errno("read", "seccomp filter");
  }
  return filter;
}

}  // namespace

namespace spawn {

std::vector<sock_filter> seccomp_filter(bool allow_exec, bool listen_unix, bool start_sandboxed) {
  const Context context = make_context();
  for (const char* name : kDenied) {
    deny(context, name);
  }
  deny_sockets(context, listen_unix);
  // clone3 hides its flags in memory; without it libc uses clone.
  deny(context, "clone3", ENOSYS);
  if (!start_sandboxed) {
    for (const char* name : kDeniedUnlessStarting) {
      deny(context, name);
    }
    deny_namespaces(context);
  }
  // Typing into the terminal that started us; the upper half of the argument is ignored by the
  // kernel.
  for (const std::uint64_t request :
       {std::uint64_t{TIOCSTI}, std::uint64_t{0x541C} /* TIOCLINUX */}) {
    deny(context, "ioctl", EPERM, {scmp_arg_cmp{1, SCMP_CMP_MASKED_EQ, 0xFFFFFFFFU, request}});
  }
  if (!allow_exec) {
    deny(context, "execve");
    deny(context, "execveat", EPERM, {scmp_arg_cmp{0, SCMP_CMP_NE, kProgramFd, 0}});
    deny(context, "execveat", EPERM, {scmp_arg_cmp{4, SCMP_CMP_NE, AT_EMPTY_PATH, 0}});
  }
  return compile(context);
}

}  // namespace spawn

namespace {

// For all threads of this process.
void load(const Context& context) {
  std::vector<sock_filter> filter = compile(context);
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::syscall(SYS_seccomp, 1 /* SECCOMP_SET_MODE_FILTER */, 1 /* all threads */, &program) != 0) {
    throw InfraError({"seccomp filter",
                      "the kernel refuses to forbid system calls",
                      "enable CONFIG_SECCOMP_FILTER, or give --allow-unsandboxed"},
                     "E_SANDBOX");
  }
}

}  // namespace

void deny_exec() {
  const Context context = make_context();
  deny(context, "execve");
  deny(context, "execveat");
  deny_other_processes(context);
  load(context);
}

void lock_down(MemoryFiles memory_files) {
  deny_exec();
  const Context context = make_context();
  deny_processes(context);
  deny_named_memory(context);
  deny_unopened_files(context);
  if (memory_files == MemoryFiles::forbid) {
    deny_uncounted_memory(context);
    // libcuda may give its own threads processors by number.
    deny(context, "sched_setaffinity", EPERM, {scmp_arg_cmp{0, SCMP_CMP_NE, 0, 0}});
  }
  load(context);
}

}  // namespace sweep::util
