#include "evaluate/judge_stages.h"
#include "evaluate/memory.h"
#include "evaluate/slope_clock.h"
#include "evaluate/throughput.h"
#include "evaluate/time_summary.h"
#include "evaluate/timed_contents.h"
#include "evaluate/timed_pair.h"
#include "evaluate/timed_shape.h"
#include "timing/schedule.h"
#include "timing/statistics.h"
#include "util/clock.h"
#include "util/error.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <utility>

namespace sweep::evaluate {
namespace {

using timing::Arm;

constexpr int kPilotReplicates = 2;

class TimeStage {
 public:
  TimeStage(Session& session,
            const StageOptions& options,
            const problem::Key& key,
            const Tick& tick)
      : session_(session),
        options_(options),
        key_(key.derive(options.confirm ? "confirm" : "time")),
        tick_(tick),
        only_pool_(!seed_rule_suffices(session.problem())),
        monitor_(session.options().arm.device, session.device().info()),
        graphs_(session, key_, schedule_key()) {}

  TimeResult run(const std::vector<Place>& places) {
    bytes_ = needed_bytes(session_, places, key_, options_.replicates);
    session_.lock(util::LockMode::shared, bytes_);
    session_.clear_bench();
    flushed_ = choose_flush(session_);
    (void)watch_.lap();
    int replicates = std::max(options_.replicates, 1);
    start_pairs(0, std::min(options_.pilot ? kPilotReplicates : replicates, kPairsAtOnce));
    const int most = options_.pilot ? timing::kMostReplicates : replicates;
    for (const Place& place : places) {
      shapes_.push_back(
          make_timed_shape(session_, place, key_, only_pool_, most, [this] { give_way(); }));
    }
    phases_.pool = watch_.lap();
    if (options_.pilot) {
      replicates = pilot(replicates);
    }
    for (int done = 0; done < replicates && !failure_; done += kPairsAtOnce) {
      run_batch(done, std::min(replicates - done, kPairsAtOnce), replicates);
    }
    TimeResult result = summary();
    pairs_.clear();
    shapes_.clear();
    return result;
  }

 private:
  // Starts processes up to `count` pairs; they get ready while the judge does something else.
  void start_pairs(int first, int count) {
    while (static_cast<int>(pairs_.size()) < count) {
      const int number = first + static_cast<int>(pairs_.size());
      pairs_.push_back(start_pair(session_, timing::first_arm(schedule_key(), number), number));
    }
  }

  // To who waits to be alone, unless our own processes would disturb it.
  void give_way() {
    if (std::ranges::all_of(pairs_, started)) {
      session_.give_way();
    }
  }

  // Replicates of the verdict, whose numbers follow the pilot's: contents and order are fresh.
  int pilot(int least) {
    run_batch(0, kPilotReplicates, kPilotReplicates);
    pilot_ = std::exchange(samples_, {});
    slopes_.clear();
    skip_ = kPilotReplicates;
    return failure_ ? 0 : replicates_after_pilot(pilot_, shapes_.size(), least);
  }

  // Warms the pairs, then takes the device alone.
  void run_batch(int first, int count, int replicates) {
    session_.lock(util::LockMode::shared, bytes_);
    start_pairs(skip_ + first, count);
    (void)watch_.lap();
    for (int i = 0; i < count; ++i) {
      Pair& pair = pairs_.at(static_cast<std::size_t>(i));
      pair.in_order([&] { pair.seed.arm->ready(); }, [&] { get_ready(pair); });
    }
    phases_.start += watch_.lap();
    for (int i = 0; i < count && !failure_; ++i) {
      warm(pairs_.at(static_cast<std::size_t>(i)));
    }
    phases_.warm += watch_.lap();
    std::unique_ptr<TimedContents> contents;
    if (!failure_) {
      // The first replicate's pace decides for all.
      blocks_ = blocks_.empty() ? choose_blocks(session_, shapes_, options_, only_pool_) : blocks_;
      contents = contents_of(skip_ + first, skip_ + first + count);
    }
    session_.lock(util::LockMode::exclusive);
    look_around(true);
    (void)watch_.lap();
    for (int i = 0; i < count && !failure_; ++i) {
      const int done = first + i;
      tick_("replicate", static_cast<std::size_t>(done), static_cast<std::size_t>(replicates));
      run_replicate(pairs_.at(static_cast<std::size_t>(i)), contents, skip_ + first + count);
      conditions_.push_back(monitor_.read());
    }
    phases_.calls += watch_.lap();
    look_around(false);
    session_.unlock();
    for (Pair& pair : pairs_) {
      session_.retire(std::move(pair.seed));
      session_.retire(std::move(pair.candidate));
    }
    pairs_.clear();
  }

  void look_around(bool begin) {
    if (session_.options().neighbours) {
      device::add_neighbours(neighbours_, session_.options().neighbours(begin));
    }
  }

  void warm(Pair& pair) {
    for (std::size_t number = 0; number < shapes_.size(); ++number) {
      TimedShape& shape = shapes_[number];
      give_way();
      warm_call(pair, shape, "warm/" + std::to_string(pair.replicate), false);
      note_plans(shape, shape.bench(pair.replicate), pair.seed, pair.candidate);
      if (shape.call_seconds == 0 && !failure_) {
        // Everything is in place now: what a judged call takes decides how many blocks there are.
        const double begin = clock_.monotonic();
        warm_call(pair, shape, "pace/" + std::to_string(pair.replicate), true);
        shape.call_seconds = (clock_.monotonic() - begin) / 2;
      }
      with_graphs(pair, [&] { return graphs_.get_ready(pair, shape, number); });
      if (failure_) {
        return;
      }
    }
  }

  void warm_call(Pair& pair, TimedShape& shape, const std::string& label, bool judged) {
    const problem::Draw draw = timed_draw(session_.problem(), shape.place, key_, label);
    Bench& bench = shape.bench(pair.replicate);
    bench.fill(draw);
    std::optional<Played> seed, own;
    pair.in_order([&] { seed = session_.play_trusted(pair.seed, bench, draw, true); },
                  [&] { own = warm_candidate(pair, bench, draw); });
    if (failure_ || !own) {
      return;
    }
    note_events(shape, seed->time, own->time);
    if (judged && !only_pool_) {
      failure_ = judge_pair(session_, shape, bench, draw, nullptr, own->outputs, seed->outputs);
    }
  }

  // Nothing after a fault.
  std::optional<Played> warm_candidate(Pair& pair, Bench& bench, const problem::Draw& draw) {
    try {
      return session_.play(pair.candidate, bench, draw, true);
    } catch (const ArmFault& fault) {
      recheck(fault, pair, draw);
    } catch (const PlanFault& fault) {
      failure_ = Session::failure_of(fault, pair.candidate);
    }
    return std::nullopt;
  }

  // A part of graphs_, where that is asked for.
  template <class Part>
  void with_graphs(Pair& pair, const Part& part) {
    const bool piloting = options_.pilot && skip_ == 0;
    if (!options_.throughput || piloting || failure_ || pair.candidate.arm == nullptr) {
      return;
    }
    try {
      failure_ = part();
    } catch (const ArmFault& fault) {
      recheck(fault, pair, graphs_.draw());
    } catch (const PlanFault& fault) {
      failure_ = Session::failure_of(fault, pair.candidate);
    }
  }

  void get_ready(Pair& pair) {
    try {
      pair.candidate.arm->ready();
    } catch (const ArmFault& fault) {
      failure_ = session_.failure_of(fault, pair.candidate);
    }
  }

  // A fault in a timed call is judged like one in check: it counts if it recurs, at once or in any
  // later call. More than one would let a kernel choose which of its calls are counted.
  void recheck(const ArmFault& fault, Pair& pair, const problem::Draw& draw) {
    Failure failure = session_.failure_of(fault, pair.candidate);
    pair.candidate.reset();
    graphs_.forget(pair.replicate);
    if (++faults_ > 1) {
      failure_ = std::move(failure);
      return;
    }
    Call call = session_.judge(session_.candidate(), draw);
    session_.clear_bench();
    failure_ = std::move(call.failure);
  }

  [[nodiscard]] timing::ScheduleKey schedule_key() const {
    return {session_.problem().id, session_.candidate().code->digest, options_.session};
  }

  // What the calls of a replicate are made on; other threads begin to make it. Null beyond the
  // last.
  [[nodiscard]] std::unique_ptr<TimedContents> contents_of(int replicate, int end) const {
    if (replicate >= end) {
      return nullptr;
    }
    return std::make_unique<TimedContents>(
        session_,
        shapes_,
        TimedContents::Plan{timing::schedule(schedule_key(), replicate, blocks_), blocks_},
        key_,
        replicate,
        only_pool_);
  }

  void run_replicate(Pair& pair, std::unique_ptr<TimedContents>& contents, int end) {
    for (const timing::Block& block : contents->blocks()) {
      for (int half = 0; half < 2 && !failure_; ++half) {
        run_half(pair, block, half, *contents);
      }
      if (failure_) {
        return;
      }
    }
    phases_.calls += watch_.lap();
    contents = contents_of(pair.replicate + 1, end);
    read_slopes(pair);
    phases_.slopes += watch_.lap();
    with_graphs(pair, [&] { return graphs_.measure(pair, shapes_, graph_samples_); });
    phases_.graphs += watch_.lap();
  }

  // The judge's own clock, beside events and the runner's. These calls are judged as well. They
  // come last: what a row leaves in a runner meets no timed call.
  void read_slopes(Pair& pair) {
    const int replicate = pair.replicate;
    for (std::size_t s = 0; s < shapes_.size() && !failure_; ++s) {
      const TimedShape& shape = shapes_[s];
      if (!slope_applies(session_, shape, options_)) {
        continue;
      }
      const PoolDraw* pool = only_pool_ ? &shape.pool.front() : nullptr;
      const problem::Draw draw = slope_draw(session_, shape, key_, replicate, only_pool_);
      Bench& bench = shape.bench(replicate);
      bench.fill(draw);
      try {
        const SlopeReading read =
            read_slope(session_, pair.seed, pair.candidate, bench, shape, draw);
        slopes_.push_back({replicate, static_cast<int>(s), read.seed, read.candidate});
        failure_ = judge_pair(session_, shape, bench, draw, pool, read.by_candidate, read.by_seed);
      } catch (const ArmFault& fault) {
        recheck(fault, pair, draw);
        return;
      }
    }
  }

  // On one content, unless a fault cuts it short: timing::analyse discards its block.
  void run_half(Pair& pair, const timing::Block& block, int half, TimedContents& contents) {
    const TimedShape& shape = shapes_.at(static_cast<std::size_t>(block.shape));
    Bench& bench = shape.bench(pair.replicate);
    const TimedContents::Half content = contents.next();
    const problem::Draw& draw = content.draw;
    double begin = clock_.monotonic();
    bench.fill(content.plan);
    session_.device().synchronize();
    phases_.costs.fill += clock_.monotonic() - begin;
    Tensors by_seed, by_candidate;
    for (int position = 2 * half; position < 2 * half + 2; ++position) {
      const bool candidate = block.order.at(static_cast<std::size_t>(position)) == Arm::candidate;
      auto played = call(pair, candidate, bench, draw, content.coming);
      if (!played) {
        return;
      }
      samples_.push_back({pair.replicate,
                          block.shape,
                          block.number,
                          position,
                          candidate,
                          played->time.device_seconds,
                          played->time.host_seconds,
                          played->flushed});
      phases_.costs += played->costs;
      (candidate ? by_candidate : by_seed) = std::move(played->outputs);
    }
    begin = clock_.monotonic();
    failure_ = judge_pair(session_, shape, bench, draw, content.pool, by_candidate, by_seed);
    if (!failure_ && block.order.at(static_cast<std::size_t>(half) * 2 + 1) == Arm::candidate) {
      failure_ = session_.late_store(bench, by_candidate);
    }
    phases_.costs.compare += clock_.monotonic() - begin;
  }

  std::optional<Played> call(
      Pair& pair, bool candidate, Bench& bench, const problem::Draw& draw, const NextCall& next) {
    if (!candidate) {
      return session_.play_trusted(pair.seed, bench, draw, true, next);
    }
    try {
      Played played = session_.play(pair.candidate, bench, draw, true, next);
      if (played.damage) {
        failure_ = std::move(played.damage);
        return std::nullopt;
      }
      return played;
    } catch (const ArmFault& fault) {
      recheck(fault, pair, draw);
      return std::nullopt;
    }
  }

  TimeResult summary() {
    TimeResult result;
    if (!failure_ && session_.has(Defence::floor)) {
      failure_ = floor_failure(samples_, shapes_);
    }
    result.failure = failure_;
    result.samples = samples_;
    result.slopes = slopes_;
    result.graphs = graph_samples_;
    result.pilot = pilot_;
    result.phases = phases_;
    result.conditions = device::worst_of(conditions_, "no replicate was timed");
    result.conditions.neighbours = neighbours_;
    result.replicates = options_.replicates;
    result.blocks = blocks_.empty() ? 0 : *std::ranges::max_element(blocks_);
    result.clock = clock_name(session_, flushed_);
    if (failure_) {
      return result;
    }
    add_statistics(result, shapes_, options_);
    return result;
  }

  Session& session_;
  const StageOptions& options_;
  problem::Key key_;
  const Tick& tick_;
  bool only_pool_;
  device::Monitor monitor_;
  std::vector<device::Conditions> conditions_;
  std::vector<device::Neighbour> neighbours_;
  double bytes_ = 0;  // of device memory
  bool flushed_ = true;
  std::vector<int> blocks_;  // of each shape in a replicate
  TimePhases phases_;
  util::RealClock clock_;
  util::Stopwatch watch_{clock_};
  std::deque<TimedShape> shapes_;
  std::deque<Pair> pairs_;  // refer to the benches of shapes_
  ShortCalls graphs_;
  std::vector<Sample> samples_, pilot_, graph_samples_;
  std::vector<SlopeSample> slopes_;
  int skip_ = 0;    // replicates of the pilot
  int faults_ = 0;  // in calls of the candidate
  std::optional<Failure> failure_;
};

}  // namespace

TimeResult run_time(Session& session,
                    const StageOptions& options,
                    const std::vector<Place>& places,
                    const problem::Key& key,
                    const Tick& tick) {
  if (places.empty()) {
    throw util::UsageError(
        {session.problem().id, "has no shape to time on this device", "give one with --shape"},
        "E_EVALUATE_SHAPES");
  }
  return TimeStage(session, options, key, tick).run(places);
}

}  // namespace sweep::evaluate
