#include "evaluate/judge_stages.h"

#include "evaluate/conclusion.h"
#include "evaluate/confirmation.h"
#include "evaluate/judge_draws.h"
#include "evaluate/memory.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/sha256.h"

#include <algorithm>
#include <set>

namespace sweep::evaluate {
namespace {

constexpr int kHeldoutDraws = 20;

// Where the problem demands equal bits, a fresh process repeats the first draw.
std::optional<Failure> check_repeat(Session& session, const problem::Draw& draw) {
  Bench& bench = session.bench_for(draw);
  Tensors first;
  // Three calls in each of two processes: one pair agrees by chance in many a race.
  constexpr int kRounds = 6, kProcess = 3;
  for (int round = 0; round < kRounds; ++round) {
    if (round % kProcess == 0) {
      session.candidate().reset();
    }
    bench.fill(draw);
    Played played = session.play(session.candidate(), bench, draw, false);
    if (round == 0) {
      first = std::move(played.outputs);
    } else if (!session.same_bits(played.outputs, first)) {
      Failure failure;
      failure.verdict = Verdict::incorrect_nondeterministic;
      failure.defence = Defence::determinism;
      failure.text =
          "calls on the same inputs gave different bits; this problem demands equal ones";
      failure.hint = "float atomics add in any order";
      return failure;
    }
  }
  return std::nullopt;
}

// Contents that differ from the one before in one element, at the same addresses, and that one once
// more: what was kept, sampled or recognised shows.
void run_probes(Session& session, const problem::Draw& draw, CheckResult& result) {
  const std::vector<Perturbation> changes = probe_changes(session.problem(), draw);
  std::vector<const Perturbation*> order{nullptr};
  for (const Perturbation& change : changes) {
    order.push_back(&change);
  }
  order.push_back(nullptr);
  for (const Perturbation* change : order) {
    Call call = session.judge(session.candidate(), draw, change);
    result.worst_share = std::max(result.worst_share, call.worst_share);
    result.calls.push_back(std::move(call));
    if (result.calls.back().failure) {
      result.failure = result.calls.back().failure;
      return;
    }
  }
}

void require_versus(Session& session, const std::vector<NumberedDraw>& draws) {
  Player* versus = session.versus();
  if (versus == nullptr || draws.empty()) {
    return;
  }
  const Call call = session.judge(*versus, draws.front().draw);
  if (call.failure) {
    throw util::UsageError({versus->code->submission.file,
                            "--vs needs a kernel that passes the check, and this one does not",
                            call.failure->text},
                           "E_EVALUATE_VERSUS");
  }
}

// Judges all draws until one fails.
struct Judged {
  std::vector<Call> calls;
  std::optional<Failure> failure;
};

Judged judge_all(Session& session, const std::vector<problem::Draw>& draws, const Tick& tick) {
  Judged judged;
  for (const problem::Draw& draw : draws) {
    tick("", judged.calls.size(), draws.size());
    judged.calls.push_back(session.judge(session.candidate(), draw));
    if (judged.calls.back().failure) {
      judged.failure = judged.calls.back().failure;
      break;
    }
  }
  return judged;
}

}  // namespace

std::vector<Place> visible_places(const problem::Problem& problem, device::Kind kind, bool timed) {
  std::vector<Place> places;
  for (const problem::Shape& shape : problem.shapes) {
    const bool used = kind == device::Kind::cpu ? shape.uses.cpu
                      : timed                   ? shape.uses.time
                                                : shape.uses.check;
    if (used) {
      places.push_back({shape.name, shape.free});
    }
  }
  return places;
}

expr::IntEnv complete_free(const problem::Problem& problem,
                           device::Kind kind,
                           const expr::IntEnv& given) {
  const std::vector<Place> visible = visible_places(problem, kind, false);
  const problem::Shape* base =
      problem.shape(visible.empty() ? problem.shapes.front().name : visible.front().name);
  const std::map<std::string, std::int64_t> values(given.begin(), given.end());
  const problem::Draw draw =
      problem::custom_draw(problem, *base, values, "default", problem::Key::from_seed(0));
  expr::IntEnv free;
  for (const auto& [name, value] : base->free) {
    free[name] = draw.dims.at(name);
  }
  return free;
}

CheckResult run_check(Session& session, const StageOptions& options, const Tick& tick) {
  CheckResult result;
  const std::vector<NumberedDraw> draws = check_draws(session, options);
  std::vector<problem::Draw> plain;
  for (const NumberedDraw& numbered : draws) {
    plain.push_back(numbered.draw);
  }
  session.lock(util::LockMode::shared, judged_bytes(session, plain));
  session.start_players(0);
  require_versus(session, draws);
  for (const NumberedDraw& numbered : draws) {
    tick(numbered.draw.shape, result.calls.size(), draws.size());
    Call call = session.judge(session.candidate(), numbered.draw);
    call.draw = numbered.number;
    result.worst_share = std::max(result.worst_share, call.worst_share);
    result.calls.push_back(std::move(call));
    if (result.calls.back().failure) {
      result.failure = result.calls.back().failure;
      break;
    }
    if (result.calls.size() == 1) {
      // Most wrong kernels are wrong at once, and need no pairs.
      session.start_players(options.pairs_ahead);
    }
  }
  if (!result.failure && !draws.empty() && session.has(Defence::perturb_one)) {
    run_probes(session, draws.front().draw, result);
  }
  if (!result.failure && session.problem().policy.bitwise_repeat && !draws.empty() &&
      session.has(Defence::determinism)) {
    result.failure = check_repeat(session, draws.front().draw);
  }
  session.unlock();
  result.costs = session.take_costs();
  return result;
}

StageOptions stage_options(const EvaluationRequest& request, const problem::Problem& problem) {
  StageOptions made;
  made.seed = request.seed;
  for (const expr::IntEnv& free : request.shapes) {
    made.places.push_back({dims_text(free), complete_free(problem, request.device.kind, free)});
  }
  made.check_seeds = request.check_seeds;
  made.stress_draws = request.stress_draws;
  made.replicates = request.depth == Depth::fast ? 1 : request.replicates;
  made.pilot = request.depth == Depth::full && request.device.kind == device::Kind::cuda;
  made.energy = made.pilot;
  made.throughput = request.depth != Depth::fast && request.off.empty();
  made.blocks = request.blocks;
  made.may_say_faster = request.depth != Depth::fast && request.off.empty();
  return made;
}

StressResult run_stress(Session& session, const StageOptions& options, const Tick& tick) {
  const StressDraws all = stress_draws(session, options);
  const std::vector<problem::Draw>& draws = all.draws;
  StressResult result;
  result.random_shapes = all.random;
  result.edge_shapes = all.edges;
  session.lock(util::LockMode::shared, judged_bytes(session, draws));
  std::set<std::string> contents;
  for (const problem::Draw& draw : draws) {
    contents.insert(draw.content);
  }
  result.contents = static_cast<int>(contents.size());
  Judged judged = judge_all(session, draws, tick);
  result.passed = !judged.failure;
  result.inner = Hidden(std::move(judged.failure));
  result.calls = Hidden(std::move(judged.calls));
  session.unlock();
  result.costs = session.take_costs();
  return result;
}

HeldoutResult run_heldout(Session& session, const StageOptions& options, const Tick& tick) {
  const problem::Problem& problem = session.problem();
  const problem::HeldOut secret(options.salt, options.epoch, problem);
  std::vector<problem::Draw> draws;
  if (!options.confirm) {
    draws = secret.checked(problem, session.machine(), kHeldoutDraws);
  }
  session.lock(util::LockMode::shared, judged_bytes(session, draws));
  Judged judged = judge_all(session, draws, tick);
  HeldoutResult result;
  std::optional<TimeResult> time;
  if (!judged.failure) {
    problem::Machine machine = session.machine();
    // On the cpu device nothing is timed against a roofline floor: the `cpu` shapes' costs bound
    // the draws.
    std::vector<Place> places;
    if (!machine.cpu) {
      for (const problem::Draw& draw : secret.timed(problem, machine)) {
        places.push_back({draw.shape, free_dims(problem, draw.dims)});
      }
    } else {
      for (const problem::Draw& draw : secret.checked(problem, machine, 3)) {
        places.push_back({draw.shape, free_dims(problem, draw.dims)});
      }
    }
    const problem::Key key =
        problem::Key::from_seed(util::leading_u64(util::hmac_sha256(options.salt, problem.id)));
    // The confirming session is a second one already.
    util::RealClock clock;
    StageOptions alone = options;
    alone.throughput = false;  // shown of visible shapes
    const auto timed = [&] { return run_time(session, alone, places, key, tick); };
    time = options.confirm ? timed()
                           : repeated_once(timed, [&clock] { clock.sleep(kCoolingSeconds); });
    judged.failure = time->failure;
  }
  result.passed = !judged.failure;
  result.inner = Hidden(std::move(judged.failure));
  result.calls = Hidden(std::move(judged.calls));
  result.time = Hidden(std::move(time));
  session.unlock();
  return result;
}

}  // namespace sweep::evaluate
