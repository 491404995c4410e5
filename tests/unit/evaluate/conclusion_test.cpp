#include "evaluate/conclusion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::evaluate {
namespace {

using ::testing::HasSubstr;

Evaluation timed(Interval whole, Interval small) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::pass_inconclusive;
  evaluation.time.emplace();
  evaluation.time->ratio = whole;
  evaluation.time->shapes.push_back({"small", {}, 1e-5, 1e-5, small, false, 0});
  evaluation.time->shapes.push_back({"full", {}, 1e-3, 1e-3, whole, false, 0});
  return evaluation;
}

std::string next_of(Evaluation evaluation, Depth depth, device::Kind kind) {
  EvaluationRequest request;
  request.submission.file = "mine.cu";
  request.device = {kind, 0};
  request.depth = depth;
  conclude(request, evaluation);
  return evaluation.next;
}

TEST(Conclusion, SaysWhyAFasterKernelIsNotCalledFaster) {
  const Evaluation evaluation = timed({1.7, 1.77, 1.8}, {0.8, 0.85, 0.9});
  EXPECT_THAT(next_of(evaluation, Depth::standard, device::Kind::cuda),
              HasSubstr("slower on small"));
}

TEST(Conclusion, SaysHowToNarrowAnInterval) {
  const Evaluation evaluation = timed({0.98, 1.01, 1.04}, {0.98, 1.01, 1.04});
  EXPECT_THAT(next_of(evaluation, Depth::standard, device::Kind::cuda), HasSubstr("--replicates"));
  EXPECT_THAT(next_of(evaluation, Depth::fast, device::Kind::cuda), HasSubstr("--fast"));
  EXPECT_THAT(next_of(evaluation, Depth::standard, device::Kind::cpu),
              HasSubstr("--device cuda:0"));
}

}  // namespace
}  // namespace sweep::evaluate
