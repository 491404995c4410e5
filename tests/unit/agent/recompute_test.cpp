#include "agent/recompute.h"

#include "agent/session.h"
#include "evaluate/metrics.h"
#include "evaluate/time_summary.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sweep::agent {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

record::FinalResult judged() {
  evaluate::Evaluation e;
  e.verdict = evaluate::Verdict::pass_faster;
  evaluate::TimeResult& time = e.time.emplace();
  time.clock = "cuda events";
  evaluate::ShapeTiming& shape = time.shapes.emplace_back();
  shape.shape = "full";
  shape.dims = {{"rows", 5}};
  shape.floor_seconds = 5e-4;
  for (int i = 0; i < 2 * 4 * 4; ++i) {
    const int block = i / 4 % 4, position = i % 4;
    const bool candidate = (position == 1 || position == 2) == (block % 2 == 0);
    const double seconds = candidate ? 1.6e-3 : 2e-3;
    time.samples.push_back({i / 16, 0, block, position, candidate, seconds, seconds + 1.5e-4, 1});
  }
  evaluate::compute_statistics(time, true);
  time.blocks = 4;
  e.headline = "1.25x";
  e.device = "cuda:0";
  e.metrics = evaluate::metrics_of(time, device::Kind::cuda, {});
  record::FinalResult result = final_result(e);
  result.evaluation = evaluate::to_json(e, evaluate::View::archive);
  return result;
}

TEST(RecomputeResult, AgreesWithItsEvaluation) {
  EXPECT_THAT(recompute(judged()).findings, IsEmpty());
  EXPECT_THAT(recompute(record::FinalResult{}).findings, IsEmpty()) << "nothing was judged";
}

TEST(RecomputeResult, NamesWhatDiffers) {
  record::FinalResult result = judged();
  result.speedup->point = 2.5;
  result.timings.at(0).candidate_us = 800;
  result.runtime_us.reset();
  result.verdict = "PASS_EQUIVALENT";
  result.reason = "2.50x";
  result.correctness = false;
  result.timings.at(0).blocks = 20;
  result.sol_stats = nullptr;
  const auto findings = recompute(result).findings;
  EXPECT_THAT(findings, Contains("speedup.point is 2.5, the evaluation gives 1.25"));
  EXPECT_THAT(findings, Contains("rows=5.candidate_us is 800, the evaluation gives 1600"));
  EXPECT_THAT(findings, Contains(HasSubstr("runtime is -1")));
  EXPECT_THAT(findings, Contains("verdict is PASS_EQUIVALENT, the evaluation gives PASS_FASTER"));
  EXPECT_THAT(findings, Contains("reason is not what the evaluation gives"));
  EXPECT_THAT(findings, Contains("correctness is not what the evaluation gives"));
  EXPECT_THAT(findings, Contains("rows=5.blocks is 20, the evaluation gives 4"));
  EXPECT_THAT(findings, Contains("sol_stats is not what the evaluation gives"));
}

// Two replicates of one block of graphs of 40 calls: 6 us a call for the seed, 5 for the kernel.
TEST(RecomputeResult, TakesThroughputFromTheEvaluation) {
  const auto with_graphs = [] {
    record::FinalResult result = judged();
    evaluate::Evaluation e = evaluate::evaluation_from_json(result.evaluation);
    e.time->shapes[0].throughput.calls = 40;
    for (int i = 0; i < 8; ++i) {
      const bool candidate = i % 4 == 1 || i % 4 == 2;
      e.time->graphs.push_back({i / 4, 0, 0, i % 4, candidate, candidate ? 2e-4 : 2.4e-4, 1e-3, 1});
    }
    evaluate::compute_statistics(*e.time, true);
    e.time->blocks = 4;
    e.metrics = evaluate::metrics_of(*e.time, device::Kind::cuda, {});
    result = final_result(e);
    result.evaluation = evaluate::to_json(e, evaluate::View::archive);
    return result;
  };
  record::FinalResult result = with_graphs();
  EXPECT_THAT(recompute(result).findings, IsEmpty());
  EXPECT_NEAR(*result.timings.at(0).throughput_us, 5, 1e-9);
  EXPECT_NEAR(*result.timings.at(0).seed_throughput_us, 6, 1e-9);
  EXPECT_NEAR(result.timings.at(0).throughput_speedup->point, 1.2, 1e-9);
  EXPECT_NEAR(
      result.kernel_launch_stats.at("throughput_ratio").at("shapes").at("full").get<double>(),
      1.2,
      1e-9);
  result.timings[0].throughput_us = 4;
  EXPECT_THAT(recompute(result).findings,
              Contains("rows=5.throughput_us is 4, the evaluation gives 5"));
}

TEST(RecomputeResult, AnEvaluationThatCannotBeReadIsAFinding) {
  record::FinalResult result = judged();
  result.evaluation["schema"] = 99;
  EXPECT_THAT(recompute(result).findings, ::testing::SizeIs(1));
  result = judged();
  result.timings.clear();
  EXPECT_THAT(recompute(result).findings, Contains(HasSubstr("0 shapes")));
}

}  // namespace
}  // namespace sweep::agent
