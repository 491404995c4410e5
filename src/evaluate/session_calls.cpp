#include "evaluate/session.h"
#include "evaluate/timed.h"
#include "problem/ranks.h"
#include "util/error.h"

#include <algorithm>
#include <iterator>

namespace sweep::evaluate {
namespace {

// What `call` returns; a fault of trusted code is the machine's.
template <class Make>
auto trusted(const Player& player, const problem::Draw& draw, const Make& call) {
  try {
    return call();
  } catch (const ArmFault& fault) {
    throw util::InfraError(
        {player.code->submission.file,
         "fails on " + draw.shape + ": " + fault.what(),
         "the device or the seed is broken: run `sweep doctor` and `sweep problems check`"},
        "E_SEED_FAULT");
  } catch (const PlanFault& fault) {
    throw util::InfraError({player.code->submission.file,
                            std::string("its plan fails: ") + fault.what(),
                            "run `sweep problems check`"},
                           "E_SEED_FAULT");
  }
}

}  // namespace

std::uint64_t Session::poison_number(std::uint64_t call) const {
  return problem::Key::from_seed(options_.seed).derive("poison").word(0) + call;
}

Played Session::play(
    Player& player, Bench& bench, const problem::Draw& draw, bool timed, const NextCall& next) {
  Seat& place = seat(player, bench, draw, timed);
  if (next.draw != nullptr) {
    const auto found =
        std::ranges::find(player.seats, next.bench, [](const auto& item) { return item.first; });
    if (found != player.seats.end()) {
      found->second->foresee(*next.draw);
    }
  }
  const std::uint64_t number = poison_number(++calls_);
  Played played;
  {
    const Timed timing(played.costs.poison);
    bench.before_call(poison_word(number), !has(Defence::poison));
  }
  if (timed && flush_ && has(Defence::flush)) {
    const Timed timing(played.costs.flush);
    played.flushed = device_->flush_cache().value_or(-1);
    device_->synchronize();
  }
  ++player.calls;
  {
    const Timed timing(played.costs.run);
    played.time = place.run(problem_.limits.seconds, poison_word(~number));
  }
  const Timed timing(played.costs.inspect);
  played.outputs = bench.outputs(store_);
  played.damage = damage_failure(bench.damage(), options_.off);
  return played;
}

Session::Slope Session::slope(Player& player,
                              Bench& bench,
                              const problem::Draw& draw,
                              RowSizes sizes) {
  Seat& place = seat(player, bench, draw);
  const bool flush = flush_ && has(Defence::flush);
  const auto row = [&](int calls) {
    const std::uint64_t number = poison_number(++calls_);
    bench.before_call(poison_word(number), !has(Defence::poison));
    device_->synchronize();
    player.calls += calls;
    return place.row(calls, flush, problem_.limits.seconds, poison_word(~number));
  };
  if (flush) {
    // A process's first flush allocates.
    (void)row(1);
  }
  const double few = row(sizes.few), many = row(sizes.many);
  return {(many - few) / (sizes.many - sizes.few), bench.outputs(store_)};
}

Played Session::play_trusted(
    Player& player, Bench& bench, const problem::Draw& draw, bool timed, const NextCall& next) {
  return trusted(player, draw, [&] { return play(player, bench, draw, timed, next); });
}

Session::Slope Session::slope_trusted(Player& player,
                                      Bench& bench,
                                      const problem::Draw& draw,
                                      RowSizes sizes) {
  return trusted(player, draw, [&] { return slope(player, bench, draw, sizes); });
}

Session::Graph Session::make_graph(Player& player,
                                   Bench& bench,
                                   const std::vector<problem::Draw>& draws,
                                   const std::vector<std::vector<device::Address>>& lanes) {
  Seat& place = seat(player, bench, draws.at(0));
  std::vector<device::Step> steps;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    auto more = place.steps_on(draws[i], lanes.at(i));
    if (!more || more->empty()) {
      return {};
    }
    // All calls have the one scratch.
    if (auto* launch = std::get_if<device::Launch>(&more->front())) {
      launch->attributes.early_start = false;
    }
    std::ranges::move(*more, std::back_inserter(steps));
  }
  return {player.arm->prepare(steps), static_cast<int>(draws.size())};
}

Session::GraphRun Session::run_graph(
    Player& player, Bench& bench, const problem::Draw& first, const Graph& graph, bool timed) {
  Seat& place = seat(player, bench, first);
  GraphRun run;
  if (timed && flush_ && has(Defence::flush)) {
    run.flushed = device_->flush_cache().value_or(-1);
  }
  device_->synchronize();
  player.calls += graph.calls;
  run.time = place.run_other(
      graph.sequence, problem_.limits.seconds * graph.calls, poison_word(~poison_number(++calls_)));
  return run;
}

Session::Graph Session::make_graph_trusted(Player& player,
                                           Bench& bench,
                                           const std::vector<problem::Draw>& draws,
                                           const std::vector<std::vector<device::Address>>& lanes) {
  return trusted(player, draws.at(0), [&] { return make_graph(player, bench, draws, lanes); });
}

Session::GraphRun Session::run_graph_trusted(
    Player& player, Bench& bench, const problem::Draw& first, const Graph& graph, bool timed) {
  return trusted(player, first, [&] { return run_graph(player, bench, first, graph, timed); });
}

Failure Session::failure_of(const ArmFault& fault, const Player& player) const {
  auto place = Seat::Place::elsewhere;
  if (fault.fault().address) {
    for (const auto& [bench, seat] : player.seats) {
      const Seat::Place here = seat->place(*fault.fault().address);
      place = here != Seat::Place::elsewhere ? here : place;
    }
  }
  const bool inside_input = place == Seat::Place::inside_input;
  const bool near_buffer = place == Seat::Place::near_buffer;
  Failure failure;
  failure.verdict = verdict_of(fault.fault(), inside_input, near_buffer);
  failure.defence = defence_of(fault.fault(), inside_input, near_buffer);
  failure.text = fault.fault().text;
  if (fault.forbidden() && options_.arm.device.kind == device::Kind::cpu) {
    // A GPU's runner has no host code but ours.
    failure.verdict = Verdict::rejected_escape;
    failure.defence = Defence::sandbox;
    failure.hint = "its host code made a system call that the sandbox ends a process for";
  } else if (failure.verdict == Verdict::incorrect_input_mutated) {
    failure.hint =
        problem::ranked(problem_)
            ? "a kernel wrote to an input, or through peers(T) to a tensor of a rank; both are "
              "read-only, use `scratch` for work space"
            : "a kernel wrote to an input; inputs are read-only, use `scratch` for work space";
  } else if (failure.verdict == Verdict::incorrect_out_of_bounds) {
    failure.hint = "an access left its buffer: is the index compared with the size?";
  } else if (failure.verdict == Verdict::timeout) {
    failure.hint = "the limit of a call is set by the problem";
  }
  return failure;
}

Failure Session::failure_of(const PlanFault& fault, const Player& player) {
  Failure failure;
  failure.verdict = Verdict::plan_error;
  failure.defence = Defence::plan_rules;
  submission::PlanError error = fault.error();
  if (error.file.empty()) {
    error.file = player.code->submission.file;
  }
  failure.text = error.text(player.code->submission.source);
  return failure;
}

}  // namespace sweep::evaluate
