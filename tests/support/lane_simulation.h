#pragma once

#include "queue/scheduler.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <random>
#include <string>
#include <vector>

namespace sweep::queue::testing {

// A sweep in which only the scheduler is real: time is a number, models, compilers and devices are
// delays. An item has `turns`, each of which is an answer of its model, a compilation in one of
// `compilers` places and a judgement with the device of its worker to itself; whoever asked first
// has device and compiler first.
struct LaneLoad {
  int lanes = 8;
  int agents = 32;  // of each lane
  int models = 4;
  int items = 2000;
  int turns = 5;
  int compilers = 64;
  double think = 30;     // mean seconds of an answer, exponential
  double compile = 2;    // seconds
  double judgement = 3;  // mean seconds, between half and one and a half of it
};

struct LaneUse {
  double busy = 0;         // share of the lanes' time, until no item is left to hand out
  double busy_to_end = 0;  // likewise, until the last item has ended
  double seconds = 0;      // of the whole
  int most_apart = 0;      // running items of a model beyond those of another with work left
};

class LaneSimulation {
 public:
  explicit LaneSimulation(LaneLoad load)
      : load_(load), scheduler_(items(load)), lanes_(static_cast<std::size_t>(load.lanes)) {}

  LaneUse run() {
    for (int worker = 0; worker < load_.lanes * load_.agents; ++worker) {
      begin(worker);
    }
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      event.then();
      if (scheduler_.pending() == 0 && drained_ < 0) {
        drained_ = now_;
        used_.busy = share(now_);
      }
    }
    used_.busy_to_end = share(now_);
    used_.seconds = now_;
    return used_;
  }

 private:
  struct Event {
    double at = 0;
    std::size_t order = 0;
    std::function<void()> then;

    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  // A thing that `places` may use at a time, first come, first served.
  struct Station {
    int busy = 0;
    double used = 0;  // seconds of all uses that have begun, up to their ends
    std::queue<std::function<void()>> waiting;
  };

  static std::vector<config::WorkItem> items(const LaneLoad& load) {
    std::vector<config::WorkItem> list;
    for (int i = 0; i < load.items; ++i) {
      list.push_back(
          {"m" + std::to_string(i % load.models), "v", "1", std::to_string(i / load.models), 1});
    }
    return list;
  }

  void at(double seconds, std::function<void()> then) {
    events_.push({now_ + seconds, order_++, std::move(then)});
  }

  void use(Station& station, int places, double seconds, const std::function<void()>& then) {
    if (station.busy == places) {
      station.waiting.push(
          [this, &station, places, seconds, then] { use(station, places, seconds, then); });
      return;
    }
    ++station.busy;
    station.used += seconds;
    ends_[&station] = now_ + seconds;
    at(seconds, [this, &station, then] {
      --station.busy;
      if (!station.waiting.empty()) {
        const auto next = std::move(station.waiting.front());
        station.waiting.pop();
        next();
      }
      then();
    });
  }

  void begin(int worker) {
    const auto item = scheduler_.next(worker);
    if (!item) {
      return;
    }
    note_fairness();
    turn(worker, 0);
  }

  void note_fairness() {
    std::map<std::string, int> running;
    for (int model = 0; model < load_.models; ++model) {
      running["m" + std::to_string(model)] = 0;
    }
    for (const auto& [worker, item] : scheduler_.assignments()) {
      ++running[item.model];
    }
    if (scheduler_.pending() >= static_cast<std::size_t>(load_.models)) {
      const auto [least, most] =
          std::ranges::minmax_element(running, {}, [](const auto& entry) { return entry.second; });
      used_.most_apart = std::max(used_.most_apart, most->second - least->second);
    }
  }

  void turn(int worker, int number) {
    if (number == load_.turns) {
      scheduler_.finished(worker);
      begin(worker);
      return;
    }
    at(std::exponential_distribution(1 / load_.think)(random_), [this, worker, number] {
      use(compilers_, load_.compilers, load_.compile, [this, worker, number] {
        const double seconds = std::uniform_real_distribution(0.5, 1.5)(random_) * load_.judgement;
        use(lanes_[static_cast<std::size_t>(worker % load_.lanes)],
            1,
            seconds,
            [this, worker, number] { turn(worker, number + 1); });
      });
    });
  }

  // Of all lanes' time up to `until`.
  [[nodiscard]] double share(double until) const {
    double used = 0;
    for (const Station& lane : lanes_) {
      const auto end = ends_.find(&lane);
      used += lane.used - (end == ends_.end() ? 0 : std::max(0.0, end->second - until));
    }
    return used / (until * load_.lanes);
  }

  LaneLoad load_;
  Scheduler scheduler_;
  std::vector<Station> lanes_;
  Station compilers_;
  std::map<const Station*, double> ends_;  // of the last use
  std::priority_queue<Event> events_;
  std::size_t order_ = 0;
  std::mt19937 random_{1};
  double now_ = 0;
  double drained_ = -1;
  LaneUse used_;
};

}  // namespace sweep::queue::testing
