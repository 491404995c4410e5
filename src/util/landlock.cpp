#include "util/spawn_plan.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Numbers of the kernel's interface (Documentation/userspace-api/landlock.rst); Debian 12's header
// knows version 3.
namespace sweep::util::spawn {

namespace {

constexpr std::uint64_t kExecute = 1U << 0U;
constexpr std::uint64_t kWriteFile = 1U << 1U;
constexpr std::uint64_t kReadFile = 1U << 2U;
constexpr std::uint64_t kReadDir = 1U << 3U;
constexpr std::uint64_t kRefer = 1U << 13U;     // version 2
constexpr std::uint64_t kTruncate = 1U << 14U;  // version 3
constexpr std::uint64_t kIoctlDev = 1U << 15U;  // version 5
constexpr std::uint64_t kNetBindConnect = 3;    // version 4, TCP
constexpr std::uint64_t kScopeAll = 3;          // version 6: abstract unix sockets, signals

constexpr unsigned kCreateVersion = 1;
constexpr int kRulePathBeneath = 1;

struct RulesetAttr {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;
  std::uint64_t scoped;
};

struct [[gnu::packed]] PathBeneathAttr {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
};

// All rights that this version can refuse.
std::uint64_t handled(int abi) {
  std::uint64_t rights = (1U << 13U) - 1;
  rights |= abi >= 2 ? kRefer : 0;
  rights |= abi >= 3 ? kTruncate : 0;
  rights |= abi >= 5 ? kIoctlDev : 0;
  return rights;
}

std::size_t attr_size(int abi) {
  return abi >= 6   ? sizeof(RulesetAttr)
         : abi >= 4 ? sizeof(std::uint64_t) * 2
                    : sizeof(std::uint64_t);
}

// Directories take all rights, other files only those of files.
std::uint64_t rights_for(int fd, std::uint64_t wished) {
  struct stat info {};

  if (::fstat(fd, &info) != 0 || S_ISDIR(info.st_mode)) {
    return wished;
  }
  return wished & (kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDev);
}

int add_rule(int ruleset, int fd, std::uint64_t access) {
  const PathBeneathAttr rule{rights_for(fd, access), fd};
  if (rule.allowed_access == 0) {
    return 0;
  }
  return static_cast<int>(::syscall(SYS_landlock_add_rule, ruleset, kRulePathBeneath, &rule, 0));
}

int add_path(int ruleset, const PathRule& rule) {
  const int fd = ::open(rule.path.c_str(), O_PATH | O_CLOEXEC);
  if (fd < 0) {
    // A path that is not there cannot be reached either.
    return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : -1;
  }
  const int result = add_rule(ruleset, fd, rule.access);
  const int error = errno;
  ::close(fd);
  errno = error;
  return result;
}

}  // namespace

int landlock_abi() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kCreateVersion);
  return version > 0 ? static_cast<int>(version) : 0;
}

std::uint64_t landlock_read(int /*abi*/) {
  return kReadFile | kReadDir;
}

std::uint64_t landlock_execute(int abi) {
  return landlock_read(abi) | kExecute;
}

std::uint64_t landlock_write(int abi) {
  // No device nodes, no execution; ioctl on devices is a right of its own.
  constexpr std::uint64_t kMakeChar = 1U << 6U;
  constexpr std::uint64_t kMakeBlock = 1U << 11U;
  return handled(abi) & ~(kExecute | kMakeChar | kMakeBlock | kIoctlDev);
}

std::uint64_t landlock_device(int abi) {
  return landlock_read(abi) | kWriteFile | (handled(abi) & (kIoctlDev | kTruncate));
}

int landlock_ruleset(const Plan& plan) {
  const int abi = plan.landlock_abi;
  const RulesetAttr attr{handled(abi), kNetBindConnect, kScopeAll};
  const auto ruleset =
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attr, attr_size(abi), 0));
  if (ruleset < 0) {
    return -1;
  }
  for (const PathRule& rule : plan.rules) {
    if (add_path(ruleset, rule) != 0) {
      return -1;
    }
  }
  if (plan.program_fd >= 0 && add_rule(ruleset, kProgramFd, kExecute | kReadFile) != 0) {
    return -1;
  }
  return ruleset;
}

int landlock_restrict(int ruleset) {
  const long result = ::syscall(SYS_landlock_restrict_self, ruleset, 0);
  const int error = errno;
  ::close(ruleset);
  errno = error;
  return result == 0 ? 0 : -1;
}

}  // namespace sweep::util::spawn
