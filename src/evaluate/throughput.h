#pragma once

#include "evaluate/lanes.h"
#include "evaluate/timed_pair.h"
#include "evaluate/timed_shape.h"

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace sweep::evaluate {

// Short calls in graphs of many, each call on buffers and contents of its own (docs/timing.md): two
// blocks of four graphs in each replicate, after all its other calls. Their times decide nothing;
// their outputs are judged. Before the device is locked every call of a graph is held against the
// seed's; later graphs must have the same bits, or a few of their calls, which the kernel cannot
// know, are held against the seed's again.
class ShortCalls {
 public:
  // The shapes must stay where they are. `key`: of contents and of which calls are looked at.
  ShortCalls(Session& session, const problem::Key& key, timing::ScheduleKey schedule);

  // Makes the buffers at the first pair that was warmed, unless TimedShape::throughput then has a
  // reason why not, and gets the pair's graphs ready. Under a shared lock. Throws ArmFault and
  // PlanFault of the candidate; what goes wrong with the seed is util::InfraError "E_SEED_FAULT".
  [[nodiscard]] std::optional<Failure> get_ready(Pair& pair, TimedShape& shape, std::size_t number);

  // Times the pair's graphs, with the device alone, and adds whole blocks. Nothing to do where they
  // are not ready. Throws as get_ready().
  [[nodiscard]] std::optional<Failure> measure(Pair& pair,
                                               const std::deque<TimedShape>& shapes,
                                               std::vector<Sample>& samples);

  // The candidate's process of this replicate has ended.
  void forget(int replicate);

  // A content that the last graph's calls had, to repeat a fault on.
  [[nodiscard]] const problem::Draw& draw() const;

 private:
  struct Place {
    std::vector<problem::Draw> draws;
    std::unique_ptr<Lanes> lanes;
    bool has_seed = false, has_own = false;  // lanes keep the outputs of
  };

  struct Ready {
    Session::Graph seed, candidate;
  };

  // Runs the first calls of a graph alone, as many as a keyed choice says: one that leaves work to
  // a later call, through scratch, or does that of a call to come shows. Calls cannot know: places,
  // contents and scratch are those of the whole graph.
  [[nodiscard]] std::optional<Failure> judge_cut(
      Pair& pair,
      const TimedShape& shape,
      Bench& bench,
      const Place& place,
      const std::vector<std::vector<device::Address>>& addresses);
  [[nodiscard]] std::string why_not(const TimedShape& shape, const Bench& bench) const;
  void make(TimedShape& shape, Bench& bench, Place& place);
  [[nodiscard]] std::vector<std::vector<device::Address>> map(Player& player, const Place& place);
  [[nodiscard]] std::optional<Failure> measure(Pair& pair,
                                               const TimedShape& shape,
                                               std::size_t number,
                                               std::vector<Sample>& samples);
  [[nodiscard]] std::optional<Failure> judge(const Place& place,
                                             const TimedShape& shape,
                                             Bench& bench,
                                             const std::vector<int>& lanes);
  [[nodiscard]] std::optional<Failure> judge_some(
      const Place& place, const TimedShape& shape, Bench& bench, int replicate, int graph);

  Session& session_;
  problem::Key key_;
  timing::ScheduleKey schedule_;
  std::uint32_t poison_;
  std::map<std::size_t, Place> places_;                 // by number of the shape
  std::map<std::pair<int, std::size_t>, Ready> ready_;  // by replicate and shape
  std::size_t last_ = 0;                                // shape in work
};

// Device memory that graphs of the draw's shape take at most.
[[nodiscard]] double graph_bytes(const problem::Sizes& sizes);

}  // namespace sweep::evaluate
