// The supervisor's part in a run that several tasks share: which items are its own.
#include "queue/resume.h"
#include "queue/supervisor.h"

#include <algorithm>

namespace sweep::queue {

namespace {

constexpr double kAskSeconds = 1;  // between looks at claims of tasks that may be dead

}  // namespace

std::vector<record::Row> Supervisor::rows_of(const config::WorkItem& item) const {
  const std::string id = item.id();
  if (setup_.share != nullptr && setup_.share->epoch_of(item) > 1) {
    return setup_.share->rows_of(id);
  }
  std::vector<record::Row> rows;
  for (const record::Row& row : setup_.before) {
    if (row.item == id) {
      rows.push_back(row);
    }
  }
  const auto& own = ledger_.rows();
  std::copy_if(own.begin() + static_cast<std::ptrdiff_t>(first_row_),
               own.end(),
               std::back_inserter(rows),
               [&](const record::Row& row) { return row.item == id; });
  return rows;
}

std::optional<config::WorkItem> Supervisor::take(Worker& worker) {
  while (auto item = scheduler_.next(worker.id)) {
    if (setup_.share == nullptr || setup_.share->epoch_of(*item) > 0) {
      return item;
    }
    const Share::Claimed claimed = setup_.share->claim(*item);
    if (claimed == Share::Claimed::mine) {
      if (setup_.share->epoch_of(*item) > 1) {
        say(label(*item) + ": taken over from a task that gave no sign of life");
      }
      return item;
    }
    scheduler_.finished(worker.id);
    if (claimed == Share::Claimed::later) {
      deferred_.push_back(std::move(*item));
    } else {
      ++elsewhere_;
    }
  }
  return std::nullopt;
}

void Supervisor::ask_for_deferred() {
  std::erase_if(deferred_, [&](const config::WorkItem& item) {
    return over_budget_ || stopped_models_.contains(item.model);
  });
  if (deferred_.empty() || now() - asked_deferred_ < kAskSeconds) {
    return;
  }
  asked_deferred_ = now();
  std::vector<config::WorkItem> free;
  std::erase_if(deferred_, [&](const config::WorkItem& item) {
    const Share::Claimed claimed = setup_.share->claim(item);
    if (claimed == Share::Claimed::mine) {
      free.push_back(item);
    } else if (claimed != Share::Claimed::later) {
      ++elsewhere_;
    }
    return claimed != Share::Claimed::later;
  });
  for (const config::WorkItem& item : free) {
    say(label(item) + ": taken over from a task that gave no sign of life");
    scheduler_.add(item);
  }
  // Workers that found nothing wait for a word.
  for (const auto& worker : workers_) {
    if (worker->channel && !worker->retired && !scheduler_.assignments().contains(worker->id) &&
        worker->idle && (scheduler_.pending() > 0 || deferred_.empty())) {
      worker->idle = false;
      hand_out(*worker);
    }
  }
}

void Supervisor::abandon(Worker& worker) {
  say(label_of(worker) + ": another task has it; what was done here does not count");
  ++elsewhere_;
  scheduler_.finished(worker.id);
  --worker.deaths;  // lost() counts one that is none
  lost(worker, "its item went to another task");
}

void Supervisor::tick_share() {
  if (setup_.share == nullptr || state_.stopping) {
    return;
  }
  for (const std::string& id : setup_.share->renew()) {
    for (const auto& worker : workers_) {
      const auto assigned = scheduler_.assignments().find(worker->id);
      if (assigned != scheduler_.assignments().end() && assigned->second.id() == id) {
        abandon(*worker);
      }
    }
  }
  ask_for_deferred();
  const record::StopAsked asked = setup_.share->stop_asked();
  if (asked != record::StopAsked::no) {
    stop_text_ = "`sweep stop` asked for it";
    begin_stop();
  }
}

}  // namespace sweep::queue
