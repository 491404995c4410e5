#include "report/server.h"

#include "record/run_dir.h"
#include "report/build.h"
#include "util/error.h"
#include "util/fd.h"
#include "util/sha256.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <iostream>
#include <mutex>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <httplib.h>
#include <poll.h>
#include <unistd.h>

namespace sweep::report {

namespace fs = std::filesystem;

namespace {

constexpr int kPortRange = 20;
// A connection holds a thread until it has been idle for a while, and a browser opens up to six.
constexpr std::size_t kThreads = 32;
constexpr std::size_t kMaxPage = std::size_t{256} << 20;
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' "
    "data:; connect-src 'self'; base-uri "
    "'none'; form-action 'none'; frame-ancestors 'none'";

const char* content_type(const fs::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".html") {
    return "text/html; charset=utf-8";
  }
  if (extension == ".css") {
    return "text/css; charset=utf-8";
  }
  if (extension == ".js") {
    return "text/javascript; charset=utf-8";
  }
  if (file.filename() == "metrics") {
    return "text/plain; version=0.0.4; charset=utf-8";
  }
  return extension == ".svg" ? "image/svg+xml" : "application/octet-stream";
}

// The file below `folder` that a decoded request path names; empty when it leaves the folder, is no
// regular file, or has a name that begins with a dot.
fs::path resolve(const fs::path& folder, const std::string& path) {
  if (path.find('\0') != std::string::npos || path.empty() || path.front() != '/' ||
      path.find("/.") != std::string::npos) {
    return {};
  }
  std::error_code error;
  const fs::path base = fs::weakly_canonical(folder, error);
  fs::path wanted =
      fs::weakly_canonical(base / (path == "/" ? "index.html" : path.substr(1)), error);
  const fs::path inside = wanted.lexically_relative(base);
  if (error || inside.empty() || *inside.begin() == ".." || !fs::is_regular_file(wanted, error)) {
    return {};
  }
  return wanted;
}

bool is_wildcard(const std::string& address) {
  return address == "0.0.0.0" || address == "::";
}

// "10.0.0.7" or "[fe80::1]": no name, so no stranger's name server can have made it point here.
bool is_address(const std::string& name) {
  if (name.size() > 2 && name.front() == '[' && name.back() == ']') {
    in6_addr parsed{};
    return ::inet_pton(AF_INET6, name.substr(1, name.size() - 2).c_str(), &parsed) == 1;
  }
  in_addr parsed{};
  return ::inet_pton(AF_INET, name.c_str(), &parsed) == 1;
}

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "";
}

}  // namespace

struct Server::State {
  ServerOptions options;
  httplib::Server http;
  int port = 0;
  // httplib forgets a stop() that comes before it listens; these keep it.
  std::mutex lock;
  bool begun = false;
  bool stopped = false;
  std::atomic<bool> ended = false;

  [[nodiscard]] bool host_allowed(const httplib::Request& request) const {
    const std::string host = request.get_header_value("Host");
    const std::string port_part = ":" + std::to_string(port);
    if (!host.ends_with(port_part)) {
      return false;
    }
    const std::string name = host.substr(0, host.size() - port_part.size());
    if (name == "localhost" || name == "127.0.0.1" || name == "[::1]" || name == options.host) {
      return true;
    }
    return is_wildcard(options.host) && (is_address(name) || name == machine_name());
  }

  void answer(const httplib::Request& request, httplib::Response& response) const {
    response.set_header("Content-Security-Policy", kPolicy);
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Cache-Control", "no-cache");
    if (!host_allowed(request)) {
      response.status = 421;
      response.set_content("this host name is not served here\n", "text/plain");
      return;
    }
    if (request.path == "/favicon.ico") {
      response.status = 204;  // every browser asks
      return;
    }
    const fs::path file = resolve(options.folder, request.path);
    if (file.empty()) {
      response.status = 404;
      response.set_content("no such page; start at /\n", "text/plain");
      return;
    }
    std::string bytes = record::read_whole(file, kMaxPage);
    const std::string tag = "\"" + util::sha256_hex(bytes).substr(0, 32) + "\"";
    response.set_header("ETag", tag);
    if (request.get_header_value("If-None-Match") == tag) {
      response.status = 304;
      return;
    }
    if (bytes.empty()) {
      response.set_content("", content_type(file));
      return;
    }
    // A body set at once httplib would compress anew for each reader: 2 s of brotli for report.js.
    const std::size_t size = bytes.size();
    response.set_content_provider(
        size,
        content_type(file),
        [kept = std::move(bytes)](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
          return sink.write(kept.data() + offset, length);
        });
  }
};

Server::Server(ServerOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
  state_->http.new_task_queue = [] {
    return new httplib::ThreadPool(kThreads);
  };  // httplib owns and deletes it
  state_->http.set_payload_max_length(0);
  state_->http.set_read_timeout(5);
  state_->http.set_keep_alive_timeout(5);
  state_->http.Get(
      ".*", [state = state_.get()](const httplib::Request& request, httplib::Response& response) {
        state->answer(request, response);
      });
  const ServerOptions& o = state_->options;
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(o.folder, error))) {
    throw util::UsageError(
        {o.folder.string(), "is a symbolic link", "remove it, then run `sweep report` again"},
        "E_REPORT_LINK");
  }
  // SO_REUSEPORT, httplib's default, would let two servers share the port silently.
  state_->http.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  for (int port = o.port; port < o.port + kPortRange; ++port) {
    if (state_->http.bind_to_port(o.host, port)) {
      state_->port = port;
      return;
    }
  }
  throw util::InfraError({fmt::format("{}:{}", o.host, o.port),
                          fmt::format("none of {} ports from here can be bound", kPortRange),
                          "set [report] serve_port, or serve = false"},
                         "E_SERVE_PORT");
}

Server::~Server() {
  stop();
}

int Server::port() const {
  return state_->port;
}

void Server::run() {
  {
    const std::lock_guard hold(state_->lock);
    if (state_->stopped) {
      return;
    }
    state_->begun = true;
  }
  state_->http.listen_after_bind();
  state_->ended = true;
}

void Server::stop() {
  {
    const std::lock_guard hold(state_->lock);
    state_->stopped = true;
    if (!state_->begun) {
      return;
    }
  }
  while (!state_->http.is_running() && !state_->ended) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  state_->http.stop();
}

namespace {

int to_int(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw util::UsageError({"__web", "'" + text + "' is no number", ""}, "E_WEB_ARGUMENT");
  }
  return value;
}

// True when the other end of `fd` was closed within the time.
bool owner_gone(int fd, int milliseconds) {
  struct pollfd wait {};

  wait.fd = fd;
  wait.events = POLLIN;
  const int ready = ::poll(&wait, 1, milliseconds);
  if (ready <= 0) {
    return false;
  }
  std::array<char, 64> buffer{};
  return ::read(fd, buffer.data(), buffer.size()) <= 0;
}

void rebuild(Builder& builder, int seconds) {
  try {
    (void)builder.build({.refresh_seconds = seconds});
  } catch (const util::Error& error) {
    std::cerr << "report: " << error.what() << '\n';
  }
}

}  // namespace

int web_main(const std::vector<std::string>& arguments) {
  if (arguments.size() != 5) {
    return 2;
  }
  try {
    const record::RunDir run(arguments[0]);
    const int refresh = std::max(1, to_int(arguments[3]));
    const util::Fd owner(to_int(arguments[4]));
    // Short pauses at first: a run that has just begun has new things to show every second.
    int pause = 1;
    Builder builder(run);
    rebuild(builder, pause);
    Server server({run.report_folder(), arguments[1], to_int(arguments[2])});
    const std::string line = std::to_string(server.port()) + "\n";
    if (::write(owner.get(), line.data(), line.size()) < 0) {
      return 3;
    }
    std::thread thread([&server] { server.run(); });
    while (!owner_gone(owner.get(), pause * 1000)) {
      pause = std::min(refresh, 2 * pause);
      rebuild(builder, pause);
    }
    server.stop();
    thread.join();
    return 0;
  } catch (const util::Error& error) {
    std::cerr << "report: " << error.what() << '\n';
    return 3;
  }
}

}  // namespace sweep::report
