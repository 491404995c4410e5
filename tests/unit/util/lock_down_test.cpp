#include "util/lock_down.h"

#include "util/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Each in a child of its own: what is locked stays locked.
namespace sweep::util {
namespace {

// Number of the first check that does not hold in a locked-down child, from 1; 0: all hold.
int first_broken(MemoryFiles files, const std::vector<std::function<bool()>>& checks) {
  const pid_t child = ::fork();
  if (child == 0) {
    lock_down(files);
    int number = 0;
    for (const auto& check : checks) {
      ++number;
      if (!check()) {
        ::_exit(number);
      }
    }
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  return WEXITSTATUS(status);
}

bool refused(long result, int error = EPERM) {
  return result < 0 && errno == error;
}

bool mapped(int flags) {
  void* at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
  return at != MAP_FAILED;
}

TEST(LockDown, ExecutesAndStartsNothing) {
  EXPECT_EQ(first_broken(MemoryFiles::allow,
                         {[] { return refused(::execl("/bin/true", "true", nullptr)); },
                          [] { return refused(::syscall(SYS_fork)); },
                          [] { return refused(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); },
                          [] { return refused(::syscall(SYS_clone3, 0, 0), ENOSYS); }}),
            0);
}

TEST(LockDown, StartsThreads) {
  EXPECT_EQ(first_broken(MemoryFiles::forbid, {[] {
                           bool ran = false;
                           std::thread([&ran] { ran = true; }).join();
                           return ran;
                         }}),
            0);
}

TEST(LockDown, ReachesNoOtherProcess) {
  EXPECT_EQ(first_broken(MemoryFiles::forbid,
                         {[] { return refused(::kill(::getppid(), 0)); },
                          [] { return refused(::kill(-1, 0)); },
                          [] {
                            rlimit limit{};
                            return refused(::prlimit(::getppid(), RLIMIT_NOFILE, nullptr, &limit));
                          },
                          [] { return refused(::setpriority(PRIO_PROCESS, 0, 1)); },
                          [] {
                            cpu_set_t set;
                            CPU_ZERO(&set);
                            CPU_SET(0, &set);
                            return refused(::sched_setaffinity(::getppid(), sizeof set, &set));
                          },
                          [] { return refused(::fcntl(0, F_SETOWN, ::getppid())); },
                          [] { return ::kill(::getpid(), 0) == 0; },
                          [] {
                            rlimit limit{};
                            return ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
                          }}),
            0);
}

TEST(LockDown, ChangesNoFileWithoutOpeningIt) {
  EXPECT_EQ(first_broken(MemoryFiles::allow,
                         {[] { return refused(::chmod("/nowhere", 0600)); },
                          [] { return refused(::fchmod(0, 0600)); },
                          [] { return refused(::lchown("/nowhere", 0, 0)); },
                          [] { return refused(::utimensat(AT_FDCWD, "/nowhere", nullptr, 0)); },
                          [] { return refused(::truncate("/nowhere", 0)); }}),
            0);
}

TEST(LockDown, HasNoNamedMemory) {
  EXPECT_EQ(first_broken(MemoryFiles::allow,
                         {[] { return refused(::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600)); },
                          [] { return ::memfd_create("x", 0) >= 0; },
                          [] { return mapped(MAP_SHARED | MAP_ANONYMOUS); }}),
            0);
}

TEST(LockDown, HasOnlyMemoryThatItsLimitCounts) {
  EXPECT_EQ(
      first_broken(
          MemoryFiles::forbid,
          {[] { return refused(::memfd_create("x", 0)); },
           [] { return !mapped(MAP_SHARED | MAP_ANONYMOUS) && errno == EPERM; },
           [] { return !mapped(MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN) && errno == EPERM; },
           [] { return mapped(MAP_PRIVATE | MAP_ANONYMOUS); },
           [] {
             const rlimit limit{1 << 28, 1 << 28};
             return ::setrlimit(RLIMIT_DATA, &limit) == 0 &&
                    ::mmap(nullptr,
                           std::size_t{1} << 30U,
                           PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                           -1,
                           0) == MAP_FAILED;
           }}),
      0);
}

// int 0x80 takes the numbers of 32 bits, where another filter might have named 64-bit ones only.
TEST(LockDown, AnotherTableOfCallsEndsTheProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would end it otherwise
    lock_down(MemoryFiles::allow);
    long result = 20;  // getpid
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory");
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGSEGV);  // without IA32: SEGV
}

}  // namespace
}  // namespace sweep::util
