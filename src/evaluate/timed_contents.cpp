#include "evaluate/timed_contents.h"

#include <string>
#include <utility>

namespace sweep::evaluate {

TimedContents::TimedContents(const Session& session,
                             const std::deque<TimedShape>& shapes,
                             Plan plan,
                             const problem::Key& key,
                             int replicate,
                             bool only_pool)
    : shapes_(shapes),
      plan_(std::move(plan)),
      key_(key),
      replicate_(replicate),
      only_pool_(only_pool),
      fresh_(session.has(Defence::fresh_content)),
      ahead_(session.problem(),
             draws(session.problem()),
             fill_threads(session.options().arm.device.kind)) {}

// Number of a content within the replicate.
int TimedContents::index_of(const timing::Block& block, int half) const {
  return fresh_ ? 2 * block.number + half : 0;
}

const PoolDraw* TimedContents::pool_of(const timing::Block& block, int half) const {
  const auto shape = static_cast<std::size_t>(block.shape);
  return pool_draw(shapes_.at(shape),
                   key_,
                   replicate_,
                   index_of(block, half),
                   2 * plan_.blocks.at(shape),
                   only_pool_);
}

std::vector<problem::Draw> TimedContents::draws(const problem::Problem& problem) const {
  std::vector<problem::Draw> draws;
  for (const timing::Block& block : plan_.schedule) {
    const TimedShape& shape = shapes_.at(static_cast<std::size_t>(block.shape));
    for (int half = 0; half < 2; ++half) {
      const PoolDraw* pool = pool_of(block, half);
      const std::string label =
          std::to_string(replicate_) + '/' + std::to_string(index_of(block, half));
      draws.push_back(pool != nullptr ? pool->draw : timed_draw(problem, shape.place, key_, label));
    }
  }
  return draws;
}

TimedContents::Half TimedContents::next() {
  FillAhead::Content content = ahead_.next();
  const timing::Block& block = plan_.schedule.at(taken_ / 2);
  Half made{std::move(content.draw),
            std::move(content.plan),
            pool_of(block, static_cast<int>(taken_ % 2)),
            {}};
  ++taken_;
  if (const problem::Draw* coming = ahead_.coming()) {
    const int shape = plan_.schedule.at(taken_ / 2).shape;
    made.coming = {&shapes_.at(static_cast<std::size_t>(shape)).bench(replicate_), coming};
  }
  return made;
}

}  // namespace sweep::evaluate
