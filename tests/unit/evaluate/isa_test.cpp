#include "evaluate/isa.h"

#include "evaluate/evaluation.h"
#include "evaluate/feedback.h"
#include "util/error.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sweep::evaluate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

IsaResult result_of(std::optional<std::int64_t> wgmma, std::optional<double> executed = {}) {
  IsaResult out;
  out.policy = problem::IsaPolicy::gate;
  out.families = {{"wgmma", true, wgmma, executed}, {"tma", false, 2, {}}};
  out.kernels = {"gemm"};
  return out;
}

TEST(Isa, EachLevelNeedsItsOwnEvidence) {
  EXPECT_EQ((IsaEvidence{"wgmma", false, {}, {}}.level()), IsaLevel::none);
  EXPECT_EQ((IsaEvidence{"wgmma", true, {}, {}}.level()), IsaLevel::text);
  EXPECT_EQ((IsaEvidence{"wgmma", true, 0, {}}.level()), IsaLevel::text);
  EXPECT_EQ((IsaEvidence{"wgmma", true, 4, {}}.level()), IsaLevel::compiled);
  EXPECT_EQ((IsaEvidence{"wgmma", true, 4, 0.0}.level()), IsaLevel::compiled);  // dead code
  EXPECT_EQ((IsaEvidence{"wgmma", true, 4, 128.0}.level()), IsaLevel::executed);
}

TEST(Isa, MissingIsWhatTheCodeWasSeenToLack) {
  EXPECT_THAT(result_of(0).missing(), ElementsAre("wgmma"));
  EXPECT_THAT(result_of(4).missing(), IsEmpty());
  EXPECT_THAT(result_of({}).missing(), IsEmpty());  // not looked at is not absent
}

TEST(Isa, TheTextSaysTheLevelOfEachClaim) {
  const std::string text = isa_text(result_of(0));
  EXPECT_THAT(text, HasSubstr("requires (policy gate)"));
  EXPECT_THAT(text, HasSubstr("wgmma: none in the compiled code of gemm"));
  EXPECT_THAT(text, HasSubstr("[level: text]"));
  EXPECT_THAT(text,
              HasSubstr("tma: 2 in the compiled code of gemm; whether executed was not measured"));
  IsaResult blind = result_of({});
  blind.not_compiled = "nvdisasm was not found";
  EXPECT_THAT(isa_text(blind), HasSubstr("not looked at (nvdisasm was not found)"));
  EXPECT_THAT(isa_text(result_of(4, 512)), HasSubstr("executed by 512 threads [level: executed]"));
}

TEST(Isa, JsonAndBack) {
  Evaluation e;
  e.isa = result_of(4, 512);
  e.verdict = Verdict::incorrect_instructions;
  const nlohmann::json body = to_json(e, View::open);
  EXPECT_EQ(body.at("isa").at("families").at(0).at("level"), "executed");
  EXPECT_TRUE(body.at("isa").at("families").at(1).at("executed").is_null());
  const Evaluation back = evaluation_from_json(body);
  EXPECT_EQ(to_json(back, View::open), body);
  nlohmann::json damaged = body;
  damaged["isa"].erase("kernels");
  EXPECT_THROW((void)evaluation_from_json(damaged), util::UsageError);
  damaged["isa"] = 7;
  EXPECT_THROW((void)evaluation_from_json(damaged), util::UsageError);
}

TEST(Isa, AModelIsToldWhatIsMissingAndNothingOfHeldOut) {
  Evaluation e;
  e.isa = result_of(0);
  e.verdict = Verdict::incorrect_instructions;
  EXPECT_EQ(VisibleFeedback::of(e).verdict(), Verdict::incorrect_instructions);
  EXPECT_THAT(VisibleFeedback::of(e).text(), HasSubstr("wgmma: none in the compiled code"));
  // Held-out failed: the model hears the same as where it passed.
  e.verdict = Verdict::incorrect_generalisation;
  e.heldout = HeldoutResult{};
  EXPECT_EQ(VisibleFeedback::of(e).verdict(), Verdict::incorrect_instructions);
  e.isa->policy = problem::IsaPolicy::warn;
  EXPECT_NE(VisibleFeedback::of(e).verdict(), Verdict::incorrect_instructions);
}

}  // namespace
}  // namespace sweep::evaluate
