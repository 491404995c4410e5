#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sweep::report {

struct ServerOptions {
  std::filesystem::path folder;  // the run's report/ folder; nothing outside it is served
  std::string host =
      "127.0.0.1";  // another address needs the user's --allow-remote (checked by the caller)
  int port = 8765;  // the next free one of 20 is taken when it is in use
};

// Static pages over HTTP with ETags, so that an unchanged page costs a 304. Answers only GET and
// HEAD, only to the Host names localhost, 127.0.0.1, [::1] and the bound address (DNS rebinding;
// bound to every address: to any address as digits and this machine's own name), never follows '..'
// or symbolic links out of the folder, and sends a Content-Security-Policy that runs nothing but
// the report's own script.
class Server {
 public:
  explicit Server(
      ServerOptions options);  // binds; InfraError E_SERVE_PORT when no port of the range is free
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  [[nodiscard]] int port() const;

  // Serves until stop(), which may be called from another thread and also before run().
  void run();
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Body of `sweep __web RUN_FOLDER HOST PORT REFRESH FD`: serves the report of a run and rebuilds it
// after 1, 2, 4.. seconds and then every REFRESH seconds until the descriptor FD reads end-of-file
// (its owner has ended). First line written to FD: the port. Returns the exit code.
[[nodiscard]] int web_main(const std::vector<std::string>& arguments);

}  // namespace sweep::report
