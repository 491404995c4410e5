#include "queue/supervisor.h"

#include "util/error.h"

#include <algorithm>
#include <chrono>
#include <csignal>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

namespace sweep::queue {

namespace {

// From the first stop request until unfinished workers are killed; the rest of the 5 s is for the
// report and the summary.
constexpr double kStopSeconds = 4;
constexpr double kMonth = 30 * 24 * 3600.0;
constexpr int kTickMilliseconds = 200;

}  // namespace

Supervisor::Supervisor(Setup setup,
                       const record::RunDir& run,
                       record::Ledger& ledger,
                       StopSignals& signals,
                       View& view)
    : setup_(std::move(setup)),
      run_(run),
      ledger_(ledger),
      signals_(signals),
      view_(view),
      scheduler_(pending_of(setup_.tasks)),
      self_(util::Self::open(setup_.program)),
      started_(now()),
      budget_(setup_.budget_usd, setup_.budget_tokens, ledger.rows()) {
  state_.run = run.folder().filename().string();
  state_.url = setup_.url;
  state_.budget = setup_.budget_usd;
  for (const record::Row& row : ledger.rows()) {
    duplicates_.note(row);
  }
  for (const Task& task : setup_.tasks) {
    ++row_of(task.item.model).items;
  }
  for (const Task& task : setup_.tasks) {
    if (task.action != Action::finished) {
      continue;
    }
    count(task.item, task.outcome);
    const Past past = past_of(run, task.item);
    ModelRow& row = row_of(task.item.model);
    row.tokens += past.trajectory->llm_total_tokens;
    row.price_known = row.price_known && past.trajectory->cost_usd.has_value();
    row.cost += past.trajectory->cost_usd.value_or(0);
    if (task.outcome == "correct" && past.trajectory->final_result &&
        past.trajectory->final_result->speedup) {
      row.speedups.push_back(past.trajectory->final_result->speedup->point);
    }
  }
  for (std::size_t i = 0; i < std::min(setup_.workers.size(), scheduler_.pending()); ++i) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->id = static_cast<int>(i);
  }
  state_.lanes.resize(workers_.size());
}

Supervisor::~Supervisor() = default;

double Supervisor::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Supervisor::say(const std::string& line) {
  state_.events.push_back(line);
  view_.event(line);
}

void Supervisor::start(Worker& worker) {
  auto [mine, theirs] = wire::Channel::make_pair();
  util::SpawnSpec spec;
  spec.argv = {"sweep", "__worker"};
  spec.env = setup_.worker_env;
  spec.fds = {{theirs.get(), wire::Channel::kRoleFd}, {STDERR_FILENO, STDERR_FILENO}};
  spec.deadline = kMonth;
  worker.process.emplace(util::Process::start_self(self_, spec));
  worker.channel.emplace(std::move(mine), "worker", kMaxMessage);
  worker.channel->send(to_json(setup_.workers[static_cast<std::size_t>(worker.id)]));
}

Supervisor::End Supervisor::run() {
  check_budget();
  for (const auto& worker : workers_) {
    if (!scheduler_.done()) {
      start(*worker);
    }
  }
  while (!scheduler_.done()) {
    poll_once();
    check_stop();
    check_deadlines();
    state_.seconds = now() - started_;
    state_.wasted = budget_.wasted_usd();
    view_.update(state_);
    const bool alive = std::any_of(
        workers_.begin(), workers_.end(), [](const auto& worker) { return !worker->retired; });
    if (!alive && scheduler_.running() == 0) {
      break;
    }
  }
  for (const auto& worker : workers_) {
    if (worker->channel && !worker->retired) {
      try {
        worker->channel->send({{"type", "stop"}});
        (void)worker->process->wait_for(2);
      } catch (const wire::WireError&) {
        // It ended by itself; its destructor reaps it.
      }
    }
  }
  state_.seconds = now() - started_;
  view_.finish();
  return state_.stopping            ? End::interrupted
         : over_budget_             ? End::budget
         : !stopped_models_.empty() ? End::refused
                                    : End::done;
}

void Supervisor::poll_once() {
  std::vector<pollfd> waits{{signals_.fd(), POLLIN, 0}};
  std::vector<Worker*> of;
  for (const auto& worker : workers_) {
    if (worker->channel && !worker->retired) {
      waits.push_back({worker->channel->fd(), POLLIN, 0});
      of.push_back(worker.get());
    }
  }
  if (::poll(waits.data(), waits.size(), kTickMilliseconds) < 0 && errno != EINTR) {
    util::throw_errno("poll", "supervisor");
  }
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (waits[i + 1].revents != 0) {
      read(*of[i]);
    }
  }
}

void Supervisor::read(Worker& worker) {
  nlohmann::json body;
  try {
    body = worker.channel->receive(30).body;
  } catch (const wire::WireError& error) {
    lost(worker, error.what());
    return;
  }
  try {
    handle(worker, body);
  } catch (const wire::WireError& error) {
    lost(worker, error.what());
  }
}

void Supervisor::lost(Worker& worker, const std::string& why) {
  worker.process->kill_group();
  const util::ExitStatus status = worker.process->wait();
  worker.channel.reset();
  worker.process.reset();
  worker.asked.reset();
  worker.wait_since.reset();
  budget_.release(worker.id);
  duplicates_.release(worker.id);
  ask_again();
  state_.lanes[static_cast<std::size_t>(worker.id)] = {};
  const Scheduler::Lost gone = scheduler_.lost(worker.id);
  if (state_.stopping) {
    worker.retired = true;
    return;
  }
  const std::string reason = fmt::format("worker {} ended ({}; {})", worker.id, status.text(), why);
  if (gone.loss == Scheduler::Loss::requeued) {
    say(label(gone.item) + ": " + reason + "; the item goes on in a new worker");
  } else if (gone.loss == Scheduler::Loss::given_up) {
    give_up(gone.item, reason);
  }
  if (++worker.deaths > 3) {
    worker.retired = true;
    say(reason + ": it died too often and stays away");
    return;
  }
  if (scheduler_.pending() > 0) {
    start(worker);
  } else {
    worker.retired = true;
  }
}

void Supervisor::begin_stop() {
  state_.stopping = true;
  stop_since_ = now();
  scheduler_.stop();
  say("stopping: running items are left where they are");
  ask_again();
  for (const auto& worker : workers_) {
    if (worker->process && !worker->retired) {
      worker->process->send_signal(SIGTERM);
    }
  }
}

void Supervisor::check_stop() {
  const int requests = signals_.requests();
  if (requests > 0 && !state_.stopping) {
    begin_stop();
  }
  if (state_.stopping && (requests > 1 || now() - stop_since_ > kStopSeconds)) {
    for (const auto& worker : workers_) {
      if (worker->process && !worker->retired) {
        lost(*worker, "killed by the stop");
      }
    }
  }
}

void Supervisor::check_deadlines() {
  if (setup_.item_timeout <= 0) {
    return;
  }
  // The worker ends an item at its own limit and saves why; only one that no longer does so is
  // killed, a minute later.
  for (const auto& worker : workers_) {
    const bool busy = scheduler_.assignments().contains(worker->id);
    const bool waits = worker->wait_since || worker->asked;
    if (busy && !waits && worker->process &&
        now() - worker->item_since > setup_.item_timeout + 60) {
      lost(*worker, fmt::format("no end within {:.0f} s", setup_.item_timeout + 60));
    }
  }
}

}  // namespace sweep::queue
