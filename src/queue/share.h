#pragma once

#include "config/config.h"
#include "config/matrix.h"
#include "queue/sweep.h"
#include "record/chains.h"
#include "record/claims.h"
#include "record/ledger.h"
#include "record/run_dir.h"
#include "util/clock.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sweep::queue {

// The limits of one of `tasks` equal parts: requests and tokens a minute, requests at a time.
void divide_limits(config::SweepConfig& config, std::int64_t tasks);

// Into so many parts the limits can be divided, and which limit says so; none: no limit does.
struct MostTasks {
  std::int64_t tasks = 0;
  std::string limit;  // "models.NAME rpm = 3"
};

[[nodiscard]] std::optional<MostTasks> most_tasks(const config::SweepConfig& config);

// One task's part in a run that several tasks work on: its chain, its claims, its part of the
// budget. Made by one process; a requeued task is another one with a chain of its own.
class Share {
 public:
  // Makes the sign of life and an empty chain, `ledger.TASK.jsonl`; where there is one already,
  // TASKr1, r2 and so on. InfraError E_RUN_WRITE.
  Share(const record::RunDir& run, const TaskOptions& options, util::Clock& clock);
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  ~Share();

  [[nodiscard]] const std::string& task() const { return task_; }

  // Items' files of this task: its own folder below claims/, all else is the run's.
  [[nodiscard]] const record::RunDir& own() const { return own_; }

  [[nodiscard]] record::Ledger& ledger() { return *ledger_; }

  // Begins the chain after the root's last row. `data` as the row says besides.
  void begin(const record::Verification& root, nlohmann::json data);

  enum class Claimed { mine, elsewhere, finished, later };

  // later: its holder gave no sign of life since the first look; ask again after some seconds.
  [[nodiscard]] Claimed claim(const config::WorkItem& item);

  [[nodiscard]] std::int64_t epoch_of(const config::WorkItem& item) const {
    return claims_->epoch_of(item.id());
  }

  // Renews what is due; ids of items that went to another task.
  [[nodiscard]] std::vector<std::string> renew() { return claims_->renew(); }

  // Asked for by `sweep stop`, or because the run was closed under this task.
  [[nodiscard]] record::StopAsked stop_asked() const;

  // Publishes an item's files from own(). False: it went to another task, and nothing counts.
  [[nodiscard]] bool publish(const config::WorkItem& item);

  // The item's rows in all chains of the run, in order.
  [[nodiscard]] std::vector<record::Row> rows_of(const std::string& item) const;

  // Of all chains, before this one.
  [[nodiscard]] const std::vector<record::Row>& before() const { return before_; }

  // This task's part of what is left of a budget, and what earlier processes of it spent.
  struct Part {
    std::optional<double> usd;
    std::optional<std::int64_t> tokens;
    std::vector<record::Row> spent;
  };

  [[nodiscard]] Part part_of(const config::Run& run) const;

 private:
  record::RunDir run_;
  TaskOptions options_;
  std::string task_;
  record::RunDir own_;
  std::unique_ptr<record::Claims> claims_;
  std::unique_ptr<record::Ledger> ledger_;
  std::vector<record::Row> before_;
  record::Chains chains_;                       // as they were at the beginning
  std::map<std::string, std::int64_t> looked_;  // by item: when its claim was renewed last
};

}  // namespace sweep::queue
