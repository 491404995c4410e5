#include "endpoint/builtin.h"
#include "util/error.h"
#include "util/fd.h"
#include "util/process.h"

#include <cerrno>
#include <charconv>
#include <chrono>

#include <poll.h>
#include <unistd.h>

namespace sweep::endpoint {
namespace {

constexpr double kStartSeconds = 10;
constexpr double kLifeSeconds = 30.0 * 24 * 3600;  // it ends with its parent
constexpr std::size_t kMaxPortLine = 16;

[[noreturn]] void not_started(const std::string& why) {
  throw util::InfraError({"built-in endpoint", why, "run `sweep doctor`"}, "E_BUILTIN_START");
}

// The port that the child writes as one line; a child that dies closes the pipe.
int read_port(int fd) {
  std::string line;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(kStartSeconds);
  while (!line.ends_with('\n') && line.size() < kMaxPortLine) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd item{fd, POLLIN, 0};
    const int ready = left.count() > 0 ? ::poll(&item, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready <= 0)
      not_started("the server did not come up within 10 s");
    char byte = 0;
    const ssize_t got = ::read(fd, &byte, 1);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      not_started("the server ended at once (are the scripts sound?)");
    line += byte;
  }
  int port = 0;
  const auto result = std::from_chars(line.data(), line.data() + line.size(), port);
  if (result.ec != std::errc() || *result.ptr != '\n' || port <= 0 || port > 65535)
    not_started("the server did not say its port");
  return port;
}

}  // namespace

std::filesystem::path find_scripts(std::span<const std::filesystem::path> places,
                                   std::string_view name) {
  const bool plain =
      !name.empty() && name.find('/') == std::string_view::npos && name != "." && name != "..";
  std::string looked;
  for (const std::filesystem::path& place : places) {
    std::error_code error;
    std::filesystem::path folder = place / std::string(name);
    if (plain && std::filesystem::is_directory(folder, error))
      return folder;
    looked += (looked.empty() ? "'" : " or '") + folder.string() + "'";
  }
  throw util::UsageError(
      {"base_url",
       "no folder of scripts " + looked + " for \"builtin:" + std::string(name) + "\"",
       "make one; docs/scripts.md says what it holds"},
      "E_BUILTIN_NAME");
}

struct BuiltinProcess::Impl {
  util::Fd input;  // closing it ends the server
  util::Process process;
};

BuiltinProcess::BuiltinProcess(std::span<const std::filesystem::path> places,
                               std::string_view name,
                               const std::filesystem::path& program) {
  const std::filesystem::path folder = find_scripts(places, name);
  // Read here first: a mistake in a script is the user's, and is told in full.
  check_scripts(folder);
  const util::Self self = util::Self::open(program);
  util::Pipe input = util::make_pipe();
  util::Pipe output = util::make_pipe();
  util::SpawnSpec spec;
  spec.argv = {"sweep", "__endpoint", std::filesystem::absolute(folder).string()};
  spec.env = util::basic_environment();
  spec.fds = {{input.read.get(), 0}, {output.write.get(), 1}, {2, 2}};
  spec.deadline = kLifeSeconds;
  util::Process process = util::Process::start_self(self, spec);
  output.write.reset();
  input.read.reset();
  const int port = read_port(output.read.get());
  base_url_ = "http://127.0.0.1:" + std::to_string(port) + "/v1";
  impl_ = std::make_unique<Impl>(Impl{std::move(input.write), std::move(process)});
}

BuiltinProcess::~BuiltinProcess() = default;

}  // namespace sweep::endpoint
