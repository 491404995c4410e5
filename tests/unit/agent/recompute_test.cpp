#include "agent/recompute.h"

#include "agent/session.h"

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
  e.time.emplace();
  e.time->ratio = {1.1, 1.25, 1.4};
  e.time->shapes.push_back({"full", {{"rows", 5}}, 2e-3, 1.6e-3, {1.1, 1.25, 1.4}, false, 5e-4});
  record::FinalResult result = final_result(e);
  result.evaluation = evaluate::to_json(e, evaluate::View::archive);
  return result;
}

TEST(RecomputeResult, AgreesWithItsEvaluation) {
  EXPECT_THAT(recompute(judged()), IsEmpty());
  EXPECT_THAT(recompute(record::FinalResult{}), IsEmpty()) << "nothing was judged";
}

TEST(RecomputeResult, NamesWhatDiffers) {
  record::FinalResult result = judged();
  result.speedup->point = 2.5;
  result.timings.at(0).candidate_us = 800;
  result.runtime_us.reset();
  result.verdict = "PASS_EQUIVALENT";
  const auto findings = recompute(result);
  EXPECT_THAT(findings, Contains("speedup.point is 2.5, the evaluation gives 1.25"));
  EXPECT_THAT(findings, Contains("rows=5.candidate_us is 800, the evaluation gives 1600"));
  EXPECT_THAT(findings, Contains(HasSubstr("runtime is -1")));
  EXPECT_THAT(findings, Contains("verdict is PASS_EQUIVALENT, the evaluation gives PASS_FASTER"));
}

TEST(RecomputeResult, AnEvaluationThatCannotBeReadIsAFinding) {
  record::FinalResult result = judged();
  result.evaluation["schema"] = 99;
  EXPECT_THAT(recompute(result), ::testing::SizeIs(1));
  result = judged();
  result.timings.clear();
  EXPECT_THAT(recompute(result), Contains(HasSubstr("0 shapes")));
}

}  // namespace
}  // namespace sweep::agent
