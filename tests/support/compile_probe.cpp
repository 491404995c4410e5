// Takes the place of the compiler role (compile::Options::program) and tries what a compiler that
// has been taken over would try. The source text names what to reach, one a line: "read PATH",
// "write PATH", "process PID". The log that comes back has one line for each attempt, "WHAT: yes"
// where it succeeded, else "WHAT: no (reason)".
#include "compile/protocol.h"
#include "util/text.h"
#include "wire/channel.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace sweep;

std::string line(const std::string& what, bool done) {
  return what + (done ? ": yes\n" : ": no (" + std::string(std::strerror(errno)) + ")\n");
}

std::string opened(const std::string& what, const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags, 0600);
  const bool done = fd >= 0;
  const std::string text = line(what + " " + path, done);
  if (done) {
    ::close(fd);
  }
  return text;
}

std::string listed(const std::string& path) {
  DIR* folder = ::opendir(path.c_str());
  const std::string text = line("list " + path, folder != nullptr);
  if (folder != nullptr) {
    ::closedir(folder);
  }
  return text;
}

std::string reach_process(const std::string& number) {
  const auto pid = static_cast<pid_t>(std::atol(number.c_str()));
  std::string text = opened("read", "/proc/" + number + "/environ", O_RDONLY);
  text += opened("read", "/proc/" + number + "/mem", O_RDONLY);
  text += line("signal", ::kill(pid, 0) == 0);
  text += line("trace", ::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0);
  char byte = 0;
  const iovec here{&byte, 1};
  const iovec there{&byte, 1};
  text += line("memory", ::process_vm_readv(pid, &here, 1, &there, 1, 0) == 1);
  return text;
}

std::string sockets() {
  std::string text;
  for (const auto& [what, family, type] : {std::tuple("tcp", AF_INET, SOCK_STREAM),
                                           std::tuple("udp", AF_INET, SOCK_DGRAM),
                                           std::tuple("tcp6", AF_INET6, SOCK_STREAM),
                                           std::tuple("unix", AF_UNIX, SOCK_STREAM),
                                           std::tuple("netlink", AF_NETLINK, SOCK_RAW)}) {
    text += line(std::string("socket ") + what, ::socket(family, type, 0) >= 0);
  }
  return text;
}

std::string environment() {
  std::string text = "environment:";
  for (char** one = environ; *one != nullptr; ++one) {
    text += " " + std::string(*one, std::strcspn(*one, "="));
  }
  return text + "\n";
}

std::string limits() {
  std::signal(SIGXFSZ, SIG_IGN);
  const int fd = ::open("large", O_RDWR | O_CREAT, 0600);
  std::string text = line("file of 1 GiB", fd >= 0 && ::ftruncate(fd, off_t{1} << 30) == 0);
  constexpr std::size_t kMuch = std::size_t{64} << 30;
  void* memory = ::mmap(nullptr, kMuch, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  text += line("64 GiB of memory", memory != MAP_FAILED);
  constexpr int kMany = 300;
  int started = 0;
  for (; started < kMany; ++started) {
    const pid_t child = ::fork();
    if (child < 0) {
      break;
    }
    if (child == 0) {
      ::pause();
      ::_exit(0);
    }
  }
  text += line("300 processes", started == kMany);
  return text;
}

std::string execute(const char* program) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(program, program, "-c", "exit 0", nullptr);
    ::_exit(errno == 0 ? 1 : errno);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  errno = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
  return line(std::string("execute ") + program, errno == 0);
}

std::string attempts(const std::string& wishes) {
  std::string text = environment() + sockets();
  for (const std::string_view wish : util::split(wishes, '\n')) {
    const std::string what(wish.substr(0, wish.find(' ')));
    const std::string target(wish.substr(std::min(what.size() + 1, wish.size())));
    if (what == "read") {
      text += opened(what, target, O_RDONLY);
    } else if (what == "write") {
      text += opened(what, target, O_WRONLY | O_CREAT);
    } else if (what == "list") {
      text += listed(target);
    } else if (what == "process") {
      text += reach_process(target);
    }
  }
  text += execute("/bin/sh");
  // Last: nothing more can be started after it.
  return text + limits();
}

}  // namespace

int main() {
  wire::Channel channel(util::Fd(wire::Channel::kRoleFd), "test");
  const wire::Message message = channel.receive(10, 1);
  compile::Outcome outcome;
  outcome.status = compile::Result::Status::ok;
  outcome.image = {std::byte{1}};
  outcome.log = compile::job_from_json(message.body).precompile
                    ? ""
                    : attempts(compile::read_memory(message.fds.at(0).get(), 65536));
  const util::Fd memory = util::make_memfd("probe");
  util::write_all(memory.get(), compile::blobs_of(outcome), "test");
  const int fd = memory.get();
  channel.send(compile::to_json(outcome), std::span(&fd, 1));
  return 0;
}
