#pragma once

#include "util/fd.h"

namespace sweep::queue {

// SIGINT, SIGTERM and, unless it is ignored (nohup), SIGHUP as a descriptor: blocked for this
// process while the object lives, read by requests(). Make it before any thread is started.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  // How many stop requests have come so far; does not block.
  [[nodiscard]] int requests();

  // Readable when a signal is waiting; for poll.
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  util::Fd fd_;
  int count_ = 0;
};

}  // namespace sweep::queue
