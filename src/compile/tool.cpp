#include "compile/tool.h"

#include "compile/log.h"
#include "util/error.h"
#include "util/fd.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sweep::compile {
namespace {

using Clock = std::chrono::steady_clock;

// More output than this is dropped before it is bounded for display: an error behind thousands of
// notes is still seen.
constexpr std::size_t kMaxRead = 64 * kMaxLogBytes;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) {
    all.push_back(text.data());
  }
  all.push_back(nullptr);
  return all;
}

pid_t spawn(const std::filesystem::path& program,
            std::vector<std::string> arguments,
            std::vector<std::string> environment,
            int output) {
  arguments.insert(arguments.begin(), program.filename().native());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  pid_t pid = -1;
  const int error = posix_spawn(&pid,
                                program.c_str(),
                                &actions,
                                nullptr,
                                pointers(arguments).data(),
                                pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    errno = error;
    util::throw_errno("posix_spawn", program.native(), "check that it may be executed");
  }
  return pid;
}

// Reads until the writers are gone; false at the deadline.
bool drain(int fd, Clock::time_point end, std::string& text) {
  std::array<char, 16384> piece{};
  for (;;) {
    const double left = std::chrono::duration<double>(end - Clock::now()).count();
    if (left <= 0 || !util::wait_readable(fd, left)) {
      return false;
    }
    const ssize_t n = ::read(fd, piece.data(), piece.size());
    if (n == 0) {
      return true;
    }
    if (n < 0 && errno != EINTR) {
      util::throw_errno("read", "compiler output");
    }
    if (n > 0 && text.size() < kMaxRead) {
      text.append(piece.data(), static_cast<std::size_t>(n));
    }
  }
}

}  // namespace

ToolRun run_tool(const std::filesystem::path& program,
                 const std::vector<std::string>& arguments,
                 const std::vector<std::string>& environment,
                 double seconds) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  util::Pipe pipe = util::make_pipe();
  const pid_t pid = spawn(program, arguments, environment, pipe.write.get());
  pipe.write.reset();
  ToolRun run;
  run.timed_out = !drain(pipe.read.get(), end, run.text);
  if (run.timed_out) {
    kill(pid, SIGKILL);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      util::throw_errno("waitpid", program.native());
    }
  }
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  run.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return run;
}

}  // namespace sweep::compile
