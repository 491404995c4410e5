#include "queue/signals.h"

#include "util/error.h"

#include <csignal>

#include <sys/signalfd.h>
#include <unistd.h>

namespace sweep::queue {

namespace {

// Started with nohup: a hang-up is to be ignored, but a blocked signal would come all the same.
bool hangup_is_ignored() {
  struct sigaction action {};

  return ::sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

sigset_t stop_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  if (!hangup_is_ignored()) {
    sigaddset(&set, SIGHUP);
  }
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = stop_set();
  if (::pthread_sigmask(SIG_BLOCK, &set, nullptr) != 0) {
    util::throw_errno("pthread_sigmask", "signals");
  }
  fd_ = util::Fd(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!fd_) {
    util::throw_errno("signalfd", "signals");
  }
}

StopSignals::~StopSignals() {
  // What is still waiting would end the process by default once unblocked; it has been acted upon.
  (void)requests();
  const sigset_t set = stop_set();
  (void)::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

int StopSignals::requests() {
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    ++count_;
  }
  return count_;
}

}  // namespace sweep::queue
