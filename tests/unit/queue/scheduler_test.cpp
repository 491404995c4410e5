#include "queue/scheduler.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace sweep::queue {
namespace {

std::vector<config::WorkItem> items(int models, int problems) {
  std::vector<config::WorkItem> out;
  for (int p = 0; p < problems; ++p) {
    for (int m = 0; m < models; ++m) {
      out.push_back({std::string(1, static_cast<char>('a' + m)), "v", "1", std::to_string(p), 1});
    }
  }
  return out;
}

TEST(Scheduler, GivesEachItemOnceAndEnds) {
  Scheduler scheduler(items(2, 3));
  std::set<std::string> seen;
  for (int i = 0; i < 6; ++i) {
    const auto item = scheduler.next(0);
    ASSERT_TRUE(item);
    EXPECT_TRUE(seen.insert(item->id()).second);
    EXPECT_FALSE(scheduler.done());
    scheduler.finished(0);
  }
  EXPECT_FALSE(scheduler.next(0));
  EXPECT_TRUE(scheduler.done());
}

TEST(Scheduler, SpreadsWorkersOverModels) {
  Scheduler scheduler({{"a", "v", "1", "1", 1}, {"a", "v", "1", "2", 1}, {"b", "v", "1", "1", 1}});
  EXPECT_EQ(scheduler.next(0)->model, "a");
  EXPECT_EQ(scheduler.next(1)->model, "b");
  EXPECT_EQ(scheduler.next(2)->model, "a");
}

TEST(Scheduler, ModelsOfHigherPriorityStartFirstAndFairlyAmongEquals) {
  Scheduler scheduler(items(4, 2), {{"b", 5}, {"d", 5}, {"c", -1}});
  std::string order;
  for (int worker = 0; worker < 8; ++worker) {
    order += scheduler.next(worker)->model;
  }
  EXPECT_EQ(order, "bdbdaacc");
}

// What a higher priority lost comes before all of lower ones.
TEST(Scheduler, ALossGoesToTheEndOfItsPriority) {
  Scheduler scheduler(items(2, 2), {{"b", 1}});
  EXPECT_EQ(scheduler.next(0)->id(), "v/b/level1/0");
  EXPECT_EQ(scheduler.lost(0).loss, Scheduler::Loss::requeued);
  EXPECT_EQ(scheduler.next(0)->id(), "v/b/level1/1");
  EXPECT_EQ(scheduler.next(1)->id(), "v/b/level1/0");
  EXPECT_EQ(scheduler.next(2)->id(), "v/a/level1/0");
  EXPECT_EQ(scheduler.drop("a"), 1U);
  EXPECT_FALSE(scheduler.next(3));
}

TEST(Scheduler, ALossGoesToTheEndOnceAndIsThenGivenUp) {
  Scheduler scheduler(items(1, 2));
  EXPECT_EQ(scheduler.next(0)->problem, "0");
  EXPECT_EQ(scheduler.lost(0).loss, Scheduler::Loss::requeued);
  EXPECT_EQ(scheduler.next(0)->problem, "1");
  scheduler.finished(0);
  EXPECT_EQ(scheduler.next(0)->problem, "0");
  const auto gone = scheduler.lost(0);
  EXPECT_EQ(gone.loss, Scheduler::Loss::given_up);
  EXPECT_EQ(gone.item.problem, "0");
  EXPECT_TRUE(scheduler.done());
  EXPECT_EQ(scheduler.lost(0).loss, Scheduler::Loss::nothing);
}

TEST(Scheduler, StopEndsAfterWhatRuns) {
  Scheduler scheduler(items(1, 3));
  (void)scheduler.next(0);
  scheduler.stop();
  EXPECT_FALSE(scheduler.next(1));
  EXPECT_FALSE(scheduler.done());
  scheduler.finished(0);
  EXPECT_TRUE(scheduler.done());
  EXPECT_EQ(scheduler.pending(), 2U);
}

// Everything that can become of a run: each state that some order of events leads to is visited
// once. An event is: a worker takes, ends or loses its item by death, a model is dropped, the run
// stops. What must hold is checked against a record of its own.
class Explorer {
 public:
  Explorer(int models, int problems, int workers, int deaths)
      : all_(items(models, problems)), workers_(workers), deaths_(deaths) {}

  struct Count {
    std::size_t states = 0, ends = 0;
  };

  Count run() {
    visit(State{Scheduler(all_), {}, {}, {}, 0, {}, false});
    return {seen_.size(), ends_};
  }

 private:
  struct State {
    Scheduler scheduler;
    std::map<std::string, int> ended;   // by item: how often
    std::map<std::string, int> losses;  // by item
    std::set<std::string> given_up;
    int died = 0;
    std::set<std::string> dropped;  // models
    bool stopped = false;
  };

  // All that decides what may come.
  static std::string key(const State& state) {
    std::string text = state.stopped ? "stopped " : "";
    for (const auto& [worker, item] : state.scheduler.assignments()) {
      text += std::to_string(worker) + "=" + item.id() + " ";
    }
    for (const auto& [id, times] : state.ended) {
      text += id + "! ";
    }
    for (const auto& [id, times] : state.losses) {
      text += id + "-" + std::to_string(times) + " ";
    }
    for (const std::string& model : state.dropped) {
      text += "drop " + model + " ";
    }
    return text + std::to_string(state.died);
  }

  void visit(const State& state) {
    if (::testing::Test::HasFatalFailure() || !seen_.insert(key(state)).second) {
      return;
    }
    check(state);
    bool moved = false;
    for (int worker = 0; worker < workers_; ++worker) {
      moved = (state.scheduler.assignments().contains(worker) ? end(state, worker)
                                                              : take(state, worker)) ||
              moved;
    }
    if (state.scheduler.done()) {
      ++ends_;
    } else {
      ASSERT_TRUE(moved) << "nothing can happen any more: " << key(state);
    }
    if (state.dropped.empty()) {
      State next = state;
      const std::size_t before = next.scheduler.pending();
      const std::size_t gone = next.scheduler.drop("a");
      ASSERT_EQ(next.scheduler.pending() + gone, before);
      next.dropped.insert("a");
      visit(next);
    }
    if (!state.stopped) {
      State next = state;
      next.scheduler.stop();
      next.stopped = true;
      visit(next);
    }
  }

  void check(const State& state) {
    for (const auto& [id, times] : state.ended) {
      ASSERT_EQ(times, 1) << id;
    }
    for (const std::string& id : state.given_up) {
      ASSERT_EQ(state.losses.at(id), 2) << id;
    }
    const std::size_t held =
        state.scheduler.pending() + state.scheduler.running() + state.ended.size();
    if (state.dropped.empty()) {
      ASSERT_EQ(held, all_.size()) << key(state);
    }
    if (state.scheduler.done() && !state.stopped && state.dropped.empty()) {
      ASSERT_EQ(state.ended.size(), all_.size());
    }
  }

  bool take(const State& state, int worker) {
    State next = state;
    std::map<std::string, int> busy;
    for (const auto& [other, item] : state.scheduler.assignments()) {
      ++busy[item.model];
    }
    const auto item = next.scheduler.next(worker);
    if (!item) {
      return false;
    }
    EXPECT_FALSE(state.stopped);
    EXPECT_FALSE(state.ended.contains(item->id()));
    EXPECT_FALSE(state.dropped.contains(item->model));
    // Fair: no model with work left has fewer running items.
    for (const config::WorkItem& other : all_) {
      const bool left = !state.ended.contains(other.id()) && !state.dropped.contains(other.model) &&
                        !running(state, other.id());
      EXPECT_TRUE(!left || busy[item->model] <= busy[other.model]) << key(state);
    }
    visit(next);
    return true;
  }

  static bool running(const State& state, const std::string& id) {
    for (const auto& [worker, item] : state.scheduler.assignments()) {
      if (item.id() == id) {
        return true;
      }
    }
    return false;
  }

  bool end(const State& state, int worker) {
    const config::WorkItem item = state.scheduler.assignments().at(worker);
    State well = state;
    well.scheduler.finished(worker);
    ++well.ended[item.id()];
    visit(well);
    if (state.died < deaths_) {
      State dead = state;
      const auto lost = dead.scheduler.lost(worker);
      EXPECT_EQ(lost.item.id(), item.id());
      ++dead.died;
      if (state.dropped.contains(item.model)) {
        EXPECT_EQ(lost.loss, Scheduler::Loss::dropped);
      } else if (++dead.losses[item.id()] < 2) {
        EXPECT_EQ(lost.loss, Scheduler::Loss::requeued);
      } else {
        EXPECT_EQ(lost.loss, Scheduler::Loss::given_up);
        ++dead.ended[item.id()];
        dead.given_up.insert(item.id());
      }
      visit(dead);
    }
    return true;
  }

  std::vector<config::WorkItem> all_;
  int workers_;
  int deaths_;
  std::set<std::string> seen_;
  std::size_t ends_ = 0;
};

TEST(Scheduler, EveryStateThatAnyOrderOfEventsLeadsToIsSound) {
  const Explorer::Count two = Explorer(2, 2, 3, 3).run();
  EXPECT_GT(two.states, 2000U);
  EXPECT_GT(two.ends, 100U);
  const Explorer::Count three = Explorer(3, 1, 2, 4).run();
  EXPECT_GT(three.states, 500U);
  const Explorer::Count one = Explorer(1, 4, 2, 2).run();
  EXPECT_GT(one.states, 200U);
}

}  // namespace
}  // namespace sweep::queue
