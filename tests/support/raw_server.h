#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <list>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace sweep::test {

// An HTTP/1.1 peer that sends whatever bytes a test wants, in the pieces and at the times that it
// wants, and ends connections as it wants. One thread a connection.
class RawServer {
 public:
  struct Answer {
    std::string bytes;
    bool byte_by_byte = false;
    bool hold = false;                // keep the connection open until the peer leaves
    bool reset = false;               // end it with a reset
    bool keep = false;                // read another request from it
    std::vector<std::string> rest{};  // sent after `bytes`, one by one, each after `pause_ms`
    int pause_ms = 0;
    std::string ping{};  // then sent every 20 ms until the peer leaves
  };

  // Gets the whole request (head and body) and its number from 0.
  using Handler = std::function<Answer(const std::string& request, int number)>;

  enum class Listen { ipv4, ipv6, unix_socket };

  // `record` false: requests are not kept, for long runs.
  explicit RawServer(Handler handler, Listen listen = Listen::ipv4, bool record = true)
      : handler_(std::move(handler)), kind_(listen), record_(record) {
    if (listen == Listen::unix_socket)
      listen_unix();
    else
      listen_tcp(listen == Listen::ipv6);
    if (::listen(listener_, 512) != 0)
      throw std::runtime_error("raw server");
    thread_ = std::thread([this] { serve(); });
  }

  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  ~RawServer() {
    stop_ = true;
    thread_.join();
    for (Connection& one : connections_)
      one.thread.join();
    ::close(listener_);
    if (!path_.empty())
      std::filesystem::remove(path_);
  }

  [[nodiscard]] int port() const { return port_; }

  [[nodiscard]] std::string url(const std::string& path = "") const {
    if (kind_ == Listen::unix_socket) {
      std::string host;
      for (const char c : path_)
        host += c == '/' ? "%2F" : std::string(1, c);
      return "http+unix://" + host + path;
    }
    return std::string("http://") + (kind_ == Listen::ipv6 ? "[::1]" : "127.0.0.1") + ":" +
           std::to_string(port_) + path;
  }

  [[nodiscard]] std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  [[nodiscard]] int connections() const { return accepted_; }

  static std::string body_of(const std::string& request) {
    return request.substr(request.find("\r\n\r\n") + 4);
  }

  // Whether this machine has an IPv6 loopback address.
  static bool has_ipv6() {
    const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    const bool bound =
        fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    if (fd >= 0)
      ::close(fd);
    return bound;
  }

 private:
  struct Connection {
    std::thread thread;
    std::atomic<bool> done{false};
  };

  void listen_tcp(bool six) {
    sockaddr_storage address{};
    socklen_t size = six ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    address.ss_family = six ? AF_INET6 : AF_INET;
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    if (six)
      reinterpret_cast<sockaddr_in6*>(&address)->sin6_addr = in6addr_loopback;
    else
      reinterpret_cast<sockaddr_in*>(&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener_ = ::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener_ < 0 || ::bind(listener_, raw, size) != 0 ||
        ::getsockname(listener_, raw, &size) != 0)
      throw std::runtime_error("raw server");
    port_ = ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);  // same place in both
  }

  void listen_unix() {
    static std::atomic<int> number{0};
    path_ = (std::filesystem::temp_directory_path() /
             ("raw-" + std::to_string(::getpid()) + "-" + std::to_string(number++) + ".sock"))
                .string();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener_ < 0 ||
        ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("raw server");
  }

  // False when the server stops.
  [[nodiscard]] bool readable(int fd) const {
    pollfd item{fd, POLLIN, 0};
    while (!stop_)
      if (::poll(&item, 1, 20) > 0)
        return true;
    return false;
  }

  std::string read_request(int fd) const {
    std::string text;
    std::size_t wanted = std::string::npos;
    while (text.size() < wanted && readable(fd)) {
      char buffer[65536];
      const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
      if (got <= 0)
        return {};
      text.append(buffer, static_cast<std::size_t>(got));
      const auto head = text.find("\r\n\r\n");
      if (head != std::string::npos && wanted == std::string::npos) {
        const auto at = text.find("Content-Length: ");
        wanted = head + 4 + (at < head ? std::stoul(text.substr(at + 16)) : 0);
      }
    }
    return text;
  }

  void serve() {
    while (readable(listener_)) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0)
        continue;
      ++accepted_;
      const int yes = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      connections_.remove_if([](Connection& one) {
        const bool done = one.done;
        if (done)
          one.thread.join();
        return done;
      });
      Connection& connection = connections_.emplace_back();
      connection.thread = std::thread([this, fd, &connection] {
        while (serve_one(fd)) {
        }
        ::close(fd);
        connection.done = true;
      });
    }
  }

  // True when the connection is to be kept.
  bool serve_one(int fd) {
    const std::string request = read_request(fd);
    if (request.empty())
      return false;
    int number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = count_++;
      if (record_)
        requests_.push_back(request);
    }
    const Answer given = handler_(request, number);
    return answer(fd, given) && given.keep;
  }

  static bool send_all(int fd, std::string_view bytes, std::size_t step) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd, bytes.data(), std::min(step, bytes.size()), MSG_NOSIGNAL);
      if (sent < 0)
        return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  static void pause(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }

  bool answer(int fd, const Answer& answer) const {
    bool alive = send_all(fd, answer.bytes, answer.byte_by_byte ? 1 : answer.bytes.size());
    for (const std::string& piece : answer.rest) {
      pause(answer.pause_ms);
      alive = alive && !stop_ && send_all(fd, piece, answer.byte_by_byte ? 1 : piece.size());
    }
    while (alive && !answer.ping.empty() && !stop_) {
      pause(20);
      alive = send_all(fd, answer.ping, answer.ping.size());
    }
    if (answer.hold)
      while (readable(fd)) {
        char buffer[256];
        if (::recv(fd, buffer, sizeof buffer, 0) <= 0)
          break;
      }
    if (answer.reset) {
      pause(20);  // what was sent arrives first
      const linger at_once{1, 0};
      ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    return alive;
  }

  Handler handler_;
  Listen kind_;
  bool record_;
  int listener_ = -1;
  int port_ = 0;
  std::string path_;
  std::atomic<bool> stop_{false};
  std::atomic<int> accepted_{0};
  std::mutex mutex_;
  int count_ = 0;
  std::vector<std::string> requests_;
  std::thread thread_;
  std::list<Connection> connections_;  // of thread_ until it ends
};

// A response with Content-Length.
inline std::string http_response(
    const std::string& status,
    const std::string& body,
    const std::string& headers = "Content-Type: application/json\r\n") {
  return "HTTP/1.1 " + status + "\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

// A stream that ends with the connection.
inline std::string sse_response(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + body;
}

// One piece of a chunked body.
inline std::string http_chunk(const std::string& bytes) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + bytes + "\r\n";
}

inline const std::string kChunkedHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

}  // namespace sweep::test
