// One judged call of the check, stress and held-out stages, and what a wrong output is evidence of.
#include "evaluate/judge_draws.h"
#include "evaluate/session.h"
#include "evaluate/timed.h"
#include "problem/ranks.h"

#include <algorithm>

namespace sweep::evaluate {
namespace {

// Fresh processes that must all be right, and repetitions of the failing history that must all be
// wrong. A race that is right with probability p passes for state with at most p^5 (1-p)^3 < 0.6%.
constexpr int kFreshRounds = 5;
constexpr int kHistoryRounds = 3;
// Calls repeated before the failing one.
constexpr int kLongestHistory = 30;

bool about_values(Verdict verdict) {
  return verdict == Verdict::incorrect_value || verdict == Verdict::incorrect_precision ||
         verdict == Verdict::incorrect_unwritten;
}

}  // namespace

std::variant<Played, Failure> Session::attempt(Player& player,
                                               Bench& bench,
                                               const Content& content) {
  try {
    return play(player, bench, content.draw, false);
  } catch (const PlanFault& fault) {
    return failure_of(fault, player);
  } catch (const ArmFault& fault) {
    const bool crowded = fault.fault().kind == device::Fault::Kind::timeout ||
                         fault.fault().kind == device::Fault::Kind::out_of_memory;
    player.reset();
    if (crowded) {
      lock(util::LockMode::exclusive);
    }
  }
  // The content is made again: the device may have lost it.
  put(bench, content);
  (void)play_trusted(seed_, bench, content.draw, false);
  try {
    return play(player, bench, content.draw, false);
  } catch (const ArmFault& fault) {
    Failure failure = failure_of(fault, player);
    player.reset();
    put(bench, content);
    (void)play_trusted(seed_, bench, content.draw, false);
    return failure;
  }
}

// A wrong output that is right for the content before it was not computed from this call's inputs.
void Session::explain_stale(Failure& failure,
                            const problem::Draw& draw,
                            Bench& bench,
                            const Tensors& got) {
  if (failure.verdict != Verdict::incorrect_value &&
      failure.verdict != Verdict::incorrect_precision) {
    return;
  }
  if (!has(Defence::stale) || !has(Defence::oracle) || !earlier_ || earlier_->dims != draw.dims) {
    return;
  }
  const Judgement before = comparer_.with_oracle(
      draw, earlier_->expected->truth, bench, got, earlier_->expected->seed, least_);
  if (!before.failure) {
    failure.verdict = Verdict::rejected_stale;
    failure.hint =
        "the output is right for the inputs of the call before: it was kept, not computed";
  }
}

// Whether the call is right in a fresh process after `calls` calls on the same content.
bool Session::right_after(int calls,
                          Player& player,
                          Bench& bench,
                          const Content& content,
                          const Truth& truth,
                          const Tensors& seed) {
  player.reset();
  put(bench, content);
  for (int i = 0; i < calls; ++i) {
    (void)play(player, bench, content.draw, false);
  }
  const Played last = play(player, bench, content.draw, false);
  return !last.damage &&
         !comparer_.with_oracle(content.draw, truth, bench, last.outputs, seed, least_).failure;
}

// Right in every fresh process and wrong in every one that has made as many calls before: the
// output depends on what earlier calls left.
void Session::explain_state(Failure& failure,
                            Player& player,
                            Bench& bench,
                            const Content& content,
                            const Truth& truth,
                            const Tensors& seed) {
  const int history = std::min(player.calls - 1, kLongestHistory);
  if (!has(Defence::state) || !about_values(failure.verdict) || history < 1) {
    return;
  }
  try {
    for (int round = 0; round < kFreshRounds; ++round) {
      if (!right_after(0, player, bench, content, truth, seed)) {
        return;
      }
    }
    for (int round = 0; round < kHistoryRounds; ++round) {
      if (right_after(history, player, bench, content, truth, seed)) {
        return;
      }
    }
  } catch (const ArmFault&) {
    player.reset();
    return;
  }
  failure.verdict = Verdict::rejected_state;
  failure.hint = "right in a fresh process, wrong after " + std::to_string(history) +
                 " calls: something is kept between calls";
}

std::optional<Failure> Session::late_store(Bench& bench, const Tensors& outputs) {
  if (!has(Defence::late_store) || bench.outputs_equal(outputs)) {
    return std::nullopt;
  }
  Failure failure;
  failure.verdict = Verdict::rejected_late_store;
  failure.defence = Defence::late_store;
  failure.text = "outputs changed after the call had ended";
  return failure;
}

std::optional<Failure> Session::stray_store(Player& player,
                                            Bench& bench,
                                            const problem::Draw& draw) {
  constexpr int kMostSteps = 256;
  if (!problem::ranked(problem_) || draw.dims.at("ranks") < 2 || !has(Defence::read_only_inputs)) {
    return std::nullopt;
  }
  std::string changed;
  try {
    Seat& place = seat(player, bench, draw, false);
    if (place.launches() > kMostSteps) {
      return std::nullopt;
    }
    const std::uint64_t number = poison_number(++calls_);
    bench.before_call(poison_word(number));
    Tensors before = bench.outputs(store_);
    place.step_through(problem_.limits.seconds, poison_word(~number), [&](std::size_t rank) {
      if (changed.empty()) {
        changed = bench.changed_beside(rank, before);
        before = bench.outputs(store_);
      }
    });
  } catch (const ArmFault& fault) {
    Failure failure = failure_of(fault, player);
    player.reset();
    return failure;
  }
  if (changed.empty()) {
    return std::nullopt;
  }
  Failure failure;
  failure.verdict = Verdict::incorrect_input_mutated;
  failure.defence = Defence::read_only_inputs;
  failure.tensor = changed;
  failure.text = "a launch of one rank stored into '" + changed + "' of another";
  failure.hint = "a rank writes its own outputs; peers read them, or its scratch, in a later step";
  return failure;
}

Call Session::judge(Player& player, const problem::Draw& draw, const Perturbation* change) {
  give_way();
  const Content content{draw, change};
  Call call;
  call.shape = draw.shape;
  call.dims = free_dims(problem_, draw.dims);
  call.content = change == nullptr ? draw.content : draw.content + ", " + change->text();
  Bench& bench = timed(costs_.bench, [&]() -> Bench& { return bench_for(draw); });
  const std::shared_ptr<const Expected> expected = expected_for(bench, content);
  least_ = expected->least;
  auto tried = timed(costs_.candidate, [&] { return attempt(player, bench, content); });
  if (auto* failure = std::get_if<Failure>(&tried)) {
    call.failure = std::move(*failure);
    return call;
  }
  const Timed comparing(costs_.compare);
  Played& played = std::get<Played>(tried);
  call.device_seconds = played.time.device_seconds;
  Judgement judgement =
      comparer_.with_oracle(draw, expected->truth, bench, played.outputs, expected->seed, least_);
  call.worst_share = judgement.worst_share;
  call.failure = played.damage ? std::move(played.damage) : std::move(judgement.failure);
  if (call.failure) {
    if (change != nullptr && call.failure->defence == Defence::oracle) {
      call.failure->defence = Defence::perturb_one;
    }
    explain_stale(*call.failure, draw, bench, played.outputs);
    explain_state(*call.failure, player, bench, content, expected->truth, expected->seed);
  } else {
    call.failure = late_store(bench, played.outputs);
    if (!call.failure) {
      call.failure = stray_store(player, bench, draw);
    }
  }
  earlier_ = Earlier{draw.dims, expected};
  return call;
}

}  // namespace sweep::evaluate
