#include "queue/supervisor.h"

#include "record/json.h"
#include "util/error.h"
#include "util/sha256.h"
#include "util/text.h"

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

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<config::WorkItem> pending_of(const std::vector<Task>& tasks) {
  std::vector<config::WorkItem> out;
  for (const Task& task : tasks) {
    if (task.action != Action::finished) {
      out.push_back(task.item);
    }
  }
  return out;
}

std::string label(const config::WorkItem& item) {
  return item.problem_id() + (item.attempt > 1 ? fmt::format(" #{}", item.attempt) : "") + " " +
         item.model;
}

}  // namespace

struct Supervisor::Worker {
  int id = 0;
  std::optional<util::Process> process;
  std::optional<wire::Channel> channel;
  bool retired = false;  // told to stop, or given up after repeated deaths
  int deaths = 0;
  double item_since = 0;
};

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
      started_(now()) {
  state_.run = run.folder().filename().string();
  state_.url = setup_.url;
  state_.budget = setup_.budget_usd;
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

ModelRow& Supervisor::row_of(const std::string& model) {
  for (ModelRow& row : state_.models) {
    if (row.name == model) {
      return row;
    }
  }
  state_.models.push_back({});
  state_.models.back().name = model;
  state_.models.back().state = "ok";
  return state_.models.back();
}

const Task* Supervisor::task_of(const config::WorkItem& item) const {
  const auto found = std::find_if(setup_.tasks.begin(), setup_.tasks.end(), [&](const Task& task) {
    return task.item.id() == item.id();
  });
  return found == setup_.tasks.end() ? nullptr : &*found;
}

void Supervisor::count(const config::WorkItem& item, const std::string& outcome) {
  ModelRow& row = row_of(item.model);
  ++row.done;
  row.correct += outcome == "correct" ? 1U : 0U;
  ++state_.outcomes[outcome];
}

std::string Supervisor::file_of(const config::WorkItem& item) const {
  return run_.trajectory_file(name_of(item)).lexically_relative(run_.folder()).generic_string();
}

void Supervisor::record_end(const config::WorkItem& item, const std::string& outcome) {
  const std::string bytes = record::read_whole(run_.trajectory_file(name_of(item)));
  (void)ledger_.append(record::kind::item_end,
                       item.id(),
                       {{"outcome", outcome},
                        {"file", file_of(item)},
                        {"trajectory_sha256", util::sha256_hex(bytes)}});
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
  for (const auto& worker : workers_) {
    start(*worker);
  }
  while (!scheduler_.done()) {
    poll_once();
    check_stop();
    check_deadlines();
    state_.seconds = now() - started_;
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
  return state_.stopping ? End::interrupted : over_budget_ ? End::budget : End::done;
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

void Supervisor::handle(Worker& worker, const nlohmann::json& body) {
  const std::string type = wire::field<std::string>(body, "type");
  LaneRow& lane = state_.lanes[static_cast<std::size_t>(worker.id)];
  if (type == "ready") {
    hand_out(worker);
  } else if (type == "row") {
    const record::Row& row = ledger_.append(wire::field<std::string>(body, "kind"),
                                            wire::field<std::string>(body, "item"),
                                            body.at("data"));
    worker.channel->send({{"hash", row.hash}});
  } else if (type == "progress") {
    const auto assigned = scheduler_.assignments().find(worker.id);
    lane.state = fmt::format("turn {} {}",
                             wire::field<std::int64_t>(body, "turn"),
                             wire::field<std::string>(body, "state"));
    const std::string event = wire::field<std::string>(body, "event");
    if (!event.empty() && assigned != scheduler_.assignments().end()) {
      say(label(assigned->second) + ": " + event);
    }
  } else if (type == "done") {
    done(worker, body);
  } else {
    throw wire::WireError({"worker", "unknown message '" + type + "'", ""}, "E_WIRE_FIELD");
  }
}

void Supervisor::hand_out(Worker& worker) {
  const auto item = scheduler_.next(worker.id);
  if (!item) {
    // An item that another worker loses goes on in that worker's successor.
    worker.channel->send({{"type", "stop"}});
    worker.retired = true;
    return;
  }
  const Task* task = task_of(*item);
  const std::string id = item->id();
  // Set back once: when its worker dies, the item goes on from what it finished since.
  const bool first = begun_.insert(id).second;
  if (first && task != nullptr && task->action == Action::again) {
    (void)ledger_.append(record::kind::retry, id, {{"outcome", task->outcome}});
  }
  (void)ledger_.append(record::kind::item_start, id, {{"file", file_of(*item)}});
  const Replay replay = replay_of(ledger_.rows(), id);
  nlohmann::json message{{"type", "item"},
                         {"item", to_json(*item)},
                         {"requests", nlohmann::json::array()},
                         {"tools", nlohmann::json::array()},
                         {"retried", replay.retried},
                         {"interrupted", replay.interrupted}};
  for (const record::Finished& request : replay.requests) {
    message["requests"].push_back(to_json(request));
  }
  for (const record::Finished& tool : replay.tools) {
    message["tools"].push_back(to_json(tool));
  }
  worker.channel->send(message);
  worker.item_since = now();
  state_.lanes[static_cast<std::size_t>(worker.id)] = {label(*item), "starting"};
}

void Supervisor::done(Worker& worker, const nlohmann::json& body) {
  const auto assigned = scheduler_.assignments().find(worker.id);
  if (assigned == scheduler_.assignments().end()) {
    throw wire::WireError({"worker", "a result without an item", ""}, "E_WIRE_FIELD");
  }
  const config::WorkItem item = assigned->second;
  const std::string outcome = wire::field<std::string>(body, "outcome");
  scheduler_.finished(worker.id);
  state_.lanes[static_cast<std::size_t>(worker.id)] = {};
  if (outcome == "in_progress") {
    return;  // interrupted; the same command resumes it
  }
  record_end(item, outcome);
  ModelRow& row = row_of(item.model);
  row.tokens += wire::field<std::int64_t>(body, "tokens");
  const bool priced = body.contains("cost") && body["cost"].is_number();
  row.price_known = row.price_known && priced;
  row.cost += priced ? body["cost"].get<double>() : 0;
  count(item, outcome);
  std::string line = label(item) + ": " + outcome;
  const std::string verdict = wire::field<std::string>(body, "verdict");
  line += verdict.empty() ? "" : " " + verdict;
  if (outcome == "correct" && body.contains("speedup") && body["speedup"].is_number()) {
    row.speedups.push_back(body["speedup"].get<double>());
    line += fmt::format(" {:.2f}x", row.speedups.back());
  }
  const std::string error = wire::field<std::string>(body, "error");
  say(error.empty() ? line : line + ": " + error);
  double spent = 0;
  for (const ModelRow& model : state_.models) {
    spent += model.cost;
  }
  if (setup_.budget_usd && spent >= *setup_.budget_usd && !over_budget_) {
    over_budget_ = true;
    scheduler_.stop();
    say(fmt::format(
        "budget of ${:.2f} is used up (${:.2f}): no new item starts", *setup_.budget_usd, spent));
  }
}

void Supervisor::lost(Worker& worker, const std::string& why) {
  worker.process->kill_group();
  const util::ExitStatus status = worker.process->wait();
  worker.channel.reset();
  worker.process.reset();
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

void Supervisor::give_up(const config::WorkItem& item, const std::string& why) {
  record::Trajectory t;
  if (Past past = past_of(run_, item); past.trajectory) {
    t = std::move(*past.trajectory);
  } else {
    t = named(item, state_.run);
  }
  t.outcome = "infra_error";
  t.finished_at = record::utc_now();
  t.stop_reason = "infra";
  t.error = "INFRA_LOST: the item's worker died twice; " + why;
  t.error_code = "E_WORKER_LOST";
  run_.save(name_of(item), t);
  record_end(item, t.outcome);
  count(item, t.outcome);
  say(label(item) + ": " + t.error);
}

void Supervisor::begin_stop() {
  state_.stopping = true;
  stop_since_ = now();
  scheduler_.stop();
  say("stopping: running items are left where they are");
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
    if (busy && worker->process && now() - worker->item_since > setup_.item_timeout + 60) {
      lost(*worker, fmt::format("no end within {:.0f} s", setup_.item_timeout + 60));
    }
  }
}

}  // namespace sweep::queue
