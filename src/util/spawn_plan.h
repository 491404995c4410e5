#pragma once

#include "util/process.h"
#include "util/sandbox.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <linux/filter.h>
#include <sys/resource.h>
#include <sys/types.h>

// Inside of spawning: what the parent prepares and what the child does between clone and exec. The
// child shares the parent's memory until exec (CLONE_VM), so it makes system calls only and
// allocates nothing.
namespace sweep::util::spawn {

enum Guard : std::size_t {
  kLandlock,
  kSeccomp,
  kNetwork,
  kProcessLimit,
  kOtherUser,
  kPidNamespace,
  kIpcNamespace,
  kPrivateProc,
  kGuards
};

// The step that fails where RLIMIT_NOFILE leaves no room above the targets.
inline constexpr const char* kDescriptorLimit =
    "dup of a descriptor (RLIMIT_NOFILE is too low or used up)";

inline constexpr std::array<const char*, kGuards> kGuardNames = {"landlock",
                                                                 "seccomp",
                                                                 "network namespace",
                                                                 "process limit",
                                                                 "user",
                                                                 "pid namespace",
                                                                 "ipc namespace",
                                                                 "private /proc"};

// The number at which the child keeps the program's file until exec; the seccomp filter names it.
// Descriptors for the child must have lower numbers.
inline constexpr int kProgramFd = 199;

struct PathRule {
  std::string path;
  std::uint64_t access = 0;  // LANDLOCK_ACCESS_FS_*
};

struct GuardState {
  bool active = false;
  int error = 0;       // errno of the step that failed, 0 when it was not tried
  std::string detail;  // set by the parent
};

struct Plan {
  int program_fd = -1;
  std::string script;  // path instead of program_fd: the kernel cannot run "#!" files by descriptor
  std::vector<char*> argv;  // null-terminated; point into the spec
  std::vector<char*> env;
  std::vector<FdMapping> fds;
  std::string folder;
  std::vector<std::pair<int, rlimit>> limits;

  bool sandboxed = false;
  bool allow_missing = false;
  std::uint64_t clone_flags = 0;
  bool maps_user = false;  // a new user namespace: write these maps
  std::string uid_map;
  std::string gid_map;
  bool drops_user = false;  // setresuid to `uid`, real root only
  uid_t uid = 0;
  bool limit_binds = false;  // false: the kernel does not count real root's processes
  bool needs_limit = true;
  bool keeps_root = false;  // real root that may write /proc: what belongs to the machine there is
                            // made read-only
  bool first_to_die = false;  // the kernel ends it before others when memory is short
  int clone_errno = 0;        // why the namespaces were left out

  int landlock_abi = 0;  // 0: none
  std::vector<PathRule> rules;
  std::vector<sock_filter> filter;

  // Instead of exec, for probes: runs after all protections, its value is the exit code.
  int (*entry)(const Plan&) = nullptr;

  // Written by the child.
  const char* failed_step = nullptr;
  int failed_errno = 0;
  std::array<GuardState, kGuards> guards;
};

[[nodiscard]] inline bool is_mandatory(const Plan& plan, std::size_t guard) {
  return guard == kLandlock || guard == kSeccomp || guard == kNetwork ||
         (guard == kProcessLimit && plan.needs_limit);
}

// Fills the sandbox part: rules, filter, identity and namespace flags. `work_folder` is granted
// and, when the user changes, given to the new one. `program_fd` may be executed.
void plan_sandbox(Plan& plan,
                  const SandboxPolicy& policy,
                  const std::filesystem::path& work_folder);

// The filter of system calls. `allow_exec` false: only execveat(kProgramFd, "", ...,
// AT_EMPTY_PATH).
// `listen_unix`: socket(AF_UNIX, SOCK_STREAM), bind and listen. `start_sandboxed`: what start()
// needs for a plan with a sandbox.
[[nodiscard]] std::vector<sock_filter> seccomp_filter(bool allow_exec,
                                                      bool listen_unix,
                                                      bool start_sandboxed);

// 0 when the kernel has no Landlock or it is off.
[[nodiscard]] int landlock_abi();
[[nodiscard]] std::uint64_t landlock_read(int abi);
[[nodiscard]] std::uint64_t landlock_execute(int abi);
[[nodiscard]] std::uint64_t landlock_write(int abi);
[[nodiscard]] std::uint64_t landlock_device(int abi);
// Child side: a descriptor of the plan's rules, or -1 with errno. Made before the child changes its
// user, who may not reach every folder that the policy grants.
[[nodiscard]] int landlock_ruleset(const Plan& plan);
// Child side: restricts the calling thread and closes the descriptor. 0, or -1 with errno.
[[nodiscard]] int landlock_restrict(int ruleset);

// Child side: everything up to and with exec; never returns.
[[noreturn]] void child_main(Plan& plan, int parent_pidfd);

struct Started {
  pid_t pid = -1;
  Fd pidfd;
};

// Clones and waits until the child has executed. InfraError "E_SPAWN" or "E_SANDBOX".
[[nodiscard]] Started start(Plan& plan);

[[nodiscard]] std::vector<Protection> report(const Plan& plan);

}  // namespace sweep::util::spawn
