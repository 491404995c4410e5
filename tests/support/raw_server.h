#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sweep::test {

// An HTTP/1.1 peer that sends whatever bytes a test wants, one connection at a time.
class RawServer {
 public:
  struct Answer {
    std::string bytes;
    bool byte_by_byte = false;
    bool hold = false;  // keep the connection open until the peer leaves
  };

  // Gets the whole request (head and body) and its number from 0.
  using Handler = std::function<Answer(const std::string& request, int number)>;

  explicit RawServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    if (listener_ < 0 || ::bind(listener_, raw, size) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, raw, &size) != 0)
      throw std::runtime_error("raw server");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }

  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  ~RawServer() {
    stop_ = true;
    thread_.join();
    ::close(listener_);
  }

  [[nodiscard]] std::string url(const std::string& path = "") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }

  [[nodiscard]] std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  static std::string body_of(const std::string& request) {
    return request.substr(request.find("\r\n\r\n") + 4);
  }

 private:
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
        break;
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
      const std::string request = read_request(fd);
      if (!request.empty()) {
        int number = 0;
        {
          const std::lock_guard lock(mutex_);
          number = static_cast<int>(requests_.size());
          requests_.push_back(request);
        }
        answer(fd, handler_(request, number));
      }
      ::close(fd);
    }
  }

  void answer(int fd, const Answer& answer) const {
    const std::size_t step = answer.byte_by_byte ? 1 : answer.bytes.size();
    for (std::size_t at = 0; at < answer.bytes.size(); at += step)
      if (::send(fd,
                 answer.bytes.data() + at,
                 std::min(step, answer.bytes.size() - at),
                 MSG_NOSIGNAL) < 0)
        return;
    if (answer.hold)
      while (readable(fd)) {
        char buffer[256];
        if (::recv(fd, buffer, sizeof buffer, 0) <= 0)
          break;
      }
  }

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
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

}  // namespace sweep::test
