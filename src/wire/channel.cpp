#include "wire/channel.h"

#include "wire/json_guard.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

namespace sweep::wire {

namespace {

constexpr std::size_t kHeader = 4;
// The length field has 32 bits.
constexpr std::size_t kHardLimit = 0xFFFFFFFFU;
constexpr const char* kNext = "see the role's log; run the command again";

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// False when the time is over.
bool wait_writable(int fd, double until) {
  for (;;) {
    const double left = std::max(0.0, until - now());
    pollfd entry{fd, POLLOUT, 0};
    const int n = ::poll(&entry, 1, static_cast<int>(std::ceil(std::min(left * 1e3, 1e6))));
    if (n > 0) {
      return true;
    }
    if (n < 0 && errno != EINTR) {
      util::throw_errno("poll", "channel");
    }
    if (n == 0 && left <= 0) {
      return false;
    }
  }
}

}  // namespace

Channel::Channel(util::Fd socket, std::string peer, std::size_t max_bytes)
    : socket_(std::move(socket)),
      peer_(std::move(peer)),
      max_bytes_(std::min(max_bytes, kHardLimit)) {}

void Channel::fail(const std::string& what, const std::string& code) {
  socket_.reset();
  throw WireError({peer_, what, kNext}, code);
}

void Channel::send(const nlohmann::json& body, std::span<const int> fds, double seconds) {
  if (!socket_) {
    fail("the channel is closed", "E_WIRE_CLOSED");
  }
  if (!body.is_object()) {
    fail("only objects can be sent", "E_WIRE_JSON");
  }
  if (fds.size() > util::kMaxPassedFds) {
    fail("too many descriptors to send", "E_WIRE_FDS");
  }
  // Ill-formed UTF-8 in our own strings becomes U+FFFD: outside text must not stop the harness.
  std::string bytes(kHeader, '\0');
  bytes += body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const std::size_t size = bytes.size() - kHeader;
  if (size > max_bytes_) {
    fail("a message of " + std::to_string(size) + " bytes is above the limit of " +
             std::to_string(max_bytes_),
         "E_WIRE_SIZE");
  }
  for (std::size_t i = 0; i < kHeader; ++i) {
    bytes[i] = static_cast<char>(static_cast<unsigned char>(size >> (8U * i)));
  }
  const double until = now() + seconds;
  write_bytes(bytes, fds, until);
}

void Channel::write_bytes(std::string_view bytes, std::span<const int> fds, double until) {
  while (!bytes.empty()) {
    const ssize_t n = util::try_send_with_fds(socket_.get(), bytes, fds);
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
      fds = {};
      continue;
    }
    if (n == 0) {
      if (!wait_writable(socket_.get(), until)) {
        fail("did not take a message in time", "E_WIRE_TIMEOUT");
      }
      continue;
    }
    if (errno == EPIPE || errno == ECONNRESET) {
      fail("ended before it took a message", "E_WIRE_CLOSED");
    }
    fail("sendmsg failed: " + std::string(std::strerror(errno)), "E_WIRE_CLOSED");
  }
}

bool Channel::wait(double until) const {
  const double begin = now();
  while (now() < std::min(begin + spin_, until)) {
    if (util::wait_readable(socket_.get(), 0)) {
      return true;
    }
  }
  return util::wait_readable(socket_.get(), std::max(0.0, until - now()));
}

void Channel::read_exactly(char* into, std::size_t size, double until, std::vector<util::Fd>& fds) {
  std::size_t got = 0;
  while (got < size) {
    if (!wait(until)) {
      fail("did not answer in time", "E_WIRE_TIMEOUT");
    }
    util::Received part;
    try {
      part = util::receive_with_fds(socket_.get(), into + got, size - got);
    } catch (const util::InfraError& error) {
      const bool fds_cut = error.code() == "E_WIRE_FDS";
      fail(error.message().what, fds_cut ? "E_WIRE_FDS" : "E_WIRE_CLOSED");
    }
    if (part.bytes == 0) {
      fail("ended without an answer", "E_WIRE_CLOSED");
    }
    got += part.bytes;
    for (util::Fd& fd : part.fds) {
      fds.push_back(std::move(fd));
    }
    if (fds.size() > util::kMaxPassedFds) {
      fail("sent too many descriptors", "E_WIRE_FDS");
    }
  }
}

Message Channel::receive(double seconds, std::size_t max_fds) {
  if (!socket_) {
    fail("the channel is closed", "E_WIRE_CLOSED");
  }
  const double until = now() + seconds;
  Message message;
  std::array<char, kHeader> header{};
  read_exactly(header.data(), header.size(), until, message.fds);
  std::size_t size = 0;
  for (std::size_t i = 0; i < kHeader; ++i) {
    size |= static_cast<std::size_t>(static_cast<unsigned char>(header[i])) << (8U * i);
  }
  if (size > max_bytes_) {
    fail("announced a message of " + std::to_string(size) + " bytes, above the limit of " +
             std::to_string(max_bytes_),
         "E_WIRE_SIZE");
  }
  std::string text(size, '\0');
  read_exactly(text.data(), size, until, message.fds);
  if (message.fds.size() > max_fds) {
    fail("sent " + std::to_string(message.fds.size()) + " descriptors where at most " +
             std::to_string(max_fds) + " are expected",
         "E_WIRE_FDS");
  }
  try {
    message.body = parse_object(text, peer_);
  } catch (const WireError&) {
    socket_.reset();
    throw;
  }
  return message;
}

Message Channel::ask(const nlohmann::json& body,
                     double seconds,
                     std::span<const int> fds,
                     std::size_t max_fds) {
  const double until = now() + seconds;
  send(body, fds, seconds);
  return receive(std::max(0.0, until - now()), max_fds);
}

}  // namespace sweep::wire
