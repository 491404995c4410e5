#include "queue/stop_run.h"

#include "util/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sweep::queue {
namespace {

std::string this_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data())
                                                          : std::string();
}

// Of "process 12 on HOST" where the host is this one.
std::optional<pid_t> pid_here(const std::string& holder) {
  constexpr std::string_view kBegin = "process ";
  if (!holder.starts_with(kBegin)) {
    return std::nullopt;
  }
  pid_t pid = 0;
  const char* end = holder.data() + holder.size();
  const auto [rest, error] = std::from_chars(holder.data() + kBegin.size(), end, pid);
  const std::string host = this_host();
  return error == std::errc() && pid > 0 && !host.empty() &&
                 std::string_view(rest, end) == " on " + host
             ? std::optional(pid)
             : std::nullopt;
}

}  // namespace

RunProcess::RunProcess(const record::RunDir& run) {
  if (!record::lock_held(run)) {
    return;
  }
  holder_ = record::lock_holder(run);
  const std::optional<pid_t> pid = pid_here(holder_);
  if (!pid || !record::lock_held_by(run, *pid)) {
    if (!record::lock_held(run)) {
      holder_.clear();
      return;  // it has ended between two looks
    }
    throw util::UsageError(
        {run.folder().string(),
         "a sweep works on this run that is no process of this host, or not the one that "
         "the lock file names" +
             (holder_.empty() ? std::string() : " (" + holder_ + ")"),
         "run `sweep stop` on the host that it runs on"},
        "E_STOP_ELSEWHERE");
  }
  fd_ = util::Fd(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
  if (!fd_ && errno != ESRCH) {
    throw util::InfraError({"pidfd_open of process " + std::to_string(*pid),
                            std::strerror(errno),
                            "send it SIGTERM with `kill " + std::to_string(*pid) + "`"},
                           "E_STOP_PROCESS");
  }
  // The number may have gone to another process between the two looks.
  if (fd_ && !record::lock_held_by(run, *pid)) {
    fd_ = util::Fd();
  }
}

void RunProcess::terminate() const {
  if (!fd_ || ::syscall(SYS_pidfd_send_signal, fd_.get(), SIGTERM, nullptr, 0) == 0 ||
      errno == ESRCH) {
    return;
  }
  throw util::UsageError({holder_,
                          std::string("cannot be sent SIGTERM: ") + std::strerror(errno),
                          "run `sweep stop` as the user who started the sweep"},
                         "E_STOP_DENIED");
}

bool RunProcess::wait(double seconds) const {
  if (!fd_) {
    return true;
  }
  constexpr double kLongest = 86400;
  pollfd ended{fd_.get(), POLLIN, 0};
  int ready = -1;
  do {
    ready = ::poll(&ended, 1, static_cast<int>(std::clamp(seconds, 0.0, kLongest) * 1e3));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

}  // namespace sweep::queue
