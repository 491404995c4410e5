#include "evaluate/admission/drawn.h"

#include "evaluate/admission/case.h"
#include "evaluate/admission/shared_use.h"
#include "problem/fill.h"
#include "stats/stats.h"
#include "util/clock.h"
#include "util/text.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace sweep::evaluate::admission {
namespace {

constexpr std::size_t kStressDraws = 200;

constexpr double kMostSlower = 20;
// Launch overhead hides what a shorter call does.
constexpr double kLongNominal = 10e-6;
constexpr int kTimedCalls = 7;
constexpr double kLarge = 16 << 20;  // bytes of a shape that has one draw only
// Held-out draws come from a secret; any other secret gives draws of the same kind.
constexpr std::string_view kNoSecret = "admission: this salt is public and decides no result";

struct Timed {
  Place place;
  double floor = 0, nominal = 0, seed = 0;
};

Timed time_seed(Session& session, const Place& place) {
  const problem::Problem& problem = session.problem();
  const problem::Draw draw = problem::make_draw(
      problem, place.name, place.free, "default", problem::Key::from_seed(1).derive("admit/time"));
  const problem::FillPlan plan(problem, draw);
  const problem::WorkValues work = problem::work_of(problem, draw, plan.statistics());
  Bench& bench = session.bench_for(draw);
  bench.fill(plan);
  std::vector<double> seconds;
  for (int i = 0; i <= kTimedCalls; ++i) {
    const Played played = session.play_trusted(session.seed(), bench, draw, true);
    if (i > 0) {
      seconds.push_back(played.time.device_seconds);
    }
  }
  return {place,
          problem::floor_seconds(problem, work),
          problem::nominal_seconds(problem, work),
          stats::median(seconds)};
}

struct Listed {
  std::vector<problem::Draw> draws;
  std::size_t edges = 0, heldout = 0;  // the first ones; stress draws follow
};

Listed listed_draws(Session& session, const Options& options) {
  const problem::Problem& problem = session.problem();
  const problem::Machine machine = session.machine();
  const problem::Key key = problem::Key::from_seed(1).derive("admit/draws");
  Listed listed;
  listed.draws = problem::edge_draws(problem, key, machine);
  listed.edges = listed.draws.size();
  const problem::HeldOut other(kNoSecret, 0, problem);
  const auto append = [&listed](std::vector<problem::Draw> more) {
    std::ranges::move(more, std::back_inserter(listed.draws));
  };
  append(other.checked(problem, machine, options.heldout_draws));
  if (!machine.cpu) {
    append(other.timed(problem, machine));
  }
  listed.heldout = listed.draws.size() - listed.edges;
  append(problem::stress_draws(problem, key, 0, options.draws, machine));
  return listed;
}

}  // namespace

std::vector<VisibleDraw> visible_draws(const Session& session, int replicates) {
  const problem::Problem& problem = session.problem();
  std::vector<std::string> contents = {"default"};
  for (const problem::Content& content : problem.contents) {
    contents.push_back(content.name);
  }
  const problem::Key root = problem::Key::from_seed(1).derive("admit/visible");
  std::vector<VisibleDraw> draws;
  for (const Place& place : visible_places(problem, session.options().arm.device.kind, false)) {
    for (const std::string& content : contents) {
      for (int i = 0; i < replicates; ++i) {
        const problem::Key key = root.derive(fmt::format("{}\n{}\n{}", place.name, content, i));
        problem::Draw draw = problem::make_draw(problem, place.name, place.free, content, key);
        const problem::Sizes sizes = problem::sizes_of(problem, draw);
        draws.push_back({std::move(draw), i == 0});
        if (sizes.input_bytes + sizes.output_bytes > kLarge) {
          break;
        }
      }
    }
  }
  return draws;
}

std::string work_failure(
    const std::string& shape, double seed, double floor, double nominal, bool explained) {
  if (seed < floor) {
    return fmt::format("{}: the seed takes {}, less than the floor of {}: [work] counts too much",
                       shape,
                       util::human_seconds(seed),
                       util::human_seconds(floor));
  }
  if (nominal > 0 && seed > kMostSlower * nominal && !explained) {
    return fmt::format("{}: the seed takes {}, {:.0f} times the {} that [work] needs",
                       shape,
                       util::human_seconds(seed),
                       seed / nominal,
                       util::human_seconds(nominal));
  }
  return {};
}

RuleResult work_rule(Session& session, const Options& /*options*/) {
  RuleResult result;
  result.rule = Rule::work;
  if (session.options().arm.device.kind == device::Kind::cpu) {
    result.state = State::not_measured;
    result.worst = "the cpu device has no roofline";
    return result;
  }
  session.lock(util::LockMode::exclusive);
  const std::string& reason = session.problem().work.slow_seed;
  double slowest = 0, fastest = std::numeric_limits<double>::infinity();
  std::vector<Timed> shapes;
  for (const Place& place : visible_places(session.problem(), device::Kind::cuda, true)) {
    shapes.push_back(time_seed(session, place));
  }
  session.unlock();
  const auto longest = std::ranges::max_element(shapes, {}, &Timed::nominal);
  for (const Timed& shape : shapes) {
    const bool counts = shape.nominal >= kLongNominal || shape.nominal == longest->nominal;
    const std::string failure = work_failure(
        shape.place.name, shape.seed, shape.floor, shape.nominal, !counts || !reason.empty());
    if (!failure.empty()) {
      result.fail(failure);
    }
    if (counts && shape.nominal > 0) {
      slowest = std::max(slowest, shape.seed / shape.nominal);
      fastest = std::min(fastest, shape.seed / shape.nominal);
    }
    result.numbers.push_back({shape.place.name + "_seed_seconds", shape.seed});
    result.numbers.push_back({shape.place.name + "_nominal_seconds", shape.nominal});
  }
  result.worst = fmt::format("the seed takes {:.2g} to {:.2g} times what [work] needs{}",
                             fastest,
                             slowest,
                             reason.empty() ? "" : " (explained: " + reason + ")");
  if (result.state == State::fails) {
    result.next = "correct [work], write a better seed, or say in [work] slow_seed why it is slow";
  }
  return result;
}

RuleResult draws_rule(Session& session, Store& store, const Options& options, const Tick& tick) {
  RuleResult result;
  result.rule = Rule::draws;
  const Listed listed = listed_draws(session, options);
  SharedUse use(session, listed.draws);
  util::RealClock clock;
  const double begin = clock.monotonic();
  std::size_t ran = 0;
  double worst = 0;
  for (const problem::Draw& draw : listed.draws) {
    if (clock.monotonic() - begin > options.draw_seconds && ran >= listed.edges + listed.heldout) {
      break;
    }
    tick("draws", ran, listed.draws.size());
    ++ran;
    use.pass();
    const Opinion opinion = Case(session, store, draw).of_seed();
    worst = std::max(worst, opinion.share);
    if (!opinion.passes) {
      std::string dims;
      for (const auto& [name, value] : draw.dims) {
        dims += fmt::format("{}{}={}", dims.empty() ? "" : ",", name, value);
      }
      result.fail(fmt::format(
          "{} ({}): reference and seed differ: {}", place_of(draw), dims, opinion.text));
    }
  }
  const std::size_t stress = ran - listed.edges - listed.heldout;
  result.worst = fmt::format(
      "{} edges, {} held-out and {} of {} stress draws ran; the seed takes {} of what is allowed",
      listed.edges,
      listed.heldout,
      stress,
      options.draws,
      share_text(worst));
  result.numbers = {{"edges", static_cast<double>(listed.edges)},
                    {"heldout", static_cast<double>(listed.heldout)},
                    {"stress", static_cast<double>(stress)},
                    {"stress_wanted", static_cast<double>(options.draws)},
                    {"seed_share", worst}};
  // Fewer draws than the rule asks for prove nothing, whoever asked for fewer.
  if (result.state == State::holds && stress < kStressDraws) {
    result.state = State::not_measured;
    result.next = fmt::format(
        "the rule asks for {} stress draws: give --draw-seconds, or run it on a GPU", kStressDraws);
  }
  if (result.state == State::fails) {
    result.next = "correct the seed, the reference, or the bounds of [dims] and [stress]";
  }
  return result;
}

}  // namespace sweep::evaluate::admission
