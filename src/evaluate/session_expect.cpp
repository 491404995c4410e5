// What a judged call is held against: computed for the call, or before there is a candidate.
#include "evaluate/judge_draws.h"
#include "evaluate/session.h"
#include "evaluate/timed.h"
#include "util/error.h"

#include <algorithm>
#include <cmath>

namespace sweep::evaluate {
namespace {

constexpr int kScaleDraws = 4;
// Calls are numbered, and what is poisoned follows from the numbers: the seed's call takes so many
// (Session::seat(), Session::play()), whether it is made now or was made before.
constexpr std::uint64_t kSeedNumbers = 2;

// Of the numbers that are finite.
double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  double count = 0;
  for (const double value : values) {
    if (std::isfinite(value)) {
      sum += value * value;
      count += 1;
    }
  }
  return count > 0 ? std::sqrt(sum / count) : 0;
}

}  // namespace

// Largest rms over a few further contents of the same kind.
ByOutput Session::least_scales(Bench& bench, const problem::Draw& draw) {
  ByOutput found;
  for (const Bench::Slot& slot : bench.slots()) {
    if (!slot.is_input() && problem::needs_least_scale(problem_, slot.tensor)) {
      found[slot.tensor.name] = 0;
    }
  }
  for (int i = 0; i < kScaleDraws && !found.empty(); ++i) {
    const problem::Draw other = problem::make_draw(problem_,
                                                   draw.shape,
                                                   free_dims(problem_, draw.dims),
                                                   draw.content,
                                                   draw.key.derive("scale/" + std::to_string(i)));
    bench.fill(other);
    const Truth values = truth(bench, other);
    for (auto& [name, scale] : found) {
      const Store::Piece& piece = values.outputs.at(name);
      std::vector<double> reals(piece.bytes() / sizeof(double));
      device_->download(std::as_writable_bytes(std::span(reals)), piece.address());
      scale = std::max(scale, root_mean_square(reals));
    }
  }
  return found;
}

void Session::put(Bench& bench, const Content& content, const problem::FillPlan* plan) {
  if (plan != nullptr) {
    bench.fill(*plan);
  } else {
    bench.fill(content.draw);
  }
  if (content.change != nullptr) {
    bench.perturb(*content.change);
  }
}

void Session::check_seed(const problem::Draw& draw,
                         const Truth& truth,
                         Bench& bench,
                         const Tensors& outputs) {
  const Judgement own = comparer_.with_oracle(draw, truth, bench, outputs, outputs, least_);
  if (own.failure) {
    throw util::InfraError({seed_code_.submission.file,
                            "is wrong on " + draw.shape + ": " + own.failure->text,
                            "run `sweep problems check " + problem_.id + "`"},
                           "E_SEED_WRONG");
  }
}

Expected Session::expect(Bench& bench, const Content& content, const problem::FillPlan* plan) {
  const problem::Draw& draw = content.draw;
  Expected made;
  made.least = least_ = timed(costs_.scales, [&] { return least_scales(bench, draw); });
  timed(costs_.fill, [&] { put(bench, content, plan); });
  made.truth = timed(costs_.oracle, [&] { return truth(bench, draw); });
  made.seed = timed(costs_.seed, [&] {
    Played played = play_trusted(seed_, bench, draw, false);
    check_seed(draw, made.truth, bench, played.outputs);
    return std::move(played.outputs);
  });
  return made;
}

std::shared_ptr<const Expected> Session::expected_for(Bench& bench, const Content& content) {
  const auto kept = kept_.take(content_name(content.draw, content.change));
  if (!kept) {
    return std::make_shared<const Expected>(expect(bench, content));
  }
  ++costs_.ready;
  calls_ += kSeedNumbers;
  timed(costs_.fill, [&] { put(bench, content, kept->plan.get()); });
  return kept->expected;
}

bool Session::crowded() const {
  return device_->info().total_bytes / 4 * 3 > device_->free_bytes() &&
         options_.arm.device.kind == device::Kind::cuda;
}

bool Session::prepare(const problem::Draw& draw,
                      const Perturbation* change,
                      std::shared_ptr<const problem::FillPlan> plan,
                      int uses) {
  if (crowded()) {
    return false;
  }
  const std::uint64_t calls = calls_;
  const JudgeCosts costs = costs_;
  util::RealClock clock;
  const double begin = clock.monotonic();
  Bench& bench = bench_for(draw);
  auto expected = std::make_shared<const Expected>(expect(bench, {draw, change}, plan.get()));
  calls_ = calls;
  costs_ = costs;
  return kept_.keep(content_name(draw, change),
                    {std::move(expected), std::move(plan), clock.monotonic() - begin, uses});
}

}  // namespace sweep::evaluate
