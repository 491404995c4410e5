// The supervisor's part in limits: money, waits, and models that refuse everything.
#include "queue/limits.h"
#include "queue/supervisor.h"
#include "util/text.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include <fmt/format.h>

namespace sweep::queue {

namespace {

// So many refusals before any answer: no other request will do better.
constexpr int kRefusals = 3;

// What stays the same when the same trouble comes again: words without numbers, which may be times
// or names of requests.
std::string gist(const std::string& trouble, const std::string& text) {
  std::string out = trouble + ":";
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word.find_first_of("0123456789") == std::string::npos) {
      out += " " + word;
    }
  }
  return out;
}

}  // namespace

std::optional<double> Supervisor::view_time(double seconds) const {
  return seconds < 0 ? std::nullopt : std::optional(now() - started_ + seconds);
}

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
  worker.watch.go_on(now());
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
    LaneRow& lane = state_.lanes[static_cast<std::size_t>(worker.id)];
    lane.state = "waiting: budget";
    lane.next_try.reset();
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
  worker.watch.go_on(now());
  worker.limited = false;
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
    lane.next_try.reset();
    tell(worker, {{"go", go}});
    return;
  }
  worker.watch.pause(now());
  worker.limited = true;
  lane.state = "waiting: " + util::printable(wire::field<std::string>(body, "why"));
  lane.next_try = view_time(wire::field<double>(body, "seconds"));
  if (wire::field<std::string>(body, "trouble") != name(Trouble::none)) {
    trouble(worker, body, true);
  }
  if (!go) {
    end_wait(worker);
    worker.closed_wait = number;
    tell(worker, {{"go", false}});
  }
  worker.open_wait = number;
}

void Supervisor::tell_trouble(const std::string& model,
                              const std::string& trouble,
                              const std::string& line) {
  if (std::exchange(told_[model], trouble) != trouble) {
    say(line);
  }
}

void Supervisor::trouble(Worker& worker, const nlohmann::json& body, bool paused) {
  const std::string model = model_of(worker);
  const auto kind = wire::field<std::string>(body, "trouble");
  const std::string text = util::printable(wire::field<std::string>(body, "text"));
  if (stopped_models_.contains(model)) {
    return;
  }
  ModelRow& row = row_of(model);
  row.state = kind;
  row.next_try = paused ? view_time(wire::field<double>(body, "seconds")) : std::nullopt;
  // A single failure is tried again and passes; one before any answer is worth a line.
  const bool new_here = kind == name(Trouble::unreachable) && !answered_.contains(model);
  if (!paused && !new_here) {
    return;
  }
  const std::string when =
      paused ? fmt::format("next try in {:.0f} s", std::ceil(wire::field<double>(body, "seconds")))
             : "it is tried again";
  tell_trouble(model,
               gist(kind, text),
               fmt::format("{}: {}; {}; `sweep probe {}` asks it now",
                           util::printable(model),
                           text.empty() ? kind : text,
                           when,
                           util::printable(setup_.config)));
}

void Supervisor::recovered(const std::string& model) {
  answered_.insert(model);
  ModelRow& row = row_of(model);
  row.state = "ok";
  row.next_try.reset();
  if (told_.erase(model) > 0) {
    say(util::printable(model) + ": answers again");
  }
}

void Supervisor::refused(Worker& worker, const std::string& text) {
  const std::string model = model_of(worker);
  const bool first = !answered_.contains(model) && !stopped_models_.contains(model);
  row_of(model).state = name(Trouble::refused);
  if (first && ++refusals_[model] >= kRefusals) {
    stop_model(model, text);
  } else {
    tell_trouble(model,
                 gist(std::string(name(Trouble::refused)), text),
                 label_of(worker) + ": the endpoint refuses (" + util::printable(text) +
                     "); requests pause and are tried again");
  }
  tell(worker, {{"go", !stopped_models_.contains(model)}});
}

void Supervisor::stop_model(const std::string& model, const std::string& text) {
  stopped_models_.insert(model);
  (void)scheduler_.drop(model);
  row_of(model).state = "stopped";
  row_of(model).next_try.reset();
  const std::string why = fmt::format("the first {} requests to {} were all refused ({})",
                                      kRefusals,
                                      util::printable(model),
                                      util::printable(text));
  stop_text_ = stop_text_.empty() ? why : stop_text_;
  say(why + ": none of its items goes on");
  for (const auto& other : workers_) {
    if (other->channel && other->limited && model_of(*other) == model) {
      end_wait(*other);
      other->closed_wait = other->open_wait;
      tell(*other, {{"go", false}});
    }
  }
}

}  // namespace sweep::queue
