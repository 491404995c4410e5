// What judging one timed call costs beyond the kernel, with all defences and without those that
// only steady a timing (flush, wash, reset of persisting lines): each problem's seed against
// itself. Handing a call over to its runner and back is poison, run and inspect, each waited for.
// The figure to meet is 0.4 ms and the bytes of fill and compare, 4 x (inputs + outputs) / DRAM
// bandwidth. usage: bench_call [--small] [DEVICE [PROBLEM...]]   (--small: smallest shapes only)
#include "cli/installation.h"
#include "device/device.h"
#include "evaluate/evaluation.h"
#include "evaluate/judge_stages.h"
#include "evaluate/preparation.h"
#include "problem/draw.h"
#include "util/error.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace sweep;

constexpr double kPerCall = 0.4e-3;  // seconds beside the bytes

// Throws util::InfraError where there are no timed calls.
evaluate::TimeResult timed(const evaluate::Services& services,
                           const evaluate::EvaluationRequest& request) {
  const evaluate::Evaluation made = evaluate::evaluate(request, services, {});
  if (!made.time || made.time->samples.empty()) {
    throw util::InfraError({made.problem, made.headline, "see `sweep eval`"}, "E_BENCH_CALL");
  }
  return *made.time;
}

void print_row(const char* what, const evaluate::TimeResult& time, double bandwidth) {
  double bytes = 0;
  for (const auto& shape : time.shapes) {
    bytes += static_cast<double>(shape.tensor_bytes) / static_cast<double>(time.shapes.size());
  }
  const auto calls = static_cast<double>(time.samples.size());
  const evaluate::CallCosts& costs = time.phases.costs;
  double kernel = 0;  // between the events
  for (const auto& sample : time.samples) {
    kernel += sample.device_seconds;
  }
  const double handed = costs.poison + costs.run - kernel + costs.inspect;
  std::printf(
      "  %-24s %.3f ms: handed over in %.3f (poison %.3f, run %.3f, inspect %.3f), flush %.3f, "
      "fill "
      "%.3f, compare %.3f; %.0f calls",
      what,
      1e3 * (handed + costs.flush + costs.fill + costs.compare) / calls,
      1e3 * handed / calls,
      1e3 * costs.poison / calls,
      1e3 * (costs.run - kernel) / calls,
      1e3 * costs.inspect / calls,
      1e3 * costs.flush / calls,
      1e3 * costs.fill / calls,
      1e3 * costs.compare / calls,
      calls);
  if (bandwidth > 0) {
    std::printf("; figure to meet %.3f", 1e3 * (kPerCall + 4 * bytes / bandwidth));
  }
  std::printf("\n");
}

// Free dims of the visible shape with the fewest bytes.
expr::IntEnv smallest(const problem::Problem& problem, device::Kind kind) {
  const auto bytes = [&](const evaluate::Place& place) {
    const problem::Sizes sizes = problem::sizes_of(
        problem,
        problem::make_draw(problem, place.name, place.free, "default", problem::Key::from_seed(1)));
    return sizes.input_bytes + sizes.output_bytes;
  };
  return std::ranges::min(evaluate::visible_places(problem, kind, false), {}, bytes).free;
}

int run(const std::string& device, const std::vector<std::string>& ids, bool only_small) {
  evaluate::Services services = cli::evaluation_services();
  // The roles' program: beside this one in a bundle, else where it was built.
  const std::filesystem::path beside = cli::program_path().parent_path() / "sweep";
  services.program = std::filesystem::exists(beside) ? beside : SWEEP_BINARY;
  const device::Id id = device::parse_id(device);
  const double bandwidth = device::open(id)->info().dram_bytes_per_second;
  for (const std::string& name : ids) {
    const problem::Problem problem = evaluate::find_problem(services, name);
    evaluate::EvaluationRequest request;
    request.submission = evaluate::find_seed(services, problem);
    request.problem = name;
    request.device = id;
    request.only = evaluate::Stage::time;
    request.replicates = 2;
    request.blocks = 10;
    for (const bool small : {true, false}) {
      if (only_small && !small) {
        continue;
      }
      request.shapes.clear();
      if (small) {
        request.shapes.push_back(smallest(problem, id.kind));
      }
      request.off = {};
      std::printf("a judged call beyond the kernel, %s on %s, %s\n",
                  name.c_str(),
                  device.c_str(),
                  small ? "smallest visible shape" : "timed shapes");
      print_row("with all defences", timed(services, request), bandwidth);
      if (small) {
        request.off = evaluate::defences_from({"wash"});
        print_row("without wash", timed(services, request), bandwidth);
        request.off = evaluate::defences_from({"persisting-reset"});
        print_row("without reset of lines", timed(services, request), bandwidth);
        request.off = evaluate::defences_from({"flush"});  // as calls of check and stress
        print_row("without flush", timed(services, request), bandwidth);
      }
      request.off = evaluate::defences_from({"flush", "wash", "persisting-reset"});
      print_row("without wash and flush", timed(services, request), bandwidth);
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool only_small = std::erase(words, "--small") > 0;
  const std::string device = words.empty() ? "cpu" : words.front();
  std::vector<std::string> ids(words.begin() + std::min<std::ptrdiff_t>(1, std::ssize(words)),
                               words.end());
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
    return run(device, ids, only_small);
  } catch (const util::Error& error) {
    std::fprintf(stderr, "bench_call: %s\n", error.what());
    return 3;
  }
}
