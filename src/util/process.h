#pragma once

#include "util/fd.h"
#include "util/sandbox.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::util {

// The running program's own file, opened once at the start of main: roles are started through this
// descriptor, so they run the same program even when its file was replaced, and without /proc.
class Self {
 public:
  [[nodiscard]] static Self open();
  // Any program file, for tests.
  [[nodiscard]] static Self open(const std::filesystem::path& program);

  // Takes a descriptor of a program file that came from the one who started us.
  [[nodiscard]] static Self adopt(Fd program) { return Self(std::move(program)); }

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  explicit Self(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
};

// Our descriptor `from` becomes the child's number `to`. The parent keeps its own copy.
struct FdMapping {
  int from = -1;
  int to = -1;
};

// setrlimit, soft and hard; `resource` is RLIMIT_*.
struct ResourceLimit {
  int resource = 0;
  std::uint64_t value = 0;
};

struct SpawnSpec {
  std::vector<std::string> argv;  // with argv[0]
  std::vector<std::string> env;   // exactly these "NAME=value"; see basic_environment()

  // Descriptors that the child gets; 0, 1 and 2 are /dev/null when they are not named. All others
  // are closed.
  std::vector<FdMapping> fds;

  // Working folder of the child; empty: "/". With a sandbox it may be read and written, and when
  // the child drops to another uid the folder is given to that uid. Its parents must be open to
  // everyone (/tmp is), or the child must use relative names. Results left there are hostile: read
  // them with Links::refuse.
  std::filesystem::path work_folder;

  std::vector<ResourceLimit> limits;

  // Seconds of wall time from the start after which the child's group is killed by wait() and
  // run().
  double deadline = 60;

  std::optional<SandboxPolicy> sandbox;
};

// PATH, LANG=C.UTF-8, HOME=/ and TMPDIR=`temporary` (when not empty): nothing of our own
// environment.
[[nodiscard]] std::vector<std::string> basic_environment(
    const std::filesystem::path& temporary = {});

struct ExitStatus {
  int code = -1;           // exit code, when signal == 0
  int signal = 0;          // that ended it
  bool timed_out = false;  // we killed it because of its deadline
  double seconds = 0;      // wall time from the start
  double cpu_seconds = 0;  // user and system, with waited-for children
  std::uint64_t max_rss_bytes = 0;

  [[nodiscard]] bool ok() const { return code == 0 && signal == 0 && !timed_out; }

  // "exit code 1", "killed by signal 11 (Segmentation fault)", "ran past its deadline of 10.0 s".
  [[nodiscard]] std::string text() const;
};

// A running child in a process group of its own. The destructor kills the group and reaps the
// child. It dies with the *thread* that started it (PDEATHSIG), so start roles from a thread that
// lives as long as they do. In a sandbox with a pid namespace all its descendants die with it.
// Every child has no_new_privs, default signal handlers, no inherited descriptors and no inherited
// environment.
class Process {
 public:
  // The same program again. InfraError "E_SPAWN" with the step that failed, "E_SANDBOX" when a
  // mandatory protection is missing and the policy does not allow that.
  [[nodiscard]] static Process start_self(const Self& self, const SpawnSpec& spec);

  // Another program by absolute path (find_program).
  [[nodiscard]] static Process start_program(const std::filesystem::path& program,
                                             const SpawnSpec& spec);

  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] int pid() const noexcept;

  // Readable when the child has ended; for poll.
  [[nodiscard]] int pidfd() const noexcept;

  // Seconds until the deadline, not below 0.
  [[nodiscard]] double time_left() const;

  // Moves the deadline later, e.g. by the time that the child waited for a lock. Negative: no
  // change.
  void extend_deadline(double seconds);

  // Counts the deadline of SpawnSpec from now.
  void restart_deadline();

  // Waits at most `seconds`, and never past the deadline, where it kills the group. None: still
  // running.
  [[nodiscard]] std::optional<ExitStatus> wait_for(double seconds);

  // Waits for the end; at the deadline kills the group.
  [[nodiscard]] ExitStatus wait();

  // SIGKILL for the whole group, and the destructor does not wait for the end: for a process that
  // is about to end itself, which leaves the rest to init.
  void abandon() noexcept;

  // SIGKILL for the whole group; returns at once. wait() still reaps.
  void kill_group() noexcept;

  // SIGTERM (or another signal) for the first process of the group only.
  void send_signal(int signal) noexcept;

  // How it was started; empty without a sandbox.
  [[nodiscard]] const std::vector<Protection>& protections() const noexcept;

 private:
  struct State;
  explicit Process(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

struct Captured {
  ExitStatus status;
  std::string out;  // at most the asked number of bytes, as head_and_tail does
  std::string err;
  std::uint64_t out_bytes = 0;  // written in all
  std::uint64_t err_bytes = 0;
  std::vector<Protection> protections;
};

// Starts, feeds `input` to standard input, captures standard output and error (each at most
// `max_output` bytes and a marker line; the rest is read and dropped), waits. `spec.fds` must not
// name 0, 1 or 2.
[[nodiscard]] Captured run_self(const Self& self,
                                SpawnSpec spec,
                                std::string_view input = {},
                                std::size_t max_output = 65536);
[[nodiscard]] Captured run_program(const std::filesystem::path& program,
                                   SpawnSpec spec,
                                   std::string_view input = {},
                                   std::size_t max_output = 65536);

// Absolute path of an executable on $PATH; none when there is none. `name` with a slash is looked
// at as it is.
[[nodiscard]] std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace sweep::util
