#include "evaluate/printed.h"

#include "util/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

#include <unistd.h>

namespace sweep::evaluate {
namespace {

// Who cannot print has nobody to tell: errors of standard error are dropped.
void show(std::string_view text) {
  const std::string visible = util::printable(text);
  (void)std::fwrite(visible.data(), 1, visible.size(), stderr);
  (void)std::fflush(stderr);
}

}  // namespace

Printed::Printed(std::size_t most)
    : pipe_(util::make_pipe()), left_(most), thread_([this] { serve(); }) {}

Printed::~Printed() {
  pipe_.write.reset();
  stop_ = true;
}

void Printed::serve() {
  constexpr double kPatience = 1;
  std::array<char, 65536> buffer{};
  while (true) {
    if (!util::wait_readable(pipe_.read.get(), kPatience)) {
      if (stop_) {
        return;
      }
      continue;
    }
    const ssize_t got = ::read(pipe_.read.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
      continue;
    }
    if (got <= 0) {
      return;
    }
    const auto bytes = static_cast<std::size_t>(got);
    const std::size_t shown = std::min(left_, bytes);
    show({buffer.data(), shown});
    left_ -= shown;
    if (shown < bytes && !cut_) {
      cut_ = true;
      show("\n[more output of the kernel is not shown]\n");
    }
  }
}

}  // namespace sweep::evaluate
