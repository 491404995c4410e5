#include "util/error.h"
#include "util/spawn_plan.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <sanitizer/asan_interface.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sweep::util::spawn {

namespace {

constexpr std::size_t kStackBytes = 256 << 10;

// The child's own stack until exec.
class Stack {
 public:
  Stack()
      : memory_(::mmap(nullptr,
                       kStackBytes,
                       PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
                       -1,
                       0)) {
    if (memory_ == MAP_FAILED) {
      throw_errno("mmap", "stack of a child");
    }
    // An earlier child that became another program left the marks of its frames in the shadow that
    // it shares with this process; nothing without the address sanitizer.
    ASAN_UNPOISON_MEMORY_REGION(memory_, kStackBytes);
  }

  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  ~Stack() { ::munmap(memory_, kStackBytes); }

  [[nodiscard]] void* top() const { return static_cast<char*>(memory_) + kStackBytes; }

 private:
  void* memory_;
};

// No handler of the parent may run in the child, which shares its memory.
class BlockSignals {
 public:
  BlockSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }

  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

  ~BlockSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

struct ChildStart {
  Plan* plan;
  int parent_pidfd;
};

int child_entry(void* argument) {
  const auto* start = static_cast<const ChildStart*>(argument);
  child_main(*start->plan, start->parent_pidfd);
}

int clone_child(Plan& plan, int parent_pidfd, int& pidfd) {
  const Stack stack;
  const BlockSignals blocked;
  ChildStart argument{&plan, parent_pidfd};
  const auto flags =
      static_cast<int>(CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD | plan.clone_flags);
  return ::clone(child_entry, stack.top(), flags, &argument, &pidfd);
}

std::string what_to_do(const char* step) {
  if (std::string_view(step) == kDescriptorLimit) {
    return "raise the limit of open files (ulimit -n)";
  }
  const bool guard = std::any_of(
      kGuardNames.begin(), kGuardNames.end(), [step](const char* name) { return name == step; });
  return guard ? "see `sweep doctor`; --allow-unsandboxed runs without protection"
               : "see `sweep doctor`";
}

[[noreturn]] void fail(const Plan& plan) {
  const std::string next = what_to_do(plan.failed_step);
  const bool guard = next.find("unsandboxed") != std::string::npos;
  const std::string name = plan.argv.empty() || plan.argv.front() == nullptr
                               ? std::string("sandbox probe")
                               : std::string(plan.argv.front());
  throw InfraError(
      {name,
       std::string("cannot start: ") + plan.failed_step + ": " + std::strerror(plan.failed_errno),
       next},
      guard ? "E_SANDBOX" : "E_SPAWN");
}

}  // namespace

Started start(Plan& plan) {
  // pidfd_open has no wrapper in Debian 12's libc.
  const Fd parent(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  int pidfd = -1;
  int pid = clone_child(plan, parent.get(), pidfd);
  if (pid < 0 && plan.clone_flags != 0) {
    // Namespaces are refused here. The child notes what is missing, and ends if the policy needs
    // it.
    plan.clone_errno = errno;
    plan.clone_flags = 0;
    plan.maps_user = false;
    pid = clone_child(plan, parent.get(), pidfd);
  }
  if (pid < 0) {
    throw_errno("clone",
                plan.argv.empty() ? "child" : plan.argv.front(),
                "raise the limits of processes and memory");
  }
  Started started{pid, Fd(pidfd)};
  if (plan.failed_step != nullptr) {
    siginfo_t info{};
    while (::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED) != 0 && errno == EINTR) {
    }
    fail(plan);
  }
  return started;
}

}  // namespace sweep::util::spawn
