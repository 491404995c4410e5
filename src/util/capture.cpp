#include "util/error.h"
#include "util/process.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <tuple>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sweep::util {

namespace {

// Keeps the head and the tail of a stream in bounded memory.
class Bounded {
 public:
  explicit Bounded(std::size_t room) : head_room_(room - room / 3), tail_room_(room / 3) {}

  void add(std::string_view bytes) {
    total_ += bytes.size();
    const std::size_t fits = std::min(head_room_ - head_.size(), bytes.size());
    head_ += bytes.substr(0, fits);
    tail_ += bytes.substr(fits);
    if (tail_.size() > 2 * tail_room_ + kSlack) {
      tail_.erase(0, tail_.size() - tail_room_);
    }
  }

  [[nodiscard]] std::uint64_t total() const { return total_; }

  [[nodiscard]] std::string text() const {
    const std::size_t kept = std::min(tail_.size(), tail_room_);
    const std::string_view tail = std::string_view(tail_).substr(tail_.size() - kept);
    const std::uint64_t lost = total_ - head_.size() - kept;
    if (lost == 0) {
      return head_ + std::string(tail);
    }
    return fmt::format("{}\n... {} bytes left out ...\n{}", head_, lost, tail);
  }

 private:
  static constexpr std::size_t kSlack = 65536;

  std::size_t head_room_;
  std::size_t tail_room_;
  std::string head_;
  std::string tail_;
  std::uint64_t total_ = 0;
};

void set_nonblocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    throw_errno("fcntl", "pipe of a child");
  }
}

// Our ends of a child's standard streams. Input is a socket, so that a closed reader cannot raise
// SIGPIPE.
class Streams {
 public:
  Streams(Fd input, Fd out, Fd err, std::string_view text, std::size_t room)
      : input_(std::move(input)),
        out_(std::move(out)),
        err_(std::move(err)),
        text_(text),
        out_text_(room),
        err_text_(room) {
    if (input_) {
      set_nonblocking(input_.get());
    }
    set_nonblocking(out_.get());
    set_nonblocking(err_.get());
  }

  // Moves what is ready; waits for it at most `seconds` or until `ended` is readable.
  void pump(double seconds, int ended) {
    std::array<pollfd, 4> entries = {{{ended, POLLIN, 0},
                                      {out_.get(), POLLIN, 0},
                                      {err_.get(), POLLIN, 0},
                                      {input_.get(), POLLOUT, 0}}};
    const int timeout = static_cast<int>(std::ceil(std::clamp(seconds * 1e3, 0.0, 1e6)));
    if (::poll(entries.data(), entries.size(), timeout) < 0 && errno != EINTR) {
      throw_errno("poll", "streams of a child");
    }
    feed();
    drain(out_, out_text_, kBurst);
    drain(err_, err_text_, kBurst);
  }

  // After the child's end: what is still in the pipes. A process that escaped may write for ever.
  void finish() {
    drain(out_, out_text_, kPipeBytes);
    drain(err_, err_text_, kPipeBytes);
  }

  [[nodiscard]] const Bounded& out() const { return out_text_; }

  [[nodiscard]] const Bounded& err() const { return err_text_; }

 private:
  static constexpr int kBurst = 16;
  // In blocks of 64 KiB; the largest pipe an ordinary user can make holds 1 MiB.
  static constexpr int kPipeBytes = 32;

  void feed() {
    while (input_ && !text_.empty()) {
      const ssize_t n = ::send(input_.get(), text_.data(), text_.size(), MSG_NOSIGNAL);
      if (n < 0) {
        if (errno != EAGAIN && errno != EINTR) {
          input_.reset();  // the child closed its input: its own choice
        }
        return;
      }
      text_.remove_prefix(static_cast<std::size_t>(n));
    }
    if (text_.empty()) {
      input_.reset();
    }
  }

  static void drain(Fd& fd, Bounded& into, int blocks) {
    std::array<char, 65536> buffer{};
    for (int i = 0; i < blocks && fd; ++i) {
      const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
      if (n == 0) {
        fd.reset();
      } else if (n > 0) {
        into.add({buffer.data(), static_cast<std::size_t>(n)});
      } else if (errno != EINTR) {
        return;
      }
    }
  }

  Fd input_;
  Fd out_;
  Fd err_;
  std::string_view text_;
  Bounded out_text_;
  Bounded err_text_;
};

template <typename Start>
Captured run(SpawnSpec spec, std::string_view input, std::size_t max_output, Start start) {
  Fd our_input;
  Fd their_input;
  if (!input.empty()) {  // else /dev/null: a sandboxed role may start programs, but make no sockets
    std::tie(our_input, their_input) = make_socketpair();
    spec.fds.push_back({their_input.get(), 0});
  }
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  spec.fds.push_back({out.write.get(), 1});
  spec.fds.push_back({err.write.get(), 2});
  Process process = start(spec);
  their_input.reset();
  out.write.reset();
  err.write.reset();
  Streams streams(
      std::move(our_input), std::move(out.read), std::move(err.read), input, max_output);
  Captured result;
  std::optional<ExitStatus> status;
  while (!(status = process.wait_for(0))) {
    streams.pump(std::min(process.time_left(), 10.0), process.pidfd());
  }
  streams.finish();
  result.status = *status;
  result.out = streams.out().text();
  result.err = streams.err().text();
  result.out_bytes = streams.out().total();
  result.err_bytes = streams.err().total();
  result.protections = process.protections();
  return result;
}

}  // namespace

Captured run_self(const Self& self,
                  SpawnSpec spec,
                  std::string_view input,
                  std::size_t max_output) {
  return run(std::move(spec), input, max_output, [&](const SpawnSpec& ready) {
    return Process::start_self(self, ready);
  });
}

Captured run_program(const std::filesystem::path& program,
                     SpawnSpec spec,
                     std::string_view input,
                     std::size_t max_output) {
  return run(std::move(spec), input, max_output, [&](const SpawnSpec& ready) {
    return Process::start_program(program, ready);
  });
}

}  // namespace sweep::util
