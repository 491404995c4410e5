#include "util/fd.h"

#include "util/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sweep::util {

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Fd::reset() noexcept {
  if (fd_ >= 0) {
    // Linux frees the descriptor even when close reports EINTR or EIO.
    ::close(std::exchange(fd_, -1));
  }
}

Fd Fd::duplicate() const {
  const int copy = ::fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) {
    throw_errno("dup", "descriptor " + std::to_string(fd_));
  }
  return Fd(copy);
}

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw_errno("pipe2", "pipe", "raise the limit of open files (ulimit -n)");
  }
  return {Fd(ends[0]), Fd(ends[1])};
}

std::pair<Fd, Fd> make_socketpair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw_errno("socketpair", "socket pair", "raise the limit of open files (ulimit -n)");
  }
  return {Fd(ends[0]), Fd(ends[1])};
}

Fd make_memfd(const std::string& name, std::size_t bytes) {
  Fd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) {
    throw_errno("memfd_create", name);
  }
  if (bytes > 0 && ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    throw_errno("ftruncate", name);
  }
  return fd;
}

void occupy_standard_fds() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    // The lowest free number is taken, and all below `fd` are in use by now.
    if (::fcntl(fd, F_GETFD) < 0 &&
        ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) {
      throw_errno("open", "/dev/null");
    }
  }
}

Fd open_file(const std::string& path, int flags, unsigned mode) {
  Fd fd(::open(path.c_str(), flags | O_CLOEXEC, static_cast<mode_t>(mode)));
  if (!fd) {
    throw_errno("open", path);
  }
  return fd;
}

void write_all(int fd, std::string_view bytes, const std::string& where) {
  while (!bytes.empty()) {
    // MSG_NOSIGNAL works for sockets only; other files answer ENOTSOCK and get a plain write.
    ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == ENOTSOCK) {
      n = ::write(fd, bytes.data(), bytes.size());
    }
    if (n < 0) {
      if (errno == EINTR) {
        continue;
      }
      throw_errno("write", where);
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::size_t read_all(int fd, void* into, std::size_t size, const std::string& where) {
  std::size_t got = 0;
  while (got < size) {
    const ssize_t n = ::read(fd, static_cast<char*>(into) + got, size - got);
    if (n < 0) {
      if (errno == EINTR) {
        continue;
      }
      throw_errno("read", where);
    }
    if (n == 0) {
      break;
    }
    got += static_cast<std::size_t>(n);
  }
  return got;
}

bool wait_readable(int fd, std::optional<double> seconds) {
  using Steady = std::chrono::steady_clock;
  const auto start = Steady::now();
  for (;;) {
    int timeout = -1;
    if (seconds) {
      const double gone = std::chrono::duration<double>(Steady::now() - start).count();
      const double left = std::max(0.0, *seconds - gone);
      timeout = static_cast<int>(std::ceil(std::min(left * 1e3, 1e6)));
    }
    pollfd entry{fd, POLLIN, 0};
    const int n = ::poll(&entry, 1, timeout);
    if (n > 0) {
      return true;
    }
    if (n < 0 && errno != EINTR) {
      throw_errno("poll", "descriptor " + std::to_string(fd));
    }
    if (n == 0 && timeout == 0) {
      return false;
    }
  }
}

namespace {

ssize_t send_message(int socket, std::string_view bytes, std::span<const int> fds, int flags) {
  if (bytes.empty() || fds.size() > kMaxPassedFds) {
    throw InfraError({"descriptor passing",
                      "a message needs at least one byte and at most " +
                          std::to_string(kMaxPassedFds) + " descriptors",
                      "report this"},
                     "E_WIRE_FDS");
  }
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxPassedFds)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  ssize_t n = 0;
  do {
    n = ::sendmsg(socket, &message, flags | MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  return n;
}

}  // namespace

std::size_t send_with_fds(int socket, std::string_view bytes, std::span<const int> fds) {
  const ssize_t n = send_message(socket, bytes, fds, 0);
  if (n < 0) {
    throw_errno("sendmsg", "descriptor passing");
  }
  return static_cast<std::size_t>(n);
}

long try_send_with_fds(int socket, std::string_view bytes, std::span<const int> fds) {
  const ssize_t n = send_message(socket, bytes, fds, MSG_DONTWAIT);
  return n < 0 && errno == EAGAIN ? 0 : n;
}

Received receive_with_fds(int socket, void* into, std::size_t size) {
  iovec part{into, size};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxPassedFds)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t n = 0;
  do {
    n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n < 0) {
    throw_errno("recvmsg", "descriptor passing");
  }
  Received result;
  result.bytes = static_cast<std::size_t>(n);
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      result.fds.emplace_back(fd);
    }
  }
  if ((message.msg_flags & MSG_CTRUNC) != 0) {
    throw InfraError({"descriptor passing",
                      "more descriptors came than a message may carry",
                      "the peer is broken or hostile; end it"},
                     "E_WIRE_FDS");
  }
  return result;
}

}  // namespace sweep::util
