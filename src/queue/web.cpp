#include "queue/web.h"

#include "util/error.h"

#include <array>
#include <charconv>
#include <utility>

#include <poll.h>
#include <unistd.h>

namespace sweep::queue {

namespace {

constexpr int kLifelineFd = 3;
constexpr int kStartMilliseconds = 10000;

util::Process start(const std::filesystem::path& program,
                    const std::vector<std::string>& arguments,
                    int lifeline) {
  util::SpawnSpec spec;
  spec.argv = arguments;
  spec.env = util::basic_environment();
  spec.fds = {{lifeline, kLifelineFd}};
  spec.deadline = 30 * 24 * 3600.0;
  return util::Process::start_self(util::Self::open(program), spec);
}

int read_port(int fd) {
  pollfd wait{fd, POLLIN, 0};
  std::array<char, 32> buffer{};
  if (::poll(&wait, 1, kStartMilliseconds) == 1) {
    const ssize_t size = ::read(fd, buffer.data(), buffer.size());
    int port = 0;
    if (size > 0 && std::from_chars(buffer.data(), buffer.data() + size, port).ec == std::errc{} &&
        port > 0) {
      return port;
    }
  }
  throw util::InfraError({"report server",
                          "did not come up within 10 s",
                          "set [report] serve = false to go on without it"},
                         "E_WEB_START");
}

}  // namespace

WebProcess::WebProcess(const std::filesystem::path& program,
                       const std::filesystem::path& run_folder,
                       const std::string& host,
                       std::int64_t port,
                       int refresh_seconds)
    : WebProcess([&] {
        auto [mine, theirs] = util::make_socketpair();
        util::Process process = start(program,
                                      {"sweep",
                                       "__web",
                                       run_folder.string(),
                                       host,
                                       std::to_string(port),
                                       std::to_string(refresh_seconds),
                                       std::to_string(kLifelineFd)},
                                      theirs.get());
        return std::pair<util::Fd, util::Process>(std::move(mine), std::move(process));
      }()) {}

WebProcess::WebProcess(std::pair<util::Fd, util::Process> started)
    : lifeline_(std::move(started.first)),
      process_(std::move(started.second)),
      port_(read_port(lifeline_.get())) {}

}  // namespace sweep::queue
