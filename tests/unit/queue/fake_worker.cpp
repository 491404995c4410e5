#include "fake_worker.h"

#include "queue/worker.h"
#include "record/run_dir.h"
#include "util/error.h"
#include "util/file.h"

#include <csignal>
#include <cstdlib>
#include <fstream>

#include <unistd.h>

// This test program is also the program of its workers: started as "sweep __worker" it serves fake
// items and never reaches main().
namespace sweep::queue::testing {
namespace {

class FakeItem {
 public:
  FakeItem(const config::SweepConfig& config,
           const config::WorkItem& item,
           const device::Id& device,
           record::ItemServices& services)
      : folder_(config.run.runs_dir / "r"), item_(item), device_(device), services_(services) {
    trajectory_.model_name = item.model;
    trajectory_.variant = item.variant;
    trajectory_.level = item.level;
    trajectory_.problem_id = item.problem;
    trajectory_.cost_usd = 0.5;
  }

  record::Trajectory run() {
    const std::string& what = item_.problem;
    if (what == "throws") {
      throw util::InfraError({"judge", "broken", "mend it"}, "E_TEST");
    }
    if (what.starts_with("refused")) {
      record::TryEnd end;
      end.result = record::TryEnd::Result::refused;
      end.text = "authentication: wrong key";
      while (const auto permit = services_.permit({10, 1})) {
        (void)permit->settle(end);
      }
      return trajectory_;
    }
    if (what.starts_with("down")) {
      record::TryEnd end;
      end.result = record::TryEnd::Result::transient;
      end.reached = what.ends_with("500");
      end.text = end.reached ? "HTTP 500 from h:1 (busy)" : "cannot reach h:1 (connection refused)";
      for (int i = 0; i < 6; ++i) {
        if (const auto permit = services_.permit({10, 1})) {
          (void)permit->settle(end);
        }
      }
      end = {};
      end.result = record::TryEnd::Result::answered;
      if (const auto permit = services_.permit({10, 1})) {
        (void)permit->settle(end);
      }
    }
    const bool again = request(0);
    if (what == "full") {
      throw util::InfraError({"runs/r/x", "write: No space left on device", "free space"},
                             "E_RUN_WRITE");
    }
    if (what.starts_with("faulty") && device_.index != 9) {
      trajectory_.outcome = "infra_error";
      trajectory_.error = "cuda: no answer";
      trajectory_.error_code = agent::kDeviceFault;
      return trajectory_;
    }
    if (what == "held") {
      services_.held("waiting for cuda:0");
      (void)::usleep(3000000);
      services_.held("");
    }
    while (what == "sleeps" && !again) {
      (void)::usleep(100000);
    }
    if (what == "dies_always" || (what == "dies" && !again)) {
      (void)request(1);
      (void)::kill(::getpid(), SIGKILL);
    }
    if (what == "garbage" && !again) {
      util::write_all(wire::Channel::kRoleFd, std::string(64, '\xff'), "test");
      (void)::pause();
    }
    if (what == "interrupts" && !again) {
      (void)::kill(::getppid(), SIGINT);
      while (!services_.stopping()) {
        (void)::usleep(2000);
      }
      return trajectory_;
    }
    if ((what == "deaf" || what == "impatient") && !again) {
      (void)::kill(::getppid(), SIGINT);
      if (what == "impatient") {
        (void)::usleep(300000);
        (void)::kill(::getppid(), SIGINT);
      }
      while (true) {
        (void)::usleep(100000);
      }
    }
    (void)request(1);
    (void)request(2);
    if (refused_) {
      return trajectory_;
    }
    trajectory_.outcome = "correct";
    trajectory_.finished_at = "2026-01-01T00:00:00.000Z";
    return trajectory_;
  }

 private:
  // True when it was taken from the ledger.
  bool request(std::int64_t index) {
    const std::string key = item_.problem + std::to_string(index);
    const auto finished = services_.finished_request(index);
    if (finished && finished->key_sha256 == key) {
      return true;
    }
    if (!services_.within_budget({10, index < 2 ? 200'000'000 : 100'000'000})) {
      refused_ = true;
      return false;
    }
    util::append_durable(folder_ / kAsked, item_.id() + " " + std::to_string(index) + "\n");
    record::Finished done;
    done.index = index;
    done.key_sha256 = key;
    done.output_sha256 = services_.put_artifact("answer " + key);
    done.facts["cost_nano_usd"] = index < 2 ? 200'000'000 : 100'000'000;
    (void)services_.record_request(done);
    services_.progress({index, "model", "", 10, 0.5});
    trajectory_.llm_total_tokens += 10;
    services_.save(trajectory_);
    return false;
  }

  std::filesystem::path folder_;
  const config::WorkItem& item_;
  device::Id device_;
  record::ItemServices& services_;
  record::Trajectory trajectory_;
  bool refused_ = false;
};

int fake_worker() {
  try {
    StopSignals signals;
    wire::Channel channel(util::Fd(wire::Channel::kRoleFd), "supervisor", kMaxMessage);
    serve(channel,
          signals,
          [](const auto& config, const auto& item, const auto& around, auto& services) {
            return FakeItem(config, item, around.device, services).run();
          });
    return 0;
  } catch (const std::exception&) {
    return 3;
  }
}

__attribute__((constructor)) void become_worker() {
  std::ifstream file("/proc/self/cmdline");
  std::string program;
  std::string role;
  std::getline(file, program, '\0');
  std::getline(file, role, '\0');
  if (role == "__worker") {
    std::_Exit(fake_worker());
  }
}

}  // namespace
}  // namespace sweep::queue::testing
