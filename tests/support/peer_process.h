#pragma once

#include "raw_server.h"

#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

namespace sweep::test {

// A RawServer in a child process, so that this one's memory, files and CPU time are the client's
// alone. To be made before any thread is.
class PeerProcess {
 public:
  explicit PeerProcess(RawServer::Handler handler) {
    int port[2];
    int life[2];
    if (::pipe(port) != 0 || ::pipe(life) != 0 || (child_ = ::fork()) < 0)
      throw std::runtime_error("no child process");
    if (child_ == 0) {
      ::close(life[1]);
      RawServer server(std::move(handler), RawServer::Listen::ipv4, false);
      const int number = server.port();
      char end = 0;
      if (::write(port[1], &number, sizeof number) == sizeof number)
        while (::read(life[0], &end, 1) > 0) {
        }
      ::_exit(0);
    }
    ::close(port[1]);
    ::close(life[0]);
    life_ = life[1];
    if (::read(port[0], &port_, sizeof port_) != sizeof port_)
      throw std::runtime_error("no server");
    ::close(port[0]);
  }

  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  ~PeerProcess() {
    ::close(life_);
    ::waitpid(child_, nullptr, 0);
  }

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  pid_t child_ = -1;
  int life_ = -1;
  int port_ = 0;
};

// Resident memory of this process.
inline double resident_mib() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1024.0 * 1024.0);
}

}  // namespace sweep::test
