// From a source text to its correctness verdict, as a worker of a sweep has it: a new text, so that
// it is compiled, and a spare judge. Check with five seeds of each visible shape, stress with 30
// random shapes. Prints one line a problem. usage: bench_verdict [DEVICE [PROBLEM...]]
#include "cli/installation.h"
#include "evaluate/evaluation.h"
#include "evaluate/preparation.h"
#include "evaluate/spares.h"
#include "stats/stats.h"
#include "util/clock.h"
#include "util/error.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace sweep;

constexpr int kRounds = 3;
constexpr double kTurnSeconds = 1;  // a model takes longer to answer

struct Measured {
  double verdict = 0;  // until stress has passed
  double screen = 0, compile = 0, check = 0, stress = 0;
  evaluate::JudgeCosts check_costs, stress_costs;
};

// Throws util::InfraError where the kernel is not found right.
Measured measure(const evaluate::Services& services,
                 evaluate::Spares& spares,
                 const evaluate::EvaluationRequest& request) {
  util::RealClock clock;
  const double begin = clock.monotonic();
  double end = 0;
  const evaluate::Evaluation made = evaluate::evaluate(
      request,
      services,
      [&](const evaluate::ProgressEvent& event) {
        if (event.stage == evaluate::Stage::stress &&
            event.state == evaluate::ProgressEvent::State::finished) {
          end = clock.monotonic();
        }
      },
      &spares);
  if (evaluate::outcome_of(made.verdict) != evaluate::Outcome::correct || end == 0) {
    throw util::InfraError({made.problem, made.headline, "see `sweep eval`"}, "E_BENCH_VERDICT");
  }
  Measured out;
  out.verdict = end - begin;
  for (const auto& stage : made.stages) {
    out.screen += stage.stage == evaluate::Stage::screen ? stage.seconds : 0;
    out.compile += stage.stage == evaluate::Stage::compile ? stage.seconds : 0;
    out.check += stage.stage == evaluate::Stage::check ? stage.seconds : 0;
    out.stress += stage.stage == evaluate::Stage::stress ? stage.seconds : 0;
  }
  out.check_costs = made.check->costs;
  out.stress_costs = made.stress->costs;
  return out;
}

void print_costs(const char* stage, const evaluate::JudgeCosts& costs) {
  std::printf(
      "  %s: buffers %.2f, scales %.2f, fill %.2f, reference %.2f, seed %.2f, candidate %.2f, "
      "compare %.2f\n",
      stage,
      costs.bench,
      costs.scales,
      costs.fill,
      costs.oracle,
      costs.seed,
      costs.candidate,
      costs.compare);
}

double median_of(const std::vector<Measured>& all, double Measured::*what) {
  std::vector<double> values;
  for (const Measured& one : all) {
    values.push_back(one.*what);
  }
  return stats::median(values);
}

int run(const std::string& device, const std::vector<std::string>& ids) {
  evaluate::Services services = cli::evaluation_services();
  // The roles' program: beside this one in a bundle, else where it was built.
  const std::filesystem::path beside = cli::program_path().parent_path() / "sweep";
  services.program = std::filesystem::exists(beside) ? beside : SWEEP_BINARY;
  evaluate::Spares spares;
  util::RealClock clock;
  std::vector<double> medians;
  for (const std::string& id : ids) {
    const problem::Problem problem = evaluate::find_problem(services, id);
    evaluate::EvaluationRequest request;
    request.submission = evaluate::find_seed(services, problem);
    request.problem = id;
    request.device = device::parse_id(device);
    request.depth = evaluate::Depth::standard;
    request.check_seeds = 5;
    request.stress_draws = 30;
    request.replicates = 1;
    request.blocks = 1;
    const std::string text = request.submission.text;
    std::vector<Measured> all;
    for (int round = 0; round <= kRounds; ++round) {
      request.submission.text =
          text + "\n// " + std::to_string(clock.wall()) + " " + std::to_string(round) + "\n";
      const Measured one = measure(services, spares, request);
      if (round > 0) {  // the first has no spare judge and compiles reference and seed
        all.push_back(one);
      }
      clock.sleep(kTurnSeconds);
    }
    medians.push_back(median_of(all, &Measured::verdict));
    std::printf(
        "source to verdict, %s on %s: %.2f s (compile %.2f, check %.2f, stress %.2f; median of "
        "%d)\n",
        id.c_str(),
        device.c_str(),
        medians.back(),
        median_of(all, &Measured::compile),
        median_of(all, &Measured::check),
        median_of(all, &Measured::stress),
        kRounds);
    print_costs("check", all.back().check_costs);
    print_costs("stress", all.back().stress_costs);
    std::fflush(stdout);
  }
  std::printf("source to verdict, median of %zu problems: %.2f s (target 1.00 on an H200)\n",
              medians.size(),
              stats::median(medians));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> ids(argv + std::min(argc, 2), argv + argc);
  if (ids.empty()) {
    ids = {"level1/2",
           "level1/3",
           "level1/9",
           "level1/19",
           "level2/22",
           "level2/40",
           "level3/12",
           "sci/heat2d"};
  }
  try {
    return run(argc > 1 ? argv[1] : "cpu", ids);
  } catch (const util::Error& error) {
    std::fprintf(stderr, "bench_verdict: %s\n", error.what());
    return 3;
  }
}
