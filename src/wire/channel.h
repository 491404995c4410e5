#pragma once

#include "util/error.h"
#include "util/fd.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sweep::wire {

// The peer is gone, late or broke the protocol. code():
//   E_WIRE_CLOSED   the peer closed, also in the middle of a message
//   E_WIRE_TIMEOUT  the deadline passed
//   E_WIRE_SIZE     a message above the channel's limit (either way)
//   E_WIRE_JSON     not a JSON object, nested deeper than kMaxDepth, a repeated key, or ill-formed
//   UTF-8 E_WIRE_FDS      more descriptors than expected E_WIRE_FIELD    a field is missing or has
//   another type (see field())
// After any of them the channel is unusable: every later call throws E_WIRE_CLOSED.
class WireError : public util::InfraError {
 public:
  using util::InfraError::InfraError;
};

inline constexpr int kMaxDepth = 64;

struct Message {
  nlohmann::json body;        // an object
  std::vector<util::Fd> fds;  // in the order sent
};

// Messages between two roles over a connected unix stream socket. On the wire: a 4-byte
// little-endian length, then that many bytes of JSON; descriptors travel with the length's first
// byte. One thread at a time. What comes from the peer is hostile: bounded before it is read,
// checked before it is used.
class Channel {
 public:
  // `peer` names the other role in messages; `max_bytes` bounds one message's JSON both ways.
  Channel(util::Fd socket, std::string peer, std::size_t max_bytes = std::size_t{1} << 20);

  // A connected pair of raw sockets: one for a Channel here, the other for a child.
  [[nodiscard]] static std::pair<util::Fd, util::Fd> make_pair() { return util::make_socketpair(); }

  // The descriptors stay the caller's. `seconds` bounds the whole call (a peer that does not read).
  void send(const nlohmann::json& body, std::span<const int> fds = {}, double seconds = 60);

  // Waits at most `seconds` for one whole message. At most `max_fds` descriptors are accepted.
  [[nodiscard]] Message receive(double seconds, std::size_t max_fds = 0);

  // send, then receive.
  [[nodiscard]] Message ask(const nlohmann::json& body,
                            double seconds,
                            std::span<const int> fds = {},
                            std::size_t max_fds = 0);

  // Every wait begins with up to `seconds` of asking again and again instead of sleeping: waking a
  // process takes time, which counts where a call is answered in microseconds. 0 at first.
  void set_spin(double seconds) noexcept { spin_ = seconds; }

  // Readable when a message or the end has come; for poll.
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }

  [[nodiscard]] const std::string& peer() const noexcept { return peer_; }

  // The descriptor number at which roles find their channel to the one who started them.
  static constexpr int kRoleFd = 3;

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& code);
  void write_bytes(std::string_view bytes, std::span<const int> fds, double until);
  [[nodiscard]] bool wait(double until) const;
  void read_exactly(char* into, std::size_t size, double until, std::vector<util::Fd>& fds);

  util::Fd socket_;
  std::string peer_;
  std::size_t max_bytes_;
  double spin_ = 0;
};

// Parses hostile JSON text: an object, at most kMaxDepth deep, no key twice in one object, valid
// UTF-8. WireError E_WIRE_JSON naming `where`.
[[nodiscard]] nlohmann::json parse_object(const std::string& text, const std::string& where);

// body[key] as T (bool, string, int64, uint64, double, vectors of them); WireError E_WIRE_FIELD
// when it is missing, has another type or is out of T's range. A whole number is accepted for
// double.
template <typename T>
[[nodiscard]] T field(const nlohmann::json& body, const char* key);

extern template bool field<bool>(const nlohmann::json&, const char*);
extern template std::string field<std::string>(const nlohmann::json&, const char*);
extern template std::int64_t field<std::int64_t>(const nlohmann::json&, const char*);
extern template std::uint64_t field<std::uint64_t>(const nlohmann::json&, const char*);
extern template double field<double>(const nlohmann::json&, const char*);
extern template std::vector<double> field<std::vector<double>>(const nlohmann::json&, const char*);
extern template std::vector<std::int64_t> field<std::vector<std::int64_t>>(const nlohmann::json&,
                                                                           const char*);
extern template std::vector<std::string> field<std::vector<std::string>>(const nlohmann::json&,
                                                                         const char*);

}  // namespace sweep::wire
