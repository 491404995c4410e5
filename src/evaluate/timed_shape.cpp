#include "evaluate/timed_shape.h"

#include "evaluate/memory.h"
#include "util/clock.h"

#include <sweep/random.h>

#include <algorithm>
#include <utility>

namespace sweep::evaluate {
namespace {

// Wall time of the stage's calls above which blocks become fewer.
constexpr double kBudgetGpu = 1.2;
// Where a pilot chooses the replicates: fewer blocks would be made up for by more replicates.
constexpr double kBudgetPilot = 2;
constexpr double kBudgetCpu = 3;
constexpr int kMostTimedBlocks = 20;
constexpr int kLeastBlocks = 4;

constexpr double kPoolSeconds = 1;
// Contents whose work is counted for the floor: groups are made anew for it.
constexpr int kFloorDraws = 2;

// A server's last-level cache takes longer to flush than most kernels of the cpu device run.
constexpr double kCheapFlushSeconds = 0.005;

constexpr double kRotatedBytes = double{256U << 20U};

void make_benches(Session& session,
                  const problem::Draw& draw,
                  const problem::Key& key,
                  int replicates,
                  TimedShape& shape) {
  const problem::Sizes sizes = problem::sizes_of(session.problem(), draw);
  const int sets = address_sets(sizes.input_bytes + sizes.output_bytes, replicates);
  for (int set = 0; set < sets; ++set) {
    shape.benches.push_back(session.make_bench(draw));
    shape.benches.back()->map_from(static_cast<std::size_t>(set));
  }
  shape.turn = key.derive("address sets\n" + shape.place.name).word(0) % shape.benches.size();
}

}  // namespace

int address_sets(double tensor_bytes, int replicates) {
  return tensor_bytes > kRotatedBytes ? 1 : std::clamp(replicates, 1, kAddressSets);
}

bool flush_is_cheap(device::Device& device) {
  util::RealClock clock;
  (void)device.flush_cache();
  const double begin = clock.monotonic();
  (void)device.flush_cache();
  return clock.monotonic() - begin <= kCheapFlushSeconds;
}

bool choose_flush(Session& session) {
  if (session.options().arm.device.kind != device::Kind::cpu) {
    return true;
  }
  const bool cheap = flush_is_cheap(session.device());
  session.set_flush(cheap);
  return cheap;
}

problem::Draw timed_draw(const problem::Problem& problem,
                         const Place& place,
                         const problem::Key& key,
                         const std::string& label) {
  return problem::make_draw(
      problem, place.name, place.free, "default", key.derive(place.name + '\n' + label));
}

TimedShape make_timed_shape(Session& session,
                            const Place& place,
                            const problem::Key& key,
                            bool only_pool,
                            int replicates,
                            const std::function<void()>& give_way) {
  const problem::Problem& problem = session.problem();
  TimedShape shape;
  shape.place = place;
  shape.unit = problem::name(problem.work.unit);
  shape.flops_needed = problem.work.flops_is_floor;
  util::RealClock clock;
  double begin = clock.monotonic();
  const std::size_t most = std::min(kPoolBytes, session.device().free_bytes() / 8);
  const int least = only_pool ? 2 : 1;
  std::size_t bytes = 0;
  for (int i = 0; i < kPoolDraws; ++i) {
    if (i >= least && (clock.monotonic() - begin > kPoolSeconds || bytes > most)) {
      break;
    }
    const double before = clock.monotonic();
    give_way();
    begin += clock.monotonic() - before;
    problem::Draw draw = timed_draw(problem, place, key, "pool/" + std::to_string(i));
    if (shape.benches.empty()) {
      make_benches(session, draw, key, replicates, shape);
      shape.least = session.least_scales(*shape.benches.front(), draw);
      shape.floor_seconds = problem::floor_seconds(problem, problem::work_of(problem, draw));
    }
    if (i < kFloorDraws) {
      const Floor floor = floor_of(problem, draw, session.device().info());
      shape.floor = i == 0 || floor.seconds < shape.floor.seconds ? floor : shape.floor;
    }
    Bench& bench = *shape.benches.front();
    bench.fill(draw);
    Truth truth = session.truth(bench, draw);
    Played seed = session.play_trusted(session.seed(), bench, draw, false);
    const Judgement own =
        session.comparer().with_oracle(draw, truth, bench, seed.outputs, seed.outputs, shape.least);
    for (const auto& [name, e] : own.e_max) {
      shape.e_max[name] = std::max(shape.e_max[name], e);
    }
    bytes += truth.bytes() * 3 / 2;  // the seed's output is at most half as large
    shape.pool.push_back({std::move(draw), std::move(truth), std::move(seed.outputs)});
  }
  std::erase_if(session.seed().seats,
                [&shape](const auto& seat) { return seat.first == shape.benches.front().get(); });
  return shape;
}

std::vector<int> choose_blocks(const Session& session,
                               const std::deque<TimedShape>& shapes,
                               const StageOptions& options,
                               bool only_pool) {
  const bool cpu = session.options().arm.device.kind == device::Kind::cpu;
  const double budget = cpu ? kBudgetCpu : options.pilot ? kBudgetPilot : kBudgetGpu;
  const double share =
      budget / std::max(options.replicates, 1) / static_cast<double>(shapes.size());
  std::vector<int> blocks;
  for (const TimedShape& shape : shapes) {
    const double fitting = share / std::max(4 * shape.call_seconds, 1e-6);
    int count =
        options.blocks > 0
            ? options.blocks
            : static_cast<int>(std::clamp(fitting, double{kLeastBlocks}, double{kMostTimedBlocks}));
    if (only_pool) {
      count = std::clamp(static_cast<int>(shape.pool.size()) / 2, 1, count);
    }
    blocks.push_back(count);
  }
  return blocks;
}

std::string clock_name(const Session& session, bool flushed) {
  if (session.options().arm.device.kind == device::Kind::cuda) {
    return "cuda events";
  }
  return flushed ? "monotonic clock" : "monotonic clock, caches not flushed";
}

std::optional<Failure> judge_pair(Session& session,
                                  const TimedShape& shape,
                                  Bench& bench,
                                  const problem::Draw& draw,
                                  const PoolDraw* pool,
                                  const Tensors& got,
                                  const Tensors& seed) {
  if (!session.has(Defence::timed_compare)) {
    return std::nullopt;
  }
  Comparer& comparer = session.comparer();
  Judgement judgement =
      pool != nullptr ? comparer.with_oracle(draw, pool->truth, bench, got, pool->seed, shape.least)
                      : comparer.with_seed(bench, got, seed, shape.e_max, shape.least);
  return std::move(judgement.failure);
}

void note_events(TimedShape& shape, const device::RunTime& seed, const device::RunTime& candidate) {
  const auto take = [](double& shortest, double seconds) {
    shortest = shortest > 0 ? std::min(shortest, seconds) : seconds;
  };
  take(shape.seed_event, seed.device_seconds);
  take(shape.candidate_event, candidate.device_seconds);
}

void note_plans(TimedShape& shape,
                const Bench& bench,
                const Player& seed,
                const Player& candidate) {
  const auto seat_of = [&bench](const Player& player) -> const Seat* {
    const auto found =
        std::ranges::find(player.seats, &bench, [](const auto& seat) { return seat.first; });
    return found == player.seats.end() ? nullptr : found->second.get();
  };
  if (const Seat* seat = seat_of(candidate)) {
    shape.launches = seat->launches();
    shape.scratch_bytes = seat->scratch_bytes();
  }
  if (const Seat* seat = seat_of(seed)) {
    shape.seed_launches = seat->launches();
    shape.seed_scratch_bytes = seat->scratch_bytes();
  }
}

const PoolDraw* pool_draw(const TimedShape& shape,
                          const problem::Key& key,
                          int replicate,
                          int index,
                          int contents,
                          bool only_pool) {
  const auto size = static_cast<int>(shape.pool.size());
  // In another order in every replicate: contents that cost different times would look like a drift
  // that all replicates share.
  const std::uint64_t order =
      key.derive("pool order\n" + shape.place.name + '\n' + std::to_string(replicate)).word(0);
  const auto at = [&](int turn) {
    const auto round = static_cast<std::uint64_t>(turn / size);
    const auto place = static_cast<random::U64>(turn % size);
    return &shape.pool[random::permuted(order + round, place, static_cast<random::U64>(size))];
  };
  if (only_pool) {
    return at(index);
  }
  const int stride = std::max(contents / size, 1);
  const int shift = static_cast<int>(
      key.derive("pool places\n" + shape.place.name + '\n' + std::to_string(replicate)).word(0) %
      static_cast<std::uint64_t>(stride));
  const bool chosen = index % stride == shift && index / stride < size;
  return chosen ? at(index / stride) : nullptr;
}

double needed_bytes(Session& session,
                    const std::vector<Place>& places,
                    const problem::Key& key,
                    int replicates) {
  std::vector<problem::Draw> draws;
  for (const Place& place : places) {
    draws.push_back(timed_draw(session.problem(), place, key, "pool/0"));
  }
  return timed_bytes(session, draws, std::clamp(replicates, 1, kPairsAtOnce));
}

}  // namespace sweep::evaluate
