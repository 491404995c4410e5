// What the supervisor costs beside its workers, and how long a start takes that finds everything
// done. usage: bench_queue [FOLDER], where the ledger is written; the current one by default.
#include "../support/lane_simulation.h"
#include "queue/prepare.h"
#include "queue/summary.h"
#include "queue/supervisor.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace sweep;

constexpr int kWorkers = 64;
constexpr int kRequests = 10;        // of an item in the supervisor's figure
constexpr double kThinkSeconds = 3;  // before each; models mostly take longer
constexpr std::size_t kItems = 10000;

// As a request's row of a real run: 1 KiB of facts.
nlohmann::json facts() {
  return {{"usage", {{"input_tokens", 5000}, {"output_tokens", 900}}},
          {"status", 200},
          {"exchange", std::string(64, 'e')},
          {"text", std::string(850, 'x')}};
}

void figure(const char* name, const std::string& measured, const char* target) {
  std::printf("%-44s %10s  %s\n", name, measured.c_str(), target);
  std::fflush(stdout);
}

std::string number(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

double cpu_seconds() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// Rows a second that are on the disk before anybody is told: `group` rows an fsync.
struct Rate {
  double rows = 0;  // a second
  double cpu = 0;   // share of the time in which this process computed
};

Rate rows_per_second(const std::filesystem::path& folder, int group) {
  const util::TempDir dir("bench-ledger", folder);
  record::Ledger ledger(dir.path() / "ledger.jsonl");
  const nlohmann::json data{{"index", 1}, {"key", std::string(64, 'k')}, {"facts", facts()}};
  util::RealClock clock;
  constexpr double kSeconds = 3;
  const double begin = clock.monotonic(), used = cpu_seconds();
  int rows = 0;
  while (clock.monotonic() - begin < kSeconds) {
    for (int i = 0; i < group; ++i, ++rows) {
      (void)ledger.stage(record::kind::request, "popcorn2/model/level1/3", data);
    }
    ledger.commit();
  }
  const double seconds = clock.monotonic() - begin;
  return {rows / seconds, (cpu_seconds() - used) / seconds};
}

struct Finished {
  queue::Plan plan;
  std::size_t bytes = 0;
};

// A run of 10,000 items that have ended, with four rows and a trajectory each.
Finished finished_run(const record::RunDir& run) {
  Finished out;
  run.create();
  record::Ledger ledger(run.ledger_file());
  (void)ledger.append(record::kind::run_start, "", {{"identity_sha256", std::string(64, 'a')}});
  record::Trajectory t;
  t.outcome = "correct";
  t.cost_usd = 0.1;
  t.final_result.emplace().verdict = "PASS_INCONCLUSIVE";
  for (std::size_t i = 0; i < kItems; ++i) {
    config::WorkItem item{"m" + std::to_string(i % 10), "v", "1", std::to_string(i / 10), 1};
    const std::string id = item.id();
    const auto file = run.trajectory_file(queue::name_of(item));
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "{}";  // a start does not read it
    (void)ledger.stage(record::kind::item_start, id, {{"file", file.string()}});
    (void)ledger.stage(record::kind::request, id, {{"index", 0}, {"facts", facts()}});
    (void)ledger.stage(record::kind::tool, id, {{"index", 0}, {"facts", facts()}});
    (void)ledger.stage(record::kind::item_end,
                       id,
                       {{"outcome", "correct"},
                        {"file", file.string()},
                        {"trajectory_sha256", std::string(64, 'b')},
                        {"facts", queue::facts_json(queue::ending_of(t))}});
    out.plan.chosen.push_back(std::move(item));
  }
  ledger.commit();
  out.bytes = std::filesystem::file_size(run.ledger_file());
  return out;
}

void scan(const std::filesystem::path& folder) {
  const util::TempDir dir("bench-run", folder);
  const record::RunDir run(dir.path() / "r");
  const Finished made = finished_run(run);
  util::RealClock clock;
  const double begin = clock.monotonic(), used = cpu_seconds();
  const record::Verification ledger = queue::ledger_of(run);
  const double read = clock.monotonic();
  const auto tasks = queue::tasks_of(made.plan, run, ledger.read, queue::Retry::none);
  const double scanned = clock.monotonic();
  const queue::Final final = queue::final_of(made.plan.chosen, run, ledger.read, {});
  const double end = clock.monotonic(), cpu = cpu_seconds() - used;
  if (!ledger.intact || !queue::pending_of(tasks).empty() || final.left != 0) {
    throw util::InfraError({"bench", "the run is not finished", ""}, "E_BENCH_QUEUE");
  }
  figure("10,000 finished items scanned and skipped, s", number(end - begin, 2), "1");
  std::printf(
      "  %.2f s of processor time; of it the ledger, %.0f MB: %.2f s; tasks %.3f s; final table "
      "%.3f s\n",
      cpu,
      static_cast<double>(made.bytes) / 1e6,
      read - begin,
      scanned - read,
      end - scanned);
}

record::Trajectory think(const config::WorkItem& item, record::ItemServices& services) {
  record::Trajectory t = queue::named(item, "r");
  for (std::int64_t i = 0; i < kRequests; ++i) {
    util::RealClock().sleep(kThinkSeconds);
    record::Finished done;
    done.index = i;
    done.key_sha256 = std::string(64, 'k');
    done.facts = facts();
    (void)services.record_request(done);
    services.progress({i, "model", "", 10, 0.5, -1});
  }
  t.outcome = "incorrect";
  t.finished_at = "2026-01-01T00:00:00.000Z";
  return t;
}

// This program is its own workers' program, too.
int worker() {
  queue::StopSignals signals;
  wire::Channel channel(util::Fd(wire::Channel::kRoleFd), "supervisor", queue::kMaxMessage);
  queue::serve(channel, signals, [](const auto&, const auto& item, const auto&, auto& services) {
    return think(item, services);
  });
  return 0;
}

void supervise(const std::filesystem::path& folder) {
  const util::TempDir dir("bench-run", folder);
  const record::RunDir run(dir.path() / "runs" / "r");
  run.create();
  record::Ledger ledger(run.ledger_file());
  queue::Supervisor::Setup setup;
  queue::WorkerSetup one;
  one.toml =
      "[run]\nname = \"r\"\nproblems = [\"x/*\"]\n[[models]]\nname = \"m\"\n"
      "base_url = \"http://127.0.0.1:1/v1\"\n";
  one.file = "x.toml";
  one.root = dir.path().string();
  one.run_folder = run.folder().string();
  setup.workers.assign(kWorkers, one);
  for (int i = 0; i < kWorkers; ++i) {
    setup.tasks.push_back({{"m", "v", "x", std::to_string(i), 1}, queue::Action::run, {}});
  }
  setup.worker_env = {"SWEEP_LOCK_DIR=" + dir.path().string()};
  setup.program = "/proc/self/exe";
  queue::StopSignals signals;
  queue::View view(true);
  queue::Supervisor supervisor(std::move(setup), run, ledger, signals, view);
  util::RealClock clock;
  const double begin = clock.monotonic(), used = cpu_seconds();
  (void)supervisor.run();
  const double wall = clock.monotonic() - begin, cpu = cpu_seconds() - used;
  figure("supervisor with 64 workers, % of a core", number(100 * cpu / wall, 2), "1");
  std::printf(
      "  %d requests recorded in %.1f s, %.2f s of processor time, starts of workers included\n",
      kWorkers * kRequests,
      wall,
      cpu);
}

void simulate() {
  const queue::testing::LaneLoad load;
  const queue::testing::LaneUse use = queue::testing::LaneSimulation(load).run();
  figure("8 simulated lanes x 32 agents, % busy", number(100 * use.busy, 1), "95");
  std::printf(
      "  %d items of %d turns, answers of %.0f s, judgements of %.0f s; fake clock; to the last "
      "item's end %.1f %%\n",
      load.items,
      load.turns,
      load.think,
      load.judgement,
      100 * use.busy_to_end);
}

bool is_worker() {
  std::ifstream file("/proc/self/cmdline");
  std::string program, role;
  std::getline(file, program, '\0');
  std::getline(file, role, '\0');
  return role == "__worker";
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (is_worker()) {
      return worker();
    }
    // Workers have another current folder.
    const auto folder = std::filesystem::absolute(count > 1 ? arguments[1] : ".");
    scan(folder);
    const Rate grouped = rows_per_second(folder, kWorkers);
    const Rate single = rows_per_second(folder, 1);
    figure("ledger, 64 rows an fsync, rows/s", number(grouped.rows, 0), "5000");
    std::printf("  %.0f us of processor time a row; one row an fsync: %.0f rows/s\n",
                1e6 * grouped.cpu / grouped.rows,
                single.rows);
    supervise(folder);
    simulate();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "bench_queue: " << error.what() << '\n';
    return 3;
  }
}
