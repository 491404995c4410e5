// The supervisor's work on items: what workers say about them and what is recorded.
#include "queue/supervisor.h"
#include "record/json.h"
#include "util/error.h"
#include "util/sha256.h"
#include "util/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::queue {

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
  return record::RunDir(run_.folder())
      .trajectory_file(name_of(item))
      .lexically_relative(run_.folder())
      .generic_string();
}

void Supervisor::count_finished(const Task& task, const Endings& endings) {
  count(task.item, task.outcome);
  Ending ending;
  if (const Ending* found = endings.of(task.item.id()); found != nullptr && found->told) {
    ending = *found;
  } else if (const Past past = past_of(record::RunDir(run_.folder()), task.item); past.trajectory) {
    ending = ending_of(*past.trajectory);
  }
  ModelRow& row = row_of(task.item.model);
  row.tokens += ending.tokens;
  row.price_known = row.price_known && ending.cost_usd.has_value();
  row.cost += ending.cost_usd.value_or(0);
  if (task.outcome == "correct" && ending.speedup) {
    row.speedups.push_back(ending.speedup->point);
  }
}

bool Supervisor::record_end(const config::WorkItem& item, const Ending& ending) {
  const std::string bytes = record::read_whole(run_.trajectory_file(name_of(item)));
  nlohmann::json data{{"outcome", ending.outcome},
                      {"file", file_of(item)},
                      {"trajectory_sha256", util::sha256_hex(bytes)},
                      {"facts", facts_json(ending)}};
  if (setup_.share != nullptr) {
    data["epoch"] = setup_.share->epoch_of(item);
    if (!setup_.share->publish(item)) {
      say(label(item) + ": another task has it; what was done here does not count");
      ++elsewhere_;
      return false;
    }
  }
  (void)ledger_.append(record::kind::item_end, item.id(), data);
  return true;
}

void Supervisor::note_request(Worker& worker, const record::Row& row) {
  if (row.data.at("facts").value("error", "").empty()) {
    recovered(model_of(worker));
  }
  budget_.note(row);
  budget_.release(worker.id);
  check_budget();
  ask_again();
}

void Supervisor::handle(Worker& worker, const nlohmann::json& body) {
  const std::string type = wire::field<std::string>(body, "type");
  LaneRow& lane = state_.lanes[static_cast<std::size_t>(worker.id)];
  if (type == "ready") {
    hand_out(worker);
  } else if (type == "row") {
    staged_.push_back({&worker,
                       ledger_.stage(wire::field<std::string>(body, "kind"),
                                     wire::field<std::string>(body, "item"),
                                     body.at("data"))});
  } else if (type == "budget") {
    worker.asked = {
        {wire::field<std::int64_t>(body, "tokens"), wire::field<std::int64_t>(body, "nano_usd")},
        now()};
    worker.watch.pause(now());
    ask_budget(worker);
  } else if (type == "judged") {
    tell_judged(worker, body);
  } else if (type == "held") {
    held(worker, wire::field<std::string>(body, "why"));
  } else if (type == "wait") {
    wait(worker, body);
  } else if (type == "trouble") {
    trouble(worker, body, false);
  } else if (type == "refused") {
    refused(worker, wire::field<std::string>(body, "text"));
  } else if (type == "progress") {
    const auto assigned = scheduler_.assignments().find(worker.id);
    lane.state = fmt::format("turn {} {}",
                             wire::field<std::int64_t>(body, "turn"),
                             wire::field<std::string>(body, "state"));
    lane.next_try = view_time(wire::field<double>(body, "seconds"));
    const std::string event = wire::field<std::string>(body, "event");
    if (!event.empty() && assigned != scheduler_.assignments().end()) {
      say(label(assigned->second) + ": " + event);
    }
  } else if (type == "done") {
    done(worker, body);
  } else if (type == "cannot_write") {
    throw util::InfraError({wire::field<std::string>(body, "where"),
                            wire::field<std::string>(body, "what"),
                            wire::field<std::string>(body, "next")},
                           "E_RUN_WRITE");
  } else {
    throw wire::WireError({"worker", "unknown message '" + type + "'", ""}, "E_WIRE_FIELD");
  }
}

void Supervisor::tell_judged(Worker& worker, const nlohmann::json& body) {
  const auto keys = wire::field<std::vector<std::string>>(body, "keys");
  const Duplicates::Answer answer = duplicates_.ask(worker.id, keys);
  if (answer.wait) {
    worker.watch.pause(now());
  } else {
    worker.watch.go_on(now());
  }
  worker.channel->send({{"wait", answer.wait},
                        {"output", answer.known ? answer.known->output_sha256 : ""},
                        {"item", answer.known ? answer.known->item : ""}});
}

void Supervisor::hand_out(Worker& worker) {
  worker.parked = health_.state(worker.lane) == LaneHealth::State::probing;
  if (worker.parked) {
    return;
  }
  const bool usable = health_.state(worker.lane) == LaneHealth::State::good;
  const auto item = usable ? take(worker) : std::nullopt;
  if (item) {
    hand_out(worker, *item);
  } else if (deferred_.empty() || !usable) {
    // An item that another worker loses goes on in that worker's successor.
    worker.channel->send({{"type", "stop"}});
    worker.retired = true;
  } else {
    worker.idle = true;
  }
}

void Supervisor::hand_out(Worker& worker, const config::WorkItem& item) {
  const Task* task = task_of(item);
  const std::string id = item.id();
  // Set back once: when its worker dies, the item goes on from what it finished since.
  const bool first = begun_.insert(id).second;
  const std::int64_t epoch = setup_.share != nullptr ? setup_.share->epoch_of(item) : 0;
  // A task that took the item over goes on from what the task before it began anew.
  if (first && epoch <= 1 && task != nullptr && task->action == Action::again) {
    nlohmann::json data{{"outcome", task->outcome}};
    if (epoch > 0) {
      data["epoch"] = epoch;
    }
    duplicates_.note(ledger_.append(record::kind::retry, id, data));
  }
  nlohmann::json begin{{"file", file_of(item)}};
  if (epoch > 0) {
    begin["epoch"] = epoch;
  }
  (void)ledger_.append(record::kind::item_start, id, begin);
  const Replay replay = replay_of(rows_of(item), id);
  nlohmann::json message{{"type", "item"},
                         {"item", to_json(item)},
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
  worker.watch.begin(now());
  worker.open_wait = 0;  // each item counts its own
  worker.closed_wait = 0;
  state_.lanes[static_cast<std::size_t>(worker.id)] = {label(item), "starting", {}, id};
}

void Supervisor::done(Worker& worker, const nlohmann::json& body) {
  const auto assigned = scheduler_.assignments().find(worker.id);
  if (assigned == scheduler_.assignments().end()) {
    throw wire::WireError({"worker", "a result without an item", ""}, "E_WIRE_FIELD");
  }
  const config::WorkItem item = assigned->second;
  const std::string outcome = wire::field<std::string>(body, "outcome");
  Ending ending;
  ending.outcome = outcome;
  facts_from(body.at("facts"), ending);
  const std::string error = wire::field<std::string>(body, "error");
  const bool device = wire::field<std::string>(body, "code") == agent::kDeviceFault;
  budget_.release(worker.id);
  duplicates_.release(worker.id);
  state_.lanes[static_cast<std::size_t>(worker.id)] = {};
  const Scheduler::Loss loss = device ? scheduler_.lost(worker.id).loss : Scheduler::Loss::nothing;
  scheduler_.finished(worker.id);
  ask_again();
  if (device) {
    fault(worker, error);
  } else if (outcome != "in_progress") {
    health_.worked(worker.lane);
  }
  if (loss == Scheduler::Loss::requeued) {
    say(label(item) + ": " + error + "; the item is tried once more");
    revive();
  }
  // Interrupted, out of money, or its device failed: the same command resumes it.
  if (outcome == "in_progress" || loss == Scheduler::Loss::requeued ||
      loss == Scheduler::Loss::dropped) {
    return;
  }
  if (!record_end(item, ending)) {
    return;
  }
  ModelRow& row = row_of(item.model);
  row.tokens += ending.tokens;
  row.price_known = row.price_known && ending.cost_usd;
  row.cost += ending.cost_usd.value_or(0);
  count(item, outcome);
  std::string line = label(item) + ": " + outcome;
  line += ending.verdict.empty() ? "" : " " + ending.verdict;
  if (outcome == "correct" && ending.speedup) {
    row.speedups.push_back(ending.speedup->point);
    line += " " + util::human_ratio(row.speedups.back());
  }
  say(error.empty() ? line : line + ": " + error);
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
  if (!record_end(item, ending_of(t))) {
    return;
  }
  count(item, t.outcome);
  say(label(item) + ": " + t.error);
}

}  // namespace sweep::queue
