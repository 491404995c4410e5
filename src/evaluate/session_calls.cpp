#include "evaluate/session.h"
#include "util/clock.h"
#include "util/error.h"

#include <algorithm>

namespace sweep::evaluate {
namespace {

// Adds the seconds of its scope to a sum.
class Timed {
 public:
  explicit Timed(double& sum) : sum_(sum) {}

  ~Timed() { sum_ += clock_.monotonic() - begin_; }

  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  double& sum_;
  util::RealClock clock_;
  double begin_ = clock_.monotonic();
};

}  // namespace

std::uint64_t Session::poison_number(std::uint64_t call) const {
  return problem::Key::from_seed(options_.seed).derive("poison").word(0) + call;
}

Played Session::play(Player& player, Bench& bench, const problem::Draw& draw, bool timed) {
  Seat& place = seat(player, bench, draw);
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

Played Session::play_trusted(Player& player, Bench& bench, const problem::Draw& draw, bool timed) {
  try {
    return play(player, bench, draw, timed);
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
  if (failure.verdict == Verdict::incorrect_input_mutated) {
    failure.hint = "a kernel wrote to an input; inputs are read-only, use `scratch` for work space";
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
