#pragma once

#include "evaluate/floor_rule.h"
#include "evaluate/judge_stages.h"
#include "evaluate/session.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sweep::evaluate {

// A content whose oracle result is known.
struct PoolDraw {
  problem::Draw draw;
  Truth truth;
  Tensors seed;
};

// Draws with an oracle result for each shape: at most this many, and this much memory of results.
inline constexpr int kPoolDraws = 8;
inline constexpr std::size_t kPoolBytes = std::size_t{2} << 30U;

// Sets of buffers of a shape: replicates take turns, so that what one place in memory does to a
// kernel differs between replicates and widens their interval, in place of being part of all of
// them. Tensors of over 256 MiB have one: they are spread over a hundred pages as it is.
inline constexpr int kAddressSets = 3;

[[nodiscard]] int address_sets(double tensor_bytes, int replicates);

// One shape of the time stage: its buffers and the contents that are judged with the oracle.
struct TimedShape {
  Place place;
  std::vector<std::unique_ptr<Bench>> benches;  // of equal dims; address_sets() of them
  std::size_t turn = 0;                         // whose turn it is in replicate 0
  std::vector<PoolDraw> pool;
  ByOutput e_max;  // largest of the pool
  ByOutput least;  // least scales of small outputs
  double floor_seconds = 0;
  Floor floor;       // the lowest of the first contents of the pool
  std::string unit;  // of the work model
  bool flops_needed = false;
  int launches = 1, seed_launches = 1;  // of the plans, as warmed
  std::int64_t scratch_bytes = 0, seed_scratch_bytes = 0;
  double call_seconds = 0;  // one judged call, measured while warming; 0: not yet
  double seed_event = 0, candidate_event = 0;  // shortest of the warm calls; 0: none yet
  GraphTiming throughput;                      // calls of a graph, or why there is none

  // Of a replicate.
  [[nodiscard]] Bench& bench(int replicate) const {
    return *benches.at((turn + static_cast<std::size_t>(replicate)) % benches.size());
  }
};

// Whether a second flush of the device's caches takes at most 5 ms.
[[nodiscard]] bool flush_is_cheap(device::Device& device);

// Whether timed calls flush the device's caches: on the cpu device where that is cheap.
[[nodiscard]] bool choose_flush(Session& session);

// The default content `label` of a place.
[[nodiscard]] problem::Draw timed_draw(const problem::Problem& problem,
                                       const Place& place,
                                       const problem::Key& key,
                                       const std::string& label);

// Makes buffers and pool: at most 8 draws, 1 s of work and 2 GiB of oracle results, and of the
// device's free memory an eighth; at least one, two where `only_pool`. Runs reference and seed.
// `replicates`: the most that there will be. `give_way` is called before each draw; what it takes
// is no work.
[[nodiscard]] TimedShape make_timed_shape(Session& session,
                                          const Place& place,
                                          const problem::Key& key,
                                          bool only_pool,
                                          int replicates,
                                          const std::function<void()>& give_way);

// Blocks of each shape in a replicate: each gets the same share of the time, 20 blocks at most, as
// what takes long varies little; options.blocks decides where it is given.
[[nodiscard]] std::vector<int> choose_blocks(const Session& session,
                                             const std::deque<TimedShape>& shapes,
                                             const StageOptions& options,
                                             bool only_pool);

// TimeResult::clock. `flushed`: caches before each call (always on a GPU).
[[nodiscard]] std::string clock_name(const Session& session, bool flushed);

// What is wrong with a timed call's outputs, beside the seed's on the same content: by the oracle
// where the content is the pool's, else by the seed.
[[nodiscard]] std::optional<Failure> judge_pair(Session& session,
                                                const TimedShape& shape,
                                                Bench& bench,
                                                const problem::Draw& draw,
                                                const PoolDraw* pool,
                                                const Tensors& got,
                                                const Tensors& seed);

// Keeps the shortest event times of both arms' warm calls.
void note_events(TimedShape& shape, const device::RunTime& seed, const device::RunTime& candidate);

// Takes launches and scratch of both plans from their seats on the bench, if they have one.
void note_plans(TimedShape& shape, const Bench& bench, const Player& seed, const Player& candidate);

// The pool's draw for content `index` of `contents` in a replicate, or null: pool contents stand at
// keyed places, in keyed order, each at most once, and in turn where `only_pool`.
[[nodiscard]] const PoolDraw* pool_draw(const TimedShape& shape,
                                        const problem::Key& key,
                                        int replicate,
                                        int index,
                                        int contents,
                                        bool only_pool);

// Device memory that timing these places takes, with up to kPairsAtOnce pairs of processes.
[[nodiscard]] double needed_bytes(Session& session,
                                  const std::vector<Place>& places,
                                  const problem::Key& key,
                                  int replicates);

}  // namespace sweep::evaluate
