#include "evaluate/throughput.h"

#include "evaluate/fill_ahead.h"
#include "problem/ranks.h"
#include "timing/short_calls.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace sweep::evaluate {
namespace {

constexpr int kBlocks = 2;
// Calls of a graph that are held against the seed's where its bits are others than before.
constexpr int kLookedAt = 8;

}  // namespace

ShortCalls::ShortCalls(Session& session, const problem::Key& key, timing::ScheduleKey schedule)
    : session_(session),
      key_(key.derive("graphs")),
      schedule_(std::move(schedule)),
      poison_(poison_word(key_.word(0))) {
  schedule_.session += " graphs";
}

std::string ShortCalls::why_not(const TimedShape& shape, const Bench& bench) const {
  if (problem::ranked(session_.problem())) {
    return "the problem has virtual ranks";
  }
  if (!seed_rule_suffices(session_.problem())) {
    return "outputs of this problem are judged with its reference alone";
  }
  return timing::graph_size(shape.seed_event, shape.candidate_event, Lanes::bytes_of(bench)).reason;
}

void ShortCalls::make(TimedShape& shape, Bench& bench, Place& place) {
  shape.throughput.reason = why_not(shape, bench);
  if (!shape.throughput.reason.empty()) {
    return;
  }
  const int calls =
      timing::graph_size(shape.seed_event, shape.candidate_event, Lanes::bytes_of(bench)).calls;
  if (Lanes::bytes_of(bench) * static_cast<std::size_t>(calls) > session_.device().free_bytes()) {
    shape.throughput.reason = "the device has no memory left for its buffers";
    return;
  }
  for (int i = 0; i < calls; ++i) {
    place.draws.push_back(
        timed_draw(session_.problem(), shape.place, key_, "graph/" + std::to_string(i)));
  }
  place.lanes = std::make_unique<Lanes>(session_.device(), bench, calls, poison_);
  FillAhead ahead(
      session_.problem(), place.draws, fill_threads(session_.options().arm.device.kind));
  for (int i = 0; i < calls; ++i) {
    const FillAhead::Content content = ahead.next();
    bench.fill(content.plan);
    place.lanes->take(i, bench);
    session_.device().synchronize();
  }
  shape.throughput.calls = calls;
}

// Addresses of each call's tensors in the player's process.
std::vector<std::vector<device::Address>> ShortCalls::map(Player& player, const Place& place) {
  const auto inputs =
      session_.has(Defence::read_only_inputs) ? device::Access::read : device::Access::read_write;
  std::vector<std::vector<device::Address>> addresses(place.draws.size());
  for (const Lanes::Slot& slot : place.lanes->slots()) {
    const device::Address begin =
        player.arm->map(*slot.shared, slot.input ? inputs : device::Access::read_write).address;
    for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
      addresses[lane].push_back(begin + lane * slot.stride);
    }
  }
  return addresses;
}

std::optional<Failure> ShortCalls::get_ready(Pair& pair, TimedShape& shape, std::size_t number) {
  Bench& bench = shape.bench(pair.replicate);
  last_ = number;
  const auto [found, fresh] = places_.try_emplace(number);
  Place& place = found->second;
  if (fresh) {
    make(shape, bench, place);
  }
  if (place.lanes == nullptr) {
    return std::nullopt;
  }
  Ready ready;
  const problem::Draw& first = place.draws.front();
  const auto seed = [&] {
    ready.seed = session_.make_graph_trusted(pair.seed, bench, place.draws, map(pair.seed, place));
  };
  std::vector<std::vector<device::Address>> own;
  const auto candidate = [&] {
    own = map(pair.candidate, place);
    ready.candidate = session_.make_graph(pair.candidate, bench, place.draws, own);
  };
  pair.in_order(seed, candidate);
  if (ready.seed.sequence == 0 || ready.candidate.sequence == 0) {
    shape.throughput = {0, 0, 0, {}, "a library's call, or scratch that differs between contents"};
    place.lanes.reset();
    return std::nullopt;
  }
  place.lanes->before_calls();
  (void)session_.run_graph_trusted(pair.seed, bench, first, ready.seed, false);
  if (!std::exchange(place.has_seed, true)) {
    place.lanes->keep(Lanes::Arm::seed);
  }
  place.lanes->before_calls();
  (void)session_.run_graph(pair.candidate, bench, first, ready.candidate, false);
  std::vector<int> all(place.draws.size());
  std::iota(all.begin(), all.end(), 0);
  std::optional<Failure> failure;
  if (!place.lanes->as_kept()) {
    failure = judge(place, shape, bench, all);
  }
  if (!failure && !std::exchange(place.has_own, true)) {
    place.lanes->keep(Lanes::Arm::candidate);
  }
  if (!failure) {
    failure = judge_cut(pair, shape, bench, place, own);
  }
  ready_[{pair.replicate, number}] = ready;
  return failure;
}

std::optional<Failure> ShortCalls::judge_cut(
    Pair& pair,
    const TimedShape& shape,
    Bench& bench,
    const Place& place,
    const std::vector<std::vector<device::Address>>& addresses) {
  const auto all = static_cast<std::uint64_t>(place.draws.size());
  const std::uint64_t word =
      key_.derive("cut\n" + shape.place.name + '\n' + std::to_string(pair.replicate)).word(0);
  const auto calls = static_cast<std::ptrdiff_t>(1 + word % (all - 1));
  const Session::Graph cut = session_.make_graph(pair.candidate,
                                                 bench,
                                                 {place.draws.begin(), place.draws.begin() + calls},
                                                 {addresses.begin(), addresses.begin() + calls});
  place.lanes->before_calls();
  (void)session_.run_graph(pair.candidate, bench, place.draws.front(), cut, false);
  pair.candidate.arm->forget(cut.sequence);
  Bench::Damage damage;
  damage.slack = place.lanes->written_from(static_cast<int>(calls));
  if (auto failure = damage_failure(damage, session_.options().off)) {
    return failure;
  }
  std::vector<int> lanes(static_cast<std::size_t>(calls));
  std::iota(lanes.begin(), lanes.end(), 0);
  return place.lanes->as_kept(static_cast<int>(calls)) ? std::nullopt
                                                       : judge(place, shape, bench, lanes);
}

std::optional<Failure> ShortCalls::measure(Pair& pair,
                                           const std::deque<TimedShape>& shapes,
                                           std::vector<Sample>& samples) {
  std::optional<Failure> failure;
  for (std::size_t number = 0; number < shapes.size() && !failure; ++number) {
    failure = measure(pair, shapes[number], number, samples);
  }
  return failure;
}

std::optional<Failure> ShortCalls::measure(Pair& pair,
                                           const TimedShape& shape,
                                           std::size_t number,
                                           std::vector<Sample>& samples) {
  const auto found = ready_.find({pair.replicate, number});
  if (found == ready_.end()) {
    return std::nullopt;
  }
  last_ = number;
  const Place& place = places_.at(number);
  Bench& bench = shape.bench(pair.replicate);
  const problem::Draw& first = place.draws.front();
  timing::ScheduleKey key = schedule_;
  key.session += ' ' + shape.place.name;
  for (const timing::Block& block :
       timing::schedule(key, pair.replicate, std::vector<int>{kBlocks})) {
    std::vector<Sample> four;
    for (int position = 0; position < 4; ++position) {
      const bool candidate =
          block.order.at(static_cast<std::size_t>(position)) == timing::Arm::candidate;
      place.lanes->before_calls();
      const Session::GraphRun run =
          candidate
              ? session_.run_graph(pair.candidate, bench, first, found->second.candidate, true)
              : session_.run_graph_trusted(pair.seed, bench, first, found->second.seed, true);
      four.push_back({pair.replicate,
                      static_cast<int>(number),
                      block.number,
                      position,
                      candidate,
                      run.time.device_seconds,
                      run.time.host_seconds,
                      run.flushed});
      if (candidate && !place.lanes->as_kept()) {
        const int graph = 4 * block.number + position;
        if (auto failure = judge_some(place, shape, bench, pair.replicate, graph)) {
          return failure;
        }
      }
    }
    samples.insert(samples.end(), four.begin(), four.end());
  }
  return std::nullopt;
}

std::optional<Failure> ShortCalls::judge_some(
    const Place& place, const TimedShape& shape, Bench& bench, int replicate, int graph) {
  const problem::Key key =
      key_.derive("look\n" + std::to_string(replicate) + '\n' + std::to_string(graph));
  std::vector<int> some;
  for (int i = 0; i < kLookedAt; ++i) {
    some.push_back(static_cast<int>(key.derive(std::to_string(i)).word(0) % place.draws.size()));
  }
  return judge(place, shape, bench, some);
}

std::optional<Failure> ShortCalls::judge(const Place& place,
                                         const TimedShape& shape,
                                         Bench& bench,
                                         const std::vector<int>& lanes) {
  if (!session_.has(Defence::timed_compare)) {
    return std::nullopt;
  }
  Bench::Damage damage;
  damage.slack = place.lanes->damaged();
  if (auto failure = damage_failure(damage, session_.options().off)) {
    return failure;
  }
  const problem::Problem& problem = session_.problem();
  const bool based = std::ranges::any_of(
      problem.tolerances, [](const auto& item) { return !item.second.base.empty(); });
  bench.before_call(poison_);
  for (const int lane : lanes) {
    if (based) {
      bench.fill(place.draws.at(static_cast<std::size_t>(lane)));
    }
    const Tensors got = place.lanes->outputs(lane, session_.store());
    const Tensors seed = place.lanes->seeds(lane, session_.store());
    Judgement judgement = session_.comparer().with_seed(bench, got, seed, shape.e_max, shape.least);
    if (judgement.failure) {
      return std::move(judgement.failure);
    }
  }
  return std::nullopt;
}

void ShortCalls::forget(int replicate) {
  std::erase_if(ready_, [replicate](const auto& item) { return item.first.first == replicate; });
}

const problem::Draw& ShortCalls::draw() const {
  return places_.at(last_).draws.front();
}

double graph_bytes(const problem::Sizes& sizes) {
  constexpr auto kBytes = static_cast<double>(timing::kMostGraphBytes);
  const double one = sizes.input_bytes + 4 * sizes.output_bytes;
  // An inout tensor counts as both here: five times in place of four.
  const bool too_large = one > 1.25 * kBytes / timing::kLeastGraphCalls;
  return too_large ? 0 : std::min(kBytes, static_cast<double>(timing::kMostGraphCalls) * one);
}

}  // namespace sweep::evaluate
