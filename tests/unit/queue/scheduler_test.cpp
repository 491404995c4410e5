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

// Every order of "worker takes", "worker finishes" and "worker dies" for some items and two
// workers, with at most `deaths` deaths.
class Orders {
 public:
  Orders(int deaths, int problems) : deaths_(deaths), problems_(problems) {}

  int count() {
    walk({});
    return leaves_;
  }

 private:
  enum Step { take0, take1, end0, end1, die0, die1 };

  // Replays the steps; false when the last one is not possible.
  void walk(std::vector<Step> steps) {
    const auto all = items(1, problems_);
    Scheduler scheduler(all);
    std::map<std::string, int> ended;
    int died = 0;
    bool possible = true;
    for (const Step step : steps) {
      const int worker = step % 2;
      const auto running = scheduler.assignments().find(worker);
      const bool busy = running != scheduler.assignments().end();
      if (step <= take1) {
        possible = !busy && scheduler.next(worker).has_value();
      } else if (!busy) {
        possible = false;
      } else if (step <= end1) {
        ++ended[running->second.id()];
        scheduler.finished(worker);
      } else {
        const std::string id = running->second.id();
        const auto lost = scheduler.lost(worker);
        ASSERT_EQ(lost.item.id(), id);
        if (lost.loss == Scheduler::Loss::given_up) {
          ++ended[id];
        }
        possible = ++died <= deaths_;
      }
      ASSERT_EQ(scheduler.pending() + scheduler.running() + ended.size(), all.size());
    }
    if (!possible) {
      return;
    }
    if (scheduler.done()) {
      ++leaves_;
      ASSERT_EQ(ended.size(), all.size());
      for (const auto& [id, times] : ended) {
        ASSERT_EQ(times, 1) << id;
      }
      return;
    }
    for (const Step step : {take0, take1, end0, end1, die0, die1}) {
      steps.push_back(step);
      walk(steps);
      steps.pop_back();
    }
  }

  int deaths_;
  int problems_;
  int leaves_ = 0;
};

TEST(Scheduler, EveryOrderOfEventsEndsEveryItemExactlyOnce) {
  EXPECT_GT(Orders(0, 4).count(), 50);
  EXPECT_GT(Orders(3, 2).count(), 100);
}

}  // namespace
}  // namespace sweep::queue
