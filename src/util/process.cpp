#include "util/process.h"

#include "util/clock.h"
#include "util/error.h"
#include "util/spawn_plan.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sweep::util {
namespace fs = std::filesystem;

Self Self::open() {
  return Self(open_file("/proc/self/exe", O_RDONLY));
}

Self Self::open(const fs::path& program) {
  return Self(open_file(program.string(), O_RDONLY));
}

std::vector<std::string> basic_environment(const fs::path& temporary) {
  std::vector<std::string> env = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/"};
  if (!temporary.empty()) {
    env.push_back("TMPDIR=" + temporary.string());
  }
  return env;
}

std::string ExitStatus::text() const {
  if (timed_out) {
    return "ran past its deadline (" + human_seconds(seconds) + ")";
  }
  if (signal != 0) {
    const char* name = ::strsignal(signal);
    return fmt::format("killed by signal {} ({})", signal, name != nullptr ? name : "unknown");
  }
  return fmt::format("exit code {}", code);
}

struct Process::State {
  spawn::Started child;
  double start = 0;
  double deadline = 0;
  bool timed_out = false;
  bool abandoned = false;
  std::optional<ExitStatus> status;
  std::vector<Protection> protections;
  RealClock clock;
};

namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (const std::string& text : texts) {
    list.push_back(const_cast<char*>(text.c_str()));  // execve does not write
  }
  list.push_back(nullptr);
  return list;
}

std::vector<FdMapping> all_mappings(const SpawnSpec& spec, int null_fd) {
  std::vector<FdMapping> fds = spec.fds;
  for (int standard = 0; standard < 3; ++standard) {
    const bool named =
        std::ranges::any_of(fds, [standard](const FdMapping& m) { return m.to == standard; });
    if (!named) {
      fds.push_back({null_fd, standard});
    }
  }
  for (const FdMapping& mapping : fds) {
    if (mapping.from < 0 || mapping.to < 0 || mapping.to >= spawn::kProgramFd) {
      throw InfraError(
          {spec.argv.empty() ? "child" : spec.argv.front(),
           fmt::format("descriptor {} cannot become number {}", mapping.from, mapping.to),
           "report this"},
          "E_SPAWN");
    }
  }
  return fds;
}

void plan_limits(spawn::Plan& plan, const SpawnSpec& spec) {
  for (const ResourceLimit& limit : spec.limits) {
    plan.limits.emplace_back(limit.resource, rlimit{limit.value, limit.value});
  }
  plan.limits.emplace_back(RLIMIT_CORE, rlimit{0, 0});
}

// Only root may raise a hard limit; a wish above it becomes the limit that there is.
void clip_limits(spawn::Plan& plan) {
  for (auto& [resource, limit] : plan.limits) {
    rlimit current{};
    if (::syscall(SYS_prlimit64, 0, resource, nullptr, &current) != 0) {
      throw_errno("getrlimit", "limits of a child");
    }
    limit.rlim_cur = std::min(limit.rlim_cur, current.rlim_max);
    limit.rlim_max = std::min(limit.rlim_max, current.rlim_max);
  }
}

spawn::Plan make_plan(const SpawnSpec& spec, int program_fd, int null_fd) {
  spawn::Plan plan;
  plan.program_fd = program_fd;
  plan.argv = pointers(spec.argv);
  plan.env = pointers(spec.env);
  plan.fds = all_mappings(spec, null_fd);
  plan.folder = spec.work_folder.empty() ? "/" : spec.work_folder.string();
  plan_limits(plan, spec);
  if (spec.sandbox) {
    spawn::plan_sandbox(plan, *spec.sandbox, spec.work_folder);
  }
  clip_limits(plan);
  return plan;
}

bool is_script(int fd) {
  std::array<char, 2> head{};
  return ::pread(fd, head.data(), head.size(), 0) == 2 && head[0] == '#' && head[1] == '!';
}

ExitStatus to_status(const siginfo_t& info, const rusage& used) {
  ExitStatus status;
  if (info.si_code == CLD_EXITED) {
    status.code = info.si_status;
  } else {
    status.signal = info.si_status;
  }
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  status.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  status.max_rss_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  return status;
}

}  // namespace

Process::Process(std::unique_ptr<State> state) : state_(std::move(state)) {}

Process::Process(Process&&) noexcept = default;

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    const Process old(std::move(state_));
    state_ = std::move(other.state_);
  }
  return *this;
}

void Process::abandon() noexcept {
  kill_group();
  state_->abandoned = true;
}

Process::~Process() {
  if (state_ && !state_->status && !state_->abandoned) {
    kill_group();
    siginfo_t info{};
    while (::waitid(P_PIDFD, static_cast<id_t>(state_->child.pidfd.get()), &info, WEXITED) != 0 &&
           errno == EINTR) {
    }
  }
}

Process Process::start_self(const Self& self, const SpawnSpec& spec) {
  const Fd null = open_file("/dev/null", O_RDWR);
  spawn::Plan plan = make_plan(spec, self.fd(), null.get());
  auto state = std::make_unique<State>();
  state->start = state->clock.monotonic();
  state->deadline = spec.deadline;
  state->child = spawn::start(plan);
  state->protections = spawn::report(plan);
  return Process(std::move(state));
}

Process Process::start_program(const fs::path& program, const SpawnSpec& spec) {
  const Self file = Self::open(program);
  if (!is_script(file.fd())) {
    return start_self(file, spec);
  }
  const Fd null = open_file("/dev/null", O_RDWR);
  spawn::Plan plan = make_plan(spec, file.fd(), null.get());
  plan.script = program.string();
  auto state = std::make_unique<State>();
  state->start = state->clock.monotonic();
  state->deadline = spec.deadline;
  state->child = spawn::start(plan);
  state->protections = spawn::report(plan);
  return Process(std::move(state));
}

int Process::pid() const noexcept {
  return state_->child.pid;
}

int Process::pidfd() const noexcept {
  return state_->child.pidfd.get();
}

double Process::time_left() const {
  return std::max(0.0, state_->start + state_->deadline - state_->clock.monotonic());
}

void Process::extend_deadline(double seconds) {
  state_->deadline += std::max(0.0, seconds);
}

void Process::restart_deadline() {
  state_->start = state_->clock.monotonic();
}

const std::vector<Protection>& Process::protections() const noexcept {
  return state_->protections;
}

void Process::kill_group() noexcept {
  if (!state_->status) {
    // The leader is not reaped yet, so its number still names our group.
    ::kill(-state_->child.pid, SIGKILL);
    ::kill(state_->child.pid, SIGKILL);
  }
}

void Process::send_signal(int signal) noexcept {
  if (!state_->status) {
    ::kill(state_->child.pid, signal);
  }
}

std::optional<ExitStatus> Process::wait_for(double seconds) {
  if (state_->status) {
    return state_->status;
  }
  const double left = time_left();
  if (!wait_readable(pidfd(), std::min(seconds, left))) {
    if (left > seconds) {
      return std::nullopt;
    }
    state_->timed_out = true;
    kill_group();
    (void)wait_readable(pidfd(), std::nullopt);
  }
  // What the leader left behind in its group goes too, before the number can name another group.
  ::kill(-state_->child.pid, SIGKILL);
  siginfo_t info{};
  rusage used{};
  while (::syscall(SYS_waitid, P_PIDFD, pidfd(), &info, WEXITED, &used) != 0) {
    if (errno != EINTR) {
      throw_errno("waitid", "child");
    }
  }
  ExitStatus status = to_status(info, used);
  status.timed_out = state_->timed_out;
  status.seconds = state_->clock.monotonic() - state_->start;
  state_->status = status;
  return status;
}

ExitStatus Process::wait() {
  for (;;) {
    if (const auto status = wait_for(3600)) {
      return *status;
    }
  }
}

std::optional<fs::path> find_program(const std::string& name) {
  const auto usable = [](const fs::path& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) {
    return usable(name) ? std::optional(fs::absolute(name)) : std::nullopt;
  }
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    if (!folder.empty() && folder.front() == '/' && usable(fs::path(folder) / name)) {
      return fs::path(folder) / name;
    }
  }
  return std::nullopt;
}

}  // namespace sweep::util
