#pragma once

#include "record/run_dir.h"

#include <string>

namespace sweep::queue {

// The sweep that works on a run, as far as it can be reached from this process.
class RunProcess {
 public:
  // Finds the holder of the run's lock; nothing is sent. UsageError E_STOP_ELSEWHERE where the lock
  // is held by a process of another host or one that cannot be told: the number in the lock file
  // counts only where the kernel says so, too.
  explicit RunProcess(const record::RunDir& run);

  [[nodiscard]] bool exists() const { return static_cast<bool>(fd_); }

  [[nodiscard]] const std::string& holder() const { return holder_; }  // "process 12 on HOST"

  // Sends SIGTERM: items in work are left in progress after their current step; a second one ends
  // them at once. A process that has gone meanwhile needs none. UsageError E_STOP_DENIED where it
  // is another user's.
  void terminate() const;

  // Waits until the process has ended, at most so long. Whether it has.
  [[nodiscard]] bool wait(double seconds) const;

 private:
  std::string holder_;
  util::Fd fd_;  // pidfd: a number that the kernel gives away again means nobody else
};

}  // namespace sweep::queue
