// How long the report of a run of many items takes, and how much memory and disk.
//   bench_report                  figures of 10,000 items (SWEEP_BENCH_ITEMS)
//   bench_report FOLDER ITEMS     only makes such a run
#include "../support/synthetic_run.h"
#include "record/run_dir.h"
#include "report/build.h"
#include "util/file.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using namespace sweep;

struct Cost {
  double wall = 0, user = 0, system = 0;  // seconds
  double peak_mib = 0;
  bool good = false;
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// `sweep report RUN` in a process of its own. It ends with 3, since two of the files that
// make_synthetic_run() makes cannot be read.
Cost make_report(const fs::path& run) {
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, STDOUT_FILENO);
    ::dup2(null, STDERR_FILENO);
    ::execl(SWEEP_BINARY, "sweep", "report", run.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  return {wall.count(),
          seconds(used.ru_utime),
          seconds(used.ru_stime),
          static_cast<double>(used.ru_maxrss) / 1024,
          WIFEXITED(status) && WEXITSTATUS(status) == 3};
}

void line(const std::string& figure, double measured, const char* target) {
  std::cout << fmt::format("{:<44} {:>10.2f}  {}\n", figure, measured, target) << std::flush;
}

void lines(const std::string& what, const Cost& cost, const char* target) {
  if (!cost.good) {
    std::cout << fmt::format("{:<44} {:>10}  {}\n", what, "failed", target);
    return;
  }
  line(what + ", s", cost.wall, target);
  line("  user and system time, s", cost.user + cost.system, "");
  line("  memory at most, MiB", cost.peak_mib, "1024");
}

// What a sweep does when it saves an item.
void change_one(const fs::path& folder) {
  const record::RunDir run(folder);
  const fs::path file = run.trajectory_files().back();
  record::Trajectory t = run.load(file);
  t.error += "changed";
  record::write_whole(file, record::to_json(t).dump(1));
}

// `builder` once more in this process, as the live server does while a reader waits.
Cost rebuild(report::Builder& builder) {
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  const auto begin = std::chrono::steady_clock::now();
  const report::Built built = builder.build();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  ::getrusage(RUSAGE_SELF, &after);
  return {wall.count(),
          seconds(after.ru_utime) - seconds(before.ru_utime),
          seconds(after.ru_stime) - seconds(before.ru_stime),
          static_cast<double>(after.ru_maxrss) / 1024,
          built.pages > 0};
}

double tree_mib(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    bytes += entry.is_regular_file() ? entry.file_size() : 0;
  }
  return static_cast<double>(bytes) / (1 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  support::SyntheticRun what;
  if (argc == 3) {
    what.items = std::strtoull(argv[2], nullptr, 10);
    support::make_synthetic_run(argv[1], what);
    return 0;
  }
  const char* items = std::getenv("SWEEP_BENCH_ITEMS");
  what.items = items == nullptr ? 10000 : std::strtoull(items, nullptr, 10);
  const util::TempDir scratch;
  const fs::path run = scratch.path() / "synthetic";
  support::make_synthetic_run(run, what);
  const std::string of = fmt::format("report of {} items", what.items);
  line(of + ", MiB read", tree_mib(run), "");
  lines(of, make_report(run), "10");
  line("  MiB written", tree_mib(run / "report"), "");
  line("  index.html, MB",
       static_cast<double>(fs::file_size(run / "report/index.html")) * 1e-6,
       "1.5");
  lines(of + ", nothing changed", make_report(run), "1");
  change_one(run);
  lines(of + ", one changed", make_report(run), "1");
  report::Builder builder{record::RunDir(run)};
  (void)builder.build();
  change_one(run);
  lines(of + ", one changed, served", rebuild(builder), "1");
}
