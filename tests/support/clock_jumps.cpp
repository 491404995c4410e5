// Preloaded (LD_PRELOAD) in end-to-end tests: the wall clock jumps by up to 400 days, back and
// forth, at each look at it. Time since the start of the machine goes on as it does. For the
// program alone: its roles start with an environment of their own.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace {

constexpr long kDay = 86400;

// A small generator of its own: the program's must not be touched.
long jump() {
  static thread_local unsigned long state =
      static_cast<unsigned long>(::getpid()) * 2654435761UL + 1;
  state = state * 6364136223846793005UL + 1442695040888963407UL;
  return static_cast<long>((state >> 33) % (800 * kDay)) - 400 * kDay;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (result == 0 && clock == CLOCK_REALTIME) {
    time->tv_sec += jump();
  }
  return result;
}
