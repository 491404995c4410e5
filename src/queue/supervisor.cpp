#include "queue/supervisor.h"

#include "util/clock.h"
#include "util/error.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

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

// lanes.size(): it is none of them.
std::size_t lane_of(const device::Id& device, const std::vector<device::Id>& lanes) {
  return static_cast<std::size_t>(std::ranges::find_if(lanes,
                                                       [&](const device::Id& one) {
                                                         return one.kind == device.kind &&
                                                                one.index == device.index;
                                                       }) -
                                  lanes.begin());
}

std::vector<device::Id> lanes_of(const std::vector<WorkerSetup>& workers) {
  std::vector<device::Id> lanes;
  for (const WorkerSetup& worker : workers) {
    if (lane_of(worker.surroundings.device, lanes) == lanes.size()) {
      lanes.push_back(worker.surroundings.device);
    }
  }
  return lanes;
}

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
      scheduler_(pending_of(setup_.tasks), setup_.priorities),
      self_(util::Self::open(setup_.program)),
      lane_names_(lanes_of(setup_.workers)),
      health_(lane_names_.size()),
      live_(live_file(run.items_folder())),
      started_(now()),
      budget_(setup_.budget_usd,
              setup_.budget_tokens,
              setup_.spent            ? *setup_.spent
              : setup_.before.empty() ? ledger.rows()
                                      : setup_.before) {
  state_.run = run.folder().filename().string();
  state_.url = setup_.url;
  state_.budget = setup_.budget_usd;
  first_row_ = setup_.before.empty() ? 0 : ledger.rows().size();
  for (const record::Row& row : setup_.before.empty() ? ledger.rows() : setup_.before) {
    duplicates_.note(row);
  }
  for (const Task& task : setup_.tasks) {
    ++row_of(task.item.model).items;
  }
  const Endings endings(setup_.before.empty() ? ledger.rows() : setup_.before);
  for (const Task& task : setup_.tasks) {
    if (task.action == Action::finished) {
      count_finished(task, endings);
    }
  }
  // One for each item to start with, and one for each device that an item may have to move to.
  const std::size_t most = std::max(scheduler_.pending(), lane_names_.size());
  for (std::size_t i = 0; i < std::min(setup_.workers.size(), most); ++i) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->id = static_cast<int>(i);
    workers_.back()->retired = i >= scheduler_.pending();
    workers_.back()->lane = lane_of(setup_.workers[i].surroundings.device, lane_names_);
  }
  state_.lanes.resize(workers_.size());
}

Supervisor::~Supervisor() = default;

double Supervisor::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Supervisor::say(const std::string& line) {
  state_.events.push_back(line);
  if (setup_.log != nullptr) {
    setup_.log->write(line);
  }
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
    if (!scheduler_.done() && !worker->retired) {
      start(*worker);
    }
  }
  while (!scheduler_.done() || !deferred_.empty()) {
    poll_once();
    tick_share();
    check_stop();
    check_deadlines();
    state_.seconds = now() - started_;
    state_.wasted = budget_.wasted_usd();
    view_.update(state_);
    live_.say(state_, util::RealClock().wall());
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
         : no_device()              ? End::devices
         : !stopped_models_.empty() ? End::refused
                                    : End::done;
}

void Supervisor::poll_once() {
  std::vector<pollfd> waits{{signals_.fd(), POLLIN, 0}};
  waits.push_back({probe_ ? probe_->probe->fd() : -1, POLLIN, 0});
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
    if (waits[i + 2].revents != 0) {
      read(*of[i]);
    }
  }
  commit_rows();
  check_probe(waits[1].revents != 0);
}

// Everything that came in one round is on the disk by one fsync before any of it is told.
void Supervisor::commit_rows() {
  ledger_.commit();
  for (const Staged& staged : std::exchange(staged_, {})) {
    if (staged.worker->channel) {
      tell(*staged.worker, {{"hash", staged.row.hash}});
    }
    duplicates_.note(staged.row);
    if (staged.row.kind == record::kind::request) {
      note_request(*staged.worker, staged.row);
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
  worker.parked = false;
  worker.limited = false;
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
  if (++worker.deaths > kMostDeaths) {
    worker.retired = true;
    say(reason + ": it died too often and stays away");
    return;
  }
  const bool more = scheduler_.pending() > 0 || !deferred_.empty();
  if (more && health_.state(worker.lane) != LaneHealth::State::out) {
    start(worker);
  } else {
    worker.retired = true;
    revive();
  }
}

void Supervisor::begin_stop() {
  state_.stopping = true;
  stop_since_ = now();
  scheduler_.stop();
  deferred_.clear();
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
  for (const auto& worker : workers_) {
    const bool busy = scheduler_.assignments().contains(worker->id);
    if (busy && worker->process &&
        worker->watch.overdue(now(), setup_.item_timeout + setup_.grace)) {
      lost(*worker, fmt::format("no end within {:.0f} s", setup_.item_timeout + setup_.grace));
    }
  }
}

}  // namespace sweep::queue
