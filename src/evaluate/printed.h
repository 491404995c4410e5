#pragma once

#include "util/fd.h"

#include <atomic>
#include <cstddef>
#include <thread>

namespace sweep::evaluate {

// What kernels print, on its way from runners to this process's standard error: at most `most`
// bytes, control characters made visible, then one line that says so. The rest is read and
// dropped, so that printing never stops a runner.
class Printed {
 public:
  explicit Printed(std::size_t most);
  // Ends when all writers have, or a second later.
  ~Printed();
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;

  // For the child's standard output.
  [[nodiscard]] int fd() const { return pipe_.write.get(); }

  // The child has it: from now on the end of the child and of its children is the end.
  void close_ours() { pipe_.write.reset(); }

 private:
  void serve();

  util::Pipe pipe_;
  std::size_t left_;
  bool cut_ = false;  // and said so
  std::atomic<bool> stop_ = false;
  std::jthread thread_;
};

}  // namespace sweep::evaluate
