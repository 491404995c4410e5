#include "agent/recompute.h"

#include "agent/session.h"
#include "evaluate/recompute.h"
#include "util/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace sweep::agent {
namespace {

constexpr double kTolerance = 1e-9;  // relative

class Differences {
 public:
  void number(const std::string& what, std::optional<double> written, std::optional<double> now) {
    const double a = written.value_or(-1), b = now.value_or(-1);
    if (a != b && !(std::abs(a - b) <= kTolerance * std::max(std::abs(a), std::abs(b)))) {
      found.push_back(fmt::format("{} is {:.10g}, the evaluation gives {:.10g}", what, a, b));
    }
  }

  void interval(const std::string& what,
                const std::optional<record::Interval>& written,
                const std::optional<record::Interval>& now) {
    const record::Interval none{-1, -1, -1};
    const record::Interval a = written.value_or(none), b = now.value_or(none);
    number(what + ".point", a.point, b.point);
    number(what + ".low", a.low, b.low);
    number(what + ".high", a.high, b.high);
  }

  void same(const std::string& what, const nlohmann::json& written, const nlohmann::json& now) {
    if (written != now) {
      found.push_back(fmt::format("{} is not what the evaluation gives", what));
    }
  }

  std::vector<std::string> found;
};

// A result against the evaluation that it was made of.
std::vector<std::string> differences_of(const record::FinalResult& result,
                                        const record::FinalResult& now) {
  Differences differences;
  if (now.verdict != result.verdict) {
    differences.found.push_back(
        fmt::format("verdict is {}, the evaluation gives {}", result.verdict, now.verdict));
  }
  differences.same("inner_verdict", result.inner_verdict, now.inner_verdict);
  differences.same("reason", result.reason, now.reason);
  differences.same("flags", result.flags, now.flags);
  differences.same("correctness", result.correctness, now.correctness);
  differences.same("compiled", result.compiled, now.compiled);
  differences.same("memory_stats", result.memory_stats, now.memory_stats);
  differences.same("kernel_launch_stats", result.kernel_launch_stats, now.kernel_launch_stats);
  differences.same("sol_stats", result.sol_stats, now.sol_stats);
  differences.same("energy_stats", result.energy_stats, now.energy_stats);
  differences.same("roofline_stats", result.roofline_stats, now.roofline_stats);
  differences.same("numerical_precision", result.numerical_precision, now.numerical_precision);
  differences.interval("speedup", result.speedup, now.speedup);
  differences.number("runtime", result.runtime_us, now.runtime_us);
  differences.number("ref_runtime", result.ref_runtime_us, now.ref_runtime_us);
  if (now.timings.size() != result.timings.size()) {
    differences.found.push_back(fmt::format(
        "{} shapes are timed, the evaluation has {}", result.timings.size(), now.timings.size()));
    return differences.found;
  }
  for (std::size_t i = 0; i < now.timings.size(); ++i) {
    const record::ShapeTiming& a = result.timings[i];
    const record::ShapeTiming& b = now.timings[i];
    differences.number(b.shape + ".seed_us", a.seed_us, b.seed_us);
    differences.number(b.shape + ".candidate_us", a.candidate_us, b.candidate_us);
    differences.interval(b.shape + ".speedup", a.speedup, b.speedup);
    differences.number(b.shape + ".share_of_floor", a.share_of_floor, b.share_of_floor);
    differences.number(b.shape + ".throughput_us", a.throughput_us, b.throughput_us);
    differences.number(b.shape + ".seed_throughput_us", a.seed_throughput_us, b.seed_throughput_us);
    differences.interval(
        b.shape + ".throughput_speedup", a.throughput_speedup, b.throughput_speedup);
    differences.number(b.shape + ".replicates", a.replicates, b.replicates);
    differences.number(b.shape + ".blocks", a.blocks, b.blocks);
  }
  return differences.found;
}

}  // namespace

evaluate::Recomputed recompute(const record::FinalResult& result) {
  if (!result.evaluation.is_object()) {
    return {};
  }
  evaluate::Recomputed out = evaluate::recompute(result.evaluation);
  try {
    const record::FinalResult now = final_result(evaluate::evaluation_from_json(result.evaluation));
    std::ranges::move(differences_of(result, now), std::back_inserter(out.findings));
  } catch (const std::exception& error) {
    if (out.findings.empty()) {
      out.findings.emplace_back(error.what());
    }
  }
  return out;
}

Recomputed recompute(const record::RunDir& run) {
  Recomputed all;
  for (const std::filesystem::path& path : run.trajectory_files()) {
    record::Trajectory trajectory;
    try {
      trajectory = run.load(path);
    } catch (const util::Error&) {
      continue;
    }
    if (!trajectory.final_result || !trajectory.final_result->evaluation.is_object()) {
      continue;
    }
    ++all.results;
    const evaluate::Recomputed one = recompute(*trajectory.final_result);
    if (one.rules != evaluate::kRules) {
      ++all.by_rules[one.rules];
    }
    const std::string file = path.lexically_relative(run.folder()).generic_string() + ": ";
    for (const std::string& finding : one.findings) {
      all.findings.push_back(file + finding);
    }
    for (const std::string& difference : one.otherwise) {
      all.otherwise.push_back(file + difference);
    }
  }
  return all;
}

}  // namespace sweep::agent
