#pragma once

#include "evaluate/fill_ahead.h"
#include "evaluate/timed_shape.h"
#include "timing/schedule.h"

#include <cstddef>
#include <deque>
#include <vector>

namespace sweep::evaluate {

// What the timed calls of one replicate are made on, in order: two contents for each block, the
// pool's where its turn is and else fresh ones, or one for all blocks of a shape where
// Defence::fresh_content is off. Other threads make them ahead, from the constructor on.
class TimedContents {
 public:
  struct Plan {
    std::vector<timing::Block> schedule;  // of the replicate
    std::vector<int> blocks;              // of each shape
  };

  // The shapes must outlive it.
  TimedContents(const Session& session,
                const std::deque<TimedShape>& shapes,
                Plan plan,
                const problem::Key& key,
                int replicate,
                bool only_pool);

  [[nodiscard]] const std::vector<timing::Block>& blocks() const { return plan_.schedule; }

  struct Half {
    problem::Draw draw;
    problem::FillPlan plan;
    const PoolDraw* pool = nullptr;  // where the oracle's result is known
    NextCall coming;                 // the half after this one
  };

  // The next content of the schedule. Throws what FillAhead::next() throws.
  [[nodiscard]] Half next();

 private:
  [[nodiscard]] int index_of(const timing::Block& block, int half) const;
  [[nodiscard]] const PoolDraw* pool_of(const timing::Block& block, int half) const;
  [[nodiscard]] std::vector<problem::Draw> draws(const problem::Problem& problem) const;

  const std::deque<TimedShape>& shapes_;
  Plan plan_;
  problem::Key key_;
  int replicate_;
  bool only_pool_, fresh_;
  FillAhead ahead_;
  std::size_t taken_ = 0;
};

}  // namespace sweep::evaluate
