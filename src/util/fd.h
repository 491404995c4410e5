#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sweep::util {

// Owns one file descriptor; -1 is "none". All descriptors made by this module are close-on-exec.
class Fd {
 public:
  Fd() = default;

  explicit Fd(int fd) noexcept : fd_(fd) {}

  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;

  ~Fd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }

  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }

  // Gives the descriptor away; the caller closes it.
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

  void reset() noexcept;

  // A second descriptor of the same open file. InfraError when there is none left.
  [[nodiscard]] Fd duplicate() const;

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read;
  Fd write;
};

// InfraError when descriptors run out.
[[nodiscard]] Pipe make_pipe();

// Two ends of a connected unix stream socket.
[[nodiscard]] std::pair<Fd, Fd> make_socketpair();

// Anonymous memory of `bytes` zero bytes, shared by passing the descriptor; `name` shows in /proc
// only.
[[nodiscard]] Fd make_memfd(const std::string& name, std::size_t bytes = 0);

// Makes every closed one of the descriptors 0 to 2 an open one that can be neither read nor
// written, so that no file opened later gets its number and then what is meant for a terminal.
// InfraError when /dev/null cannot be opened.
void occupy_standard_fds();

// Opens with O_CLOEXEC added. InfraError "E_SYSTEM" naming the path.
[[nodiscard]] Fd open_file(const std::string& path, int flags, unsigned mode = 0666);

// Writes every byte (retries short writes and EINTR; a closed peer is InfraError, never SIGPIPE for
// sockets).
void write_all(int fd, std::string_view bytes, const std::string& where);

// Reads up to `size` bytes until end of file; returns the number read.
[[nodiscard]] std::size_t read_all(int fd, void* into, std::size_t size, const std::string& where);

// Waits until `fd` is readable: false when `seconds` passed first. nullopt waits for ever. Restarts
// after signals.
[[nodiscard]] bool wait_readable(int fd, std::optional<double> seconds);

// At most this many descriptors travel in one message.
inline constexpr std::size_t kMaxPassedFds = 16;

// Sends `bytes` (at least one) over a unix stream socket with copies of `fds` attached to the first
// byte. Returns the number of bytes taken (may be fewer: send the rest with write_all). UsageError
// never; InfraError else.
[[nodiscard]] std::size_t send_with_fds(int socket,
                                        std::string_view bytes,
                                        std::span<const int> fds);

// The same without waiting: bytes taken, 0 when the peer must read first, -1 with errno for other
// failures.
[[nodiscard]] long try_send_with_fds(int socket, std::string_view bytes, std::span<const int> fds);

struct Received {
  std::size_t bytes = 0;  // 0: the peer closed
  std::vector<Fd> fds;    // close-on-exec
};

// Receives up to `size` bytes and the descriptors that came with them. A message whose descriptors
// were cut off (more than kMaxPassedFds) is InfraError "E_WIRE_FDS"; those that came are closed.
[[nodiscard]] Received receive_with_fds(int socket, void* into, std::size_t size);

}  // namespace sweep::util
