// From a source text to its correctness verdict, as a worker of a sweep has it: a new text, so that
// it is compiled, and a spare judge. Check with five seeds of each visible shape, stress with 30
// random shapes. For each problem a row without and a row with what the judge computes before the
// candidate is there (EvaluationRequest::prepare). usage: bench_verdict [DEVICE [PROBLEM...]]
#include "cli/installation.h"
#include "evaluate/evaluation.h"
#include "evaluate/preparation.h"
#include "evaluate/spares.h"
#include "stats/stats.h"
#include "util/clock.h"
#include "util/error.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace sweep;

constexpr int kRounds = 3;
// Until the next text: mostly a model takes longer to answer. A judge opens its device in 1 s.
constexpr double kOpenSeconds = 1;
constexpr double kTurnSeconds = 3;

struct Measured {
  double verdict = 0;  // until stress has passed
  double compile = 0, check = 0, stress = 0;
  evaluate::JudgeCosts check_costs, stress_costs;
  std::size_t check_calls = 0, stress_calls = 0;
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
    out.compile += stage.stage == evaluate::Stage::compile ? stage.seconds : 0;
    out.check += stage.stage == evaluate::Stage::check ? stage.seconds : 0;
    out.stress += stage.stage == evaluate::Stage::stress ? stage.seconds : 0;
  }
  out.check_costs = made.check->costs;
  out.stress_costs = made.stress->costs;
  out.check_calls = made.check->calls.size();
  out.stress_calls = made.stress->calls.for_archive().size();
  return out;
}

double median_of(const std::vector<Measured>& all,
                 const std::function<double(const Measured&)>& what) {
  std::vector<double> values;
  for (const Measured& one : all) {
    values.push_back(what(one));
  }
  return stats::median(values);
}

void print_costs(const char* stage,
                 const std::vector<Measured>& all,
                 evaluate::JudgeCosts Measured::*costs,
                 std::size_t Measured::*calls) {
  using evaluate::JudgeCosts;
  constexpr std::array<std::pair<const char*, double JudgeCosts::*>, 7> kParts{
      {{"buffers", &JudgeCosts::bench},
       {"scales", &JudgeCosts::scales},
       {"fill", &JudgeCosts::fill},
       {"reference", &JudgeCosts::oracle},
       {"seed", &JudgeCosts::seed},
       {"candidate", &JudgeCosts::candidate},
       {"compare", &JudgeCosts::compare}}};
  std::printf("      %-6s", stage);
  for (const auto& [name, part] : kParts) {
    std::printf(
        " %s %.2f", name, median_of(all, [&](const Measured& one) { return one.*costs.*part; }));
  }
  std::printf("; ready %.0f of %zu\n",
              median_of(all, [&](const Measured& one) { return (one.*costs).ready; }),
              all.back().*calls);
}

// Returns the median of the whole.
double print_row(const std::string& id, const char* how, const std::vector<Measured>& all) {
  const double verdict = median_of(all, [](const Measured& one) { return one.verdict; });
  std::printf("%-11s %-8s %.2f s: compile %.2f, check %.2f, stress %.2f\n",
              id.c_str(),
              how,
              verdict,
              median_of(all, [](const Measured& one) { return one.compile; }),
              median_of(all, [](const Measured& one) { return one.check; }),
              median_of(all, [](const Measured& one) { return one.stress; }));
  print_costs("check", all, &Measured::check_costs, &Measured::check_calls);
  print_costs("stress", all, &Measured::stress_costs, &Measured::stress_calls);
  std::fflush(stdout);
  return verdict;
}

struct Medians {
  std::vector<double> without, with;
};

void measure_problem(const evaluate::Services& services,
                     const std::string& device,
                     const std::string& id,
                     Medians& medians) {
  const problem::Problem problem = evaluate::find_problem(services, id);
  evaluate::EvaluationRequest request;
  request.submission = evaluate::find_seed(services, problem);
  request.problem = id;
  request.device = device::parse_id(device);
  request.check_seeds = 5;
  request.stress_draws = 30;
  request.replicates = 1;
  request.blocks = 1;
  const std::string text = request.submission.text;
  util::RealClock clock;
  evaluate::Spares spares;
  // Leaves a judge for the next one that works ahead where `next` says so.
  const auto judged = [&](bool next) {
    request.prepare = next;
    request.submission.text = text + "\n// " + std::to_string(clock.wall()) + "\n";
    const Measured one = measure(services, spares, request);
    clock.sleep(next ? kTurnSeconds : kOpenSeconds);
    return one;
  };
  (void)judged(false);  // has no spare judge and compiles reference and seed
  std::vector<Measured> without, with;
  for (int round = 0; round < kRounds; ++round) {
    without.push_back(judged(round + 1 == kRounds));
  }
  for (int round = 0; round < kRounds; ++round) {
    with.push_back(judged(round + 1 < kRounds));
  }
  medians.without.push_back(print_row(id, "without", without));
  medians.with.push_back(print_row(id, "with", with));
}

int run(const std::string& device, const std::vector<std::string>& ids) {
  evaluate::Services services = cli::evaluation_services();
  // The roles' program: beside this one in a bundle, else where it was built.
  const std::filesystem::path beside = cli::program_path().parent_path() / "sweep";
  services.program = std::filesystem::exists(beside) ? beside : SWEEP_BINARY;
  Medians medians;
  std::printf(
      "source to verdict on %s, median of %d, seconds; with: %.0f s after the text before\n",
      device.c_str(),
      kRounds,
      kTurnSeconds);
  for (const std::string& id : ids) {
    measure_problem(services, device, id, medians);
  }
  std::printf("median of %zu problems: %.2f s without, %.2f s with (target 1.00 on an H200)\n",
              ids.size(),
              stats::median(medians.without),
              stats::median(medians.with));
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
