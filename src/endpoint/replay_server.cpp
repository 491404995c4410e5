#include "endpoint/replay_server.h"

#include "endpoint/exchange.h"
#include "endpoint/json.h"
#include "util/error.h"
#include "util/fd.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sweep::endpoint {
namespace {

constexpr std::size_t kMaxHead = std::size_t{64} << 10;
constexpr std::size_t kMaxBody = std::size_t{64} << 20;
constexpr std::size_t kMaxDifferences = 20;

struct WireRequest {
  std::string path;
  std::string body;
};

// A turn is one request with its tries.
std::string name_of_place(std::size_t request, std::size_t number) {
  return "turn " + std::to_string(request + 1) + " (try " + std::to_string(number + 1) + ")";
}

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return out;
}

// The value of Content-Length in a head; 0 without one, nullopt for one that is no length.
std::optional<std::size_t> content_length(std::string_view head) {
  const std::string lower = lowered(head);
  constexpr std::string_view name = "\r\ncontent-length:";
  const auto at = lower.find(name);
  if (at == std::string::npos)
    return 0;
  std::string_view value = std::string_view(lower).substr(at + name.size());
  while (value.starts_with(' '))
    value.remove_prefix(1);
  std::size_t length = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), length);
  return read.ec == std::errc() && length <= kMaxBody ? std::optional(length) : std::nullopt;
}

// Of the recorded headers those that say something about the message and not about its transfer.
bool of_message(std::string_view name) {
  constexpr std::array<std::string_view, 5> transfer = {
      "content-length", "transfer-encoding", "content-encoding", "connection", "keep-alive"};
  const std::string lower = lowered(name);
  return std::find(transfer.begin(), transfer.end(), lower) == transfer.end();
}

bool one_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

// The bytes that a try's answer is on the wire; none for one that never was answered. One that
// broke off announces more than it holds; one that was too large goes on with blanks.
std::string wire_bytes(const Try& one) {
  if (one.status == 0)
    return {};
  std::string out = "HTTP/1.1 " + std::to_string(one.status) + " Recorded\r\n";
  for (const http::Header& header : one.headers)
    if (of_message(header.name) && !header.name.empty() && one_line(header.name) &&
        one_line(header.value) && header.name.find(':') == std::string::npos)
      out += header.name + ": " + header.value + "\r\n";
  const std::size_t most = http::Limits{}.max_body;
  const bool large = one.fault == http::name(http::Fault::too_large) && one.response.size() <= most;
  const std::size_t more = large ? most + 1 - one.response.size() : 0;
  const std::size_t missing = one.fault.empty() || large ? 0 : 1;
  out += "Content-Length: " + std::to_string(one.response.size() + more + missing) +
         "\r\nConnection: close\r\n\r\n" + one.response;
  return out.append(more, ' ');
}

std::string miss_bytes(const std::string& why) {
  const std::string body =
      dump({{"error", {{"message", why}, {"type", "replay"}, {"code", "replay_miss"}}}});
  return "HTTP/1.1 400 Not Recorded\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

}  // namespace

struct ReplayServer::Impl {
  // A recorded try and where it belongs.
  struct Place {
    std::size_t request = 0;
    std::size_t number = 0;  // of the try within its request
    const Try* what = nullptr;
  };

  util::Fd listener;
  util::Pipe stop = util::make_pipe();
  int port = 0;
  std::function<void(double)> played;
  std::thread thread;

  std::mutex mutex;  // of all below
  std::vector<Exchange> conversation;
  std::vector<Place> places;  // in the order of the record
  std::map<std::string, std::vector<std::size_t>> by_key;
  std::map<std::string, std::size_t> asked;  // equal requests so far
  std::vector<bool> used;
  std::size_t count = 0;
  std::vector<std::string> differences;

  void listen();
  void serve();
  void answer(int fd);
  [[nodiscard]] bool readable(int fd) const;
  [[nodiscard]] std::optional<WireRequest> read(int fd) const;
  std::string find(const WireRequest& request, double& seconds);
  std::string miss(const WireRequest& request);
  void note(std::string difference);
};

void ReplayServer::Impl::listen() {
  listener = util::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  if (!listener || ::bind(listener.get(), raw, size) != 0 || ::listen(listener.get(), 16) != 0 ||
      ::getsockname(listener.get(), raw, &size) != 0)
    throw util::InfraError(
        {"built-in endpoint", "no loopback port could be opened", "check the network settings"},
        "E_BUILTIN_START");
  port = ntohs(address.sin_port);
}

// False once the server ends.
bool ReplayServer::Impl::readable(int fd) const {
  std::array<pollfd, 2> items = {pollfd{fd, POLLIN, 0}, pollfd{stop.read.get(), POLLIN, 0}};
  while (::poll(items.data(), items.size(), -1) < 0 && errno == EINTR) {
  }
  return items[1].revents == 0;
}

std::optional<WireRequest> ReplayServer::Impl::read(int fd) const {
  std::string text;
  std::size_t head = std::string::npos;
  std::size_t wanted = std::string::npos;
  while (text.size() < wanted) {
    std::array<char, 65536> buffer{};
    if (!readable(fd))
      return std::nullopt;
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (got <= 0)
      return std::nullopt;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (head != std::string::npos)
      continue;
    head = text.find("\r\n\r\n");
    if (head == std::string::npos && text.size() > kMaxHead)
      return std::nullopt;
    if (head != std::string::npos) {
      const auto length = content_length(std::string_view(text).substr(0, head));
      if (!length)
        return std::nullopt;
      wanted = head + 4 + *length;
    }
  }
  const auto first = text.find(' ');
  const auto second = text.find(' ', first + 1);
  if (first == std::string::npos || second == std::string::npos || second > head)
    return std::nullopt;
  return WireRequest{text.substr(first + 1, second - first - 1), text.substr(head + 4)};
}

void ReplayServer::Impl::note(std::string difference) {
  if (differences.size() < kMaxDifferences)
    differences.push_back(std::move(difference));
}

// The nearest recorded request is the first that was not asked for.
std::string ReplayServer::Impl::miss(const WireRequest& request) {
  const auto next = std::find(used.begin(), used.end(), false);
  if (next == used.end()) {
    std::string why = "turn " + std::to_string(conversation.size() + 1) +
                      ": the recorded conversation asked nothing more";
    note(why);
    return why;
  }
  const Place& place = places[static_cast<std::size_t>(next - used.begin())];
  const std::string& path = conversation[place.request].path;
  std::string why = name_of_place(place.request, place.number) + ": not recorded: " +
                    (path != request.path ? "the path was " + path + " and is now " + request.path
                                          : first_difference(place.what->request, request.body));
  note(why);
  return why;
}

std::string ReplayServer::Impl::find(const WireRequest& request, double& seconds) {
  const std::lock_guard lock(mutex);
  const std::string key = replay_key(request.path, request.body);
  const auto found = by_key.find(key);
  std::size_t& before = asked[key];
  if (found == by_key.end() || before >= found->second.size())
    return miss_bytes(miss(request));
  const std::size_t index = found->second[before++];
  const Place& place = places[index];
  if (std::find(used.begin(), used.end(), false) - used.begin() !=
      static_cast<std::ptrdiff_t>(index))
    note(name_of_place(place.request, place.number) + ": asked in another order than recorded");
  if (const std::string difference = first_difference(place.what->request, request.body);
      !difference.empty())
    note(name_of_place(place.request, place.number) + ": " + difference);
  used[index] = true;
  ++count;
  seconds = place.what->seconds;
  return wire_bytes(*place.what);
}

void ReplayServer::Impl::answer(int fd) {
  const auto request = read(fd);
  if (!request)
    return;
  double seconds = 0;
  const std::string bytes = find(*request, seconds);
  if (played)
    played(seconds);
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t sent = ::send(fd, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      return;
    at += static_cast<std::size_t>(sent);
  }
}

void ReplayServer::Impl::serve() {
  while (readable(listener.get())) {
    const util::Fd peer(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (peer)
      answer(peer.get());
  }
}

ReplayServer::ReplayServer(std::function<void(double)> played) : impl_(std::make_unique<Impl>()) {
  impl_->played = std::move(played);
  impl_->listen();
  impl_->thread = std::thread([impl = impl_.get()] { impl->serve(); });
}

ReplayServer::~ReplayServer() {
  impl_->stop.write.reset();
  impl_->thread.join();
}

std::string ReplayServer::origin() const {
  return "http://127.0.0.1:" + std::to_string(impl_->port);
}

void ReplayServer::begin(const std::vector<Exchange>& conversation) {
  const std::lock_guard lock(impl_->mutex);
  impl_->conversation = conversation;
  impl_->places.clear();
  impl_->by_key.clear();
  impl_->asked.clear();
  impl_->differences.clear();
  impl_->count = 0;
  for (std::size_t i = 0; i < impl_->conversation.size(); ++i)
    for (std::size_t j = 0; j < impl_->conversation[i].tries.size(); ++j) {
      const Exchange& exchange = impl_->conversation[i];
      impl_->by_key[replay_key(exchange.path, exchange.tries[j].request)].push_back(
          impl_->places.size());
      impl_->places.push_back({i, j, &exchange.tries[j]});
    }
  impl_->used.assign(impl_->places.size(), false);
}

ReplayServer::Result ReplayServer::end() {
  const std::lock_guard lock(impl_->mutex);
  Result out;
  out.played = impl_->count;
  out.recorded = impl_->places.size();
  const auto left = std::find(impl_->used.begin(), impl_->used.end(), false);
  if (left != impl_->used.end() && impl_->differences.empty()) {
    const Impl::Place& place = impl_->places[static_cast<std::size_t>(left - impl_->used.begin())];
    impl_->note(name_of_place(place.request, place.number) + ": recorded, but not asked for now");
  }
  out.differences = std::exchange(impl_->differences, {});
  return out;
}

}  // namespace sweep::endpoint
