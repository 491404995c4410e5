// The supervisor's part in limits: money, waits, and models that refuse everything.
#include "queue/supervisor.h"
#include "util/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::queue {

namespace {

// So many refusals before any answer: no other request will do better.
constexpr int kRefusals = 3;

}  // namespace

std::string Supervisor::model_of(const Worker& worker) const {
  const auto found = scheduler_.assignments().find(worker.id);
  return found == scheduler_.assignments().end() ? std::string() : found->second.model;
}

std::string Supervisor::label_of(const Worker& worker) const {
  const auto found = scheduler_.assignments().find(worker.id);
  return found == scheduler_.assignments().end() ? "worker" : label(found->second);
}

void Supervisor::tell(Worker& worker, const nlohmann::json& body) {
  try {
    worker.channel->send(body);
  } catch (const wire::WireError&) {
    // It is gone, which the next read of its channel deals with.
  }
}

void Supervisor::check_budget() {
  if (budget_.used_up() && !over_budget_) {
    over_budget_ = true;
    scheduler_.stop();
    stop_text_ = budget_.text();
    say(stop_text_ + ": no further request is made");
  }
}

void Supervisor::answer_budget(Worker& worker, bool allowed) {
  worker.item_since += now() - worker.asked->since;
  worker.asked.reset();
  tell(worker, {{"allowed", allowed}});
}

void Supervisor::ask_budget(Worker& worker) {
  if (state_.stopping || over_budget_) {
    answer_budget(worker, false);
    return;
  }
  const record::Spend most = worker.asked->most;
  const Budget::Answer answer = budget_.ask(worker.id, most);
  if (answer == Budget::Answer::later) {
    state_.lanes[static_cast<std::size_t>(worker.id)].state = "waiting: budget";
    return;
  }
  if (answer == Budget::Answer::no) {
    over_budget_ = true;
    scheduler_.stop();
    stop_text_ = budget_.text(most);
    say(stop_text_ + ": no further request is made");
  }
  answer_budget(worker, answer == Budget::Answer::yes);
}

void Supervisor::ask_again() {
  std::vector<Worker*> asking;
  for (const auto& worker : workers_) {
    if (worker->asked && worker->channel) {
      asking.push_back(worker.get());
    }
  }
  std::sort(asking.begin(), asking.end(), [](const Worker* a, const Worker* b) {
    return a->asked->since < b->asked->since;
  });
  for (Worker* worker : asking) {
    ask_budget(*worker);
  }
}

void Supervisor::end_wait(Worker& worker) {
  if (worker.wait_since) {
    worker.item_since += now() - *worker.wait_since;
    worker.wait_since.reset();
  }
}

void Supervisor::wait(Worker& worker, const nlohmann::json& body) {
  const auto number = wire::field<std::int64_t>(body, "number");
  if (number <= worker.closed_wait) {
    return;  // crossed our word that it is over
  }
  const bool go = !stopped_models_.contains(model_of(worker));
  LaneRow& lane = state_.lanes[static_cast<std::size_t>(worker.id)];
  if (!wire::field<bool>(body, "on")) {
    end_wait(worker);
    worker.closed_wait = number;
    lane.state = "model";
    tell(worker, {{"go", go}});
    return;
  }
  worker.wait_since = worker.wait_since.value_or(now());
  lane.state = "waiting: " + util::printable(wire::field<std::string>(body, "why"));
  if (!go) {
    end_wait(worker);
    worker.closed_wait = number;
    tell(worker, {{"go", false}});
  }
  worker.open_wait = number;
}

void Supervisor::refused(Worker& worker, const std::string& text) {
  const std::string model = model_of(worker);
  const bool first = !answered_.contains(model) && !stopped_models_.contains(model);
  row_of(model).state = "refused";
  if (first && ++refusals_[model] >= kRefusals) {
    stop_model(model, text);
  } else {
    say(label_of(worker) + ": the endpoint refuses (" + util::printable(text) +
        "); requests pause and are tried again");
  }
  tell(worker, {{"go", !stopped_models_.contains(model)}});
}

void Supervisor::stop_model(const std::string& model, const std::string& text) {
  stopped_models_.insert(model);
  (void)scheduler_.drop(model);
  row_of(model).state = "stopped";
  const std::string why = fmt::format("the first {} requests to {} were all refused ({})",
                                      kRefusals,
                                      util::printable(model),
                                      util::printable(text));
  stop_text_ = stop_text_.empty() ? why : stop_text_;
  say(why + ": none of its items goes on");
  for (const auto& other : workers_) {
    if (other->channel && other->wait_since && model_of(*other) == model) {
      end_wait(*other);
      other->closed_wait = other->open_wait;
      tell(*other, {{"go", false}});
    }
  }
}

}  // namespace sweep::queue
