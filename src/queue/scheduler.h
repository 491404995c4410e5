#pragma once

#include "config/matrix.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sweep::queue {

// Which item runs where. Pure: knows neither processes nor time. Deterministic for one order of
// calls.
class Scheduler {
 public:
  // `pending` in the order in which they should start; priorities by model, 0 where there is none.
  explicit Scheduler(std::vector<config::WorkItem> pending,
                     std::map<std::string, std::int64_t> priorities = {});

  // The next item for an idle worker: of the models with work left, those of the highest priority,
  // and of these the one with the fewest running items (ties: order of `pending`). None when
  // nothing is pending or no new work may start.
  [[nodiscard]] std::optional<config::WorkItem> next(int worker);

  // One more, after all others.
  void add(config::WorkItem item) { pending_.push_back(std::move(item)); }

  // The worker's item has its result.
  void finished(int worker);

  // dropped: the item stays in progress, since none of its model's starts any more.
  enum class Loss { nothing, requeued, given_up, dropped };

  struct Lost {
    Loss loss = Loss::nothing;
    config::WorkItem item;  // unless nothing
  };

  // The worker died, or its device failed: its item goes to the end of the queue once; the second
  // time it is given up.
  [[nodiscard]] Lost lost(int worker);

  // No item of this model starts any more; returns how many will not.
  std::size_t drop(const std::string& model);

  // No item starts any more; running ones go on.
  void stop() { stopped_ = true; }

  [[nodiscard]] std::size_t pending() const { return pending_.size(); }

  [[nodiscard]] std::size_t running() const { return running_.size(); }

  // Nothing runs, and nothing will start.
  [[nodiscard]] bool done() const { return running_.empty() && (pending_.empty() || stopped_); }

  [[nodiscard]] const std::map<int, config::WorkItem>& assignments() const { return running_; }

 private:
  std::vector<config::WorkItem> pending_;
  std::map<std::string, std::int64_t> priorities_;  // by model
  std::map<int, config::WorkItem> running_;
  std::map<std::string, int> losses_;  // by item id
  std::set<std::string> dropped_;      // models
  bool stopped_ = false;
};

}  // namespace sweep::queue
