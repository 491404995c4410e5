#include "queue/scheduler.h"

#include <algorithm>
#include <utility>

namespace sweep::queue {

Scheduler::Scheduler(std::vector<config::WorkItem> pending,
                     std::map<std::string, std::int64_t> priorities)
    : pending_(std::move(pending)), priorities_(std::move(priorities)) {}

std::optional<config::WorkItem> Scheduler::next(int worker) {
  if (stopped_ || pending_.empty()) {
    return std::nullopt;
  }
  std::map<std::string, int> busy;
  for (const auto& [id, item] : running_) {
    ++busy[item.model];
  }
  const auto rank = [&](const config::WorkItem& item) {
    const auto found = priorities_.find(item.model);
    return std::pair(found == priorities_.end() ? 0 : -found->second, busy[item.model]);
  };
  const auto chosen = std::ranges::min_element(pending_, {}, rank);
  config::WorkItem item = *chosen;
  pending_.erase(chosen);
  running_[worker] = item;
  return item;
}

void Scheduler::finished(int worker) {
  running_.erase(worker);
}

Scheduler::Lost Scheduler::lost(int worker) {
  const auto found = running_.find(worker);
  if (found == running_.end()) {
    return {};
  }
  Lost lost{Loss::requeued, std::move(found->second)};
  running_.erase(found);
  if (dropped_.contains(lost.item.model)) {
    lost.loss = Loss::dropped;
  } else if (++losses_[lost.item.id()] >= 2) {
    lost.loss = Loss::given_up;
  } else {
    pending_.push_back(lost.item);
  }
  return lost;
}

std::size_t Scheduler::drop(const std::string& model) {
  dropped_.insert(model);
  return std::erase_if(pending_, [&](const config::WorkItem& item) { return item.model == model; });
}

}  // namespace sweep::queue
