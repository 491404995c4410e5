#include "util/sandbox.h"

#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"
#include "util/spawn_plan.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sweep::util {
namespace fs = std::filesystem;

SandboxPolicy& SandboxPolicy::operator+=(const SandboxPolicy& other) {
  const auto append = [](std::vector<fs::path>& to, const std::vector<fs::path>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(read, other.read);
  append(read_execute, other.read_execute);
  append(read_write, other.read_write);
  append(devices, other.devices);
  allow_exec = allow_exec || other.allow_exec;
  listen_unix = listen_unix || other.listen_unix;
  start_sandboxed = start_sandboxed || other.start_sandboxed;
  own_pids = own_pids && other.own_pids;
  max_processes = std::max(max_processes, other.max_processes);
  allow_unsandboxed = allow_unsandboxed || other.allow_unsandboxed;
  return *this;
}

SandboxPolicy system_libraries() {
  SandboxPolicy policy;
  // The loader itself is executed, so libraries are executable too; what they hold can be run as
  // code anyway.
  policy.read_execute = {"/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/usr/local/lib"};
  // A bundle's own libraries, found by $ORIGIN/lib.
  std::error_code error;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error) {
    if (fs::path beside = program.parent_path() / "lib"; fs::is_directory(beside, error)) {
      policy.read_execute.push_back(std::move(beside));
    }
  }
  policy.read = {"/etc/ld.so.cache",
                 "/etc/localtime",
                 "/usr/share/zoneinfo",
                 "/usr/share/locale",
                 "/usr/lib/locale",
                 "/dev/urandom",
                 "/dev/random"};
  policy.devices = {"/dev/null", "/dev/zero", "/dev/full"};
  return policy;
}

SandboxPolicy system_programs() {
  SandboxPolicy policy = system_libraries();
  policy.read_execute.insert(policy.read_execute.end(), {"/usr", "/bin", "/opt"});
  policy.read.emplace_back("/etc/alternatives");
  policy.allow_exec = true;
  return policy;
}

SandboxPolicy nvidia_driver() {
  SandboxPolicy policy;
  policy.read = {"/proc",
                 "/sys",
                 "/etc/nvidia",
                 "/usr/share/nvidia",
                 "/usr/local/nvidia",
                 "/run/nvidia-persistenced",
                 "/dev/nvidia-caps"};
  policy.devices = {"/dev/nvidiactl",
                    "/dev/nvidia-uvm",
                    "/dev/nvidia-uvm-tools",
                    "/dev/nvidia-modeset",
                    "/dev/nvidia-caps"};
  for (int gpu = 0; gpu < 64; ++gpu) {
    policy.devices.emplace_back("/dev/nvidia" + std::to_string(gpu));
  }
  policy.read_write = {"/proc/self/task"};
  policy.listen_unix = true;
  policy.max_processes = 256;
  return policy;
}

std::vector<std::string_view> protection_names() {
  return {spawn::kGuardNames.begin(), spawn::kGuardNames.end()};
}

bool sealed(const std::vector<Protection>& protections) {
  return !protections.empty() && std::ranges::all_of(protections, [](const Protection& p) {
    return p.active || !p.mandatory;
  });
}

namespace {

// Outer numbers that real root may take on: the last mapped user of our user namespace, and how
// many there are.
struct MappedUsers {
  std::uint64_t last = 0;
  std::uint64_t count = 0;
  bool initial = false;  // not in a user namespace
};

MappedUsers mapped_users() {
  MappedUsers users;
  const std::string text = read_file("/proc/self/uid_map", 65536);
  for (const std::string_view line : split(text, '\n')) {
    std::uint64_t inside = 0;
    std::uint64_t outside = 0;
    std::uint64_t count = 0;
    if (std::sscanf(std::string(line).c_str(), "%lu %lu %lu", &inside, &outside, &count) != 3) {
      continue;
    }
    users.initial = users.initial || (inside == 0 && outside == 0 && count >= 0xFFFFFFFEU);
    if (count > 0 && inside + count - 1 > users.last) {
      users.last = inside + count - 1;
      users.count = count;
    }
  }
  return users;
}

bool has_capability(unsigned capability) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  return ::syscall(SYS_capget, &header, data.data()) == 0 &&
         (data.at(capability / 32).effective >> (capability % 32) & 1U) != 0;
}

// A user that nobody else has, so that the process limit counts this child's processes only and no
// other child's files are its own. Drawn from 2^29 numbers above those that systems give to
// accounts and containers.
uid_t fresh_user(const MappedUsers& users) {
  constexpr std::uint64_t kBase = 1'500'000'000;
  constexpr std::uint64_t kNumbers = std::uint64_t{1} << 29U;
  std::uint64_t draw = 0;
  const std::string bytes = random_bytes(sizeof(draw));
  std::memcpy(&draw, bytes.data(), sizeof(draw));
  if (users.last >= kBase + kNumbers) {
    return static_cast<uid_t>(kBase + draw % kNumbers);
  }
  // A container: take from the upper half of what is mapped, where no accounts are.
  return static_cast<uid_t>(users.last - 1 - draw % std::max<std::uint64_t>(1, users.count / 2));
}

constexpr std::uint64_t kNamespaces = CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNS;

// In a child of another user: 0 when it can start a child in namespaces of its own.
int start_in_namespaces(const spawn::Plan& /*plan*/) {
  const long pid = ::syscall(SYS_clone, SIGCHLD | CLONE_NEWUSER | kNamespaces, 0, 0, 0, 0);
  if (pid == 0) {
    ::_exit(0);
  }
  int status = 0;
  return pid > 0 && ::waitpid(static_cast<pid_t>(pid), &status, 0) == pid && status == 0 ? 0 : 1;
}

int run_entry(spawn::Plan& plan, const std::string& what) {
  const spawn::Started started = spawn::start(plan);
  siginfo_t info{};
  while (::waitid(P_PIDFD, static_cast<id_t>(started.pidfd.get()), &info, WEXITED | WNOWAIT) != 0) {
    if (errno != EINTR) {
      throw_errno("waitid", what);
    }
  }
  ::kill(-started.pid, SIGKILL);
  ::waitid(P_PIDFD, static_cast<id_t>(started.pidfd.get()), &info, WEXITED);
  return info.si_code == CLD_EXITED ? info.si_status : -1;
}

// A real attempt: sysctls, security modules and chroot can all forbid it.
bool may_make_namespaces(uid_t uid) {
  spawn::Plan plan;
  plan.folder = "/";
  plan.entry = start_in_namespaces;
  plan.sandboxed = true;
  plan.allow_missing = true;
  plan.drops_user = true;
  plan.uid = uid;
  return run_entry(plan, "user namespace probe") == 0;
}

void plan_identity(spawn::Plan& plan, bool start_sandboxed) {
  const MappedUsers users = mapped_users();
  plan.clone_flags = kNamespaces;
  if (::geteuid() == 0 && users.count >= 1000 && has_capability(CAP_SYS_ADMIN) &&
      has_capability(CAP_SETUID) && has_capability(CAP_SETGID) && has_capability(CAP_CHOWN)) {
    const uid_t uid = fresh_user(users);
    if (start_sandboxed && !may_make_namespaces(uid)) {
      plan.needs_limit = false;
      plan.keeps_root = true;
      plan.guards[spawn::kOtherUser].error = EPERM;
      return;
    }
    plan.drops_user = true;
    plan.uid = uid;
    plan.limit_binds = true;
    plan.guards[spawn::kOtherUser].detail = "uid " + std::to_string(plan.uid);
    return;
  }
  // A user namespace of one. Inside the child is never user 0: exec would give such a child all
  // capabilities there.
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  plan.maps_user = true;
  plan.clone_flags |= CLONE_NEWUSER;
  plan.uid_map = std::to_string(uid == 0 ? 1000 : uid) + " " + std::to_string(uid) + " 1";
  plan.gid_map = std::to_string(gid == 0 ? 1000 : gid) + " " + std::to_string(gid) + " 1";
  plan.limit_binds = uid != 0 || !users.initial;
  plan.guards[spawn::kOtherUser].detail = "user namespace";
}

// Gives the folder and what the parent put there to the child's user. Done before the child exists,
// so there are no races; links are given, not followed.
void give_folder(const fs::path& folder, uid_t uid) {
  std::vector<fs::path> paths = {folder};
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    paths.push_back(entry.path());
  }
  for (const fs::path& path : paths) {
    if (::lchown(path.c_str(), uid, uid) != 0) {
      throw_errno("lchown", path.string(), "use a work folder on a local file system");
    }
  }
}

}  // namespace

namespace spawn {

void plan_sandbox(Plan& plan, const SandboxPolicy& policy, const fs::path& work_folder) {
  plan.sandboxed = true;
  plan.allow_missing = policy.allow_unsandboxed;
  plan_identity(plan, policy.start_sandboxed);
  if (!policy.own_pids) {
    plan.clone_flags &= ~static_cast<std::uint64_t>(CLONE_NEWPID);
  }
  // One that starts others keeps what they must not take down with them.
  plan.first_to_die = !policy.start_sandboxed;
  plan.limits.emplace_back(RLIMIT_NPROC, rlimit{policy.max_processes, policy.max_processes});
  plan.landlock_abi = landlock_abi();
  const int abi = plan.landlock_abi;
  plan.guards[kLandlock].detail = "ABI " + std::to_string(abi);
  const auto add = [&](const std::vector<fs::path>& paths, std::uint64_t access) {
    for (const fs::path& path : paths) {
      plan.rules.push_back({path.string(), access});
    }
  };
  add(policy.read, landlock_read(abi));
  add(policy.read_execute, landlock_execute(abi));
  add(policy.read_write, landlock_read(abi) | landlock_write(abi));
  add(policy.devices, landlock_device(abi));
  if (policy.start_sandboxed) {
    add({"/proc"}, landlock_device(abi));
  }
  if (!work_folder.empty()) {
    add({work_folder}, landlock_read(abi) | landlock_write(abi));
    if (plan.drops_user) {
      give_folder(work_folder, plan.uid);
    }
  }
  plan.filter = seccomp_filter(policy.allow_exec, policy.listen_unix, policy.start_sandboxed);
  plan.guards[kSeccomp].detail = policy.allow_exec ? "exec allowed" : "no exec";
  plan.guards[kProcessLimit].detail = std::to_string(policy.max_processes) + " processes";
}

std::vector<Protection> report(const Plan& plan) {
  std::vector<Protection> list;
  for (std::size_t guard = 0; plan.sandboxed && guard < kGuards; ++guard) {
    const GuardState& state = plan.guards.at(guard);
    std::string detail = state.detail;
    if (!state.active) {
      detail = guard == kProcessLimit && !plan.limit_binds
                   ? "the kernel does not limit root, and no other user can be taken on"
               : state.error == 0 ? "not asked for"
                                  : "refused: " + std::string(std::strerror(state.error));
      detail = guard == kLandlock && plan.landlock_abi == 0 ? "the kernel has no Landlock" : detail;
    }
    list.push_back(
        {kGuardNames.at(guard), is_mandatory(plan, guard), state.active, std::move(detail)});
  }
  return list;
}

}  // namespace spawn

namespace {

constexpr std::uint32_t kProbeProcesses = 8;

// In the sandboxed child: starts processes until the kernel refuses. 0 when it did so in time.
int start_too_many(const spawn::Plan& /*plan*/) {
  for (std::uint32_t i = 0; i < 4 * kProbeProcesses; ++i) {
    const long pid = ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid < 0) {
      return errno == EAGAIN ? 0 : 2;
    }
    if (pid == 0) {
      ::pause();
      ::_exit(0);
    }
  }
  return 1;
}

}  // namespace

std::vector<Protection> probe_sandbox() {
  SandboxPolicy policy = system_libraries();
  policy.max_processes = kProbeProcesses;
  policy.allow_unsandboxed = true;
  spawn::Plan plan;
  plan.folder = "/";
  plan.entry = start_too_many;
  spawn::plan_sandbox(plan, policy, {});
  const int code = run_entry(plan, "sandbox probe");
  std::vector<Protection> list = spawn::report(plan);
  Protection& limit = list.at(spawn::kProcessLimit);
  if (limit.active && code != 0) {
    limit.active = false;
    limit.detail = "a child could start more processes than its limit";
  }
  return list;
}

}  // namespace sweep::util
