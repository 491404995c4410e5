#include "evaluate/confirmation.h"

#include "evaluate/evaluation_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sweep::evaluate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TimeResult session(double point, double low, double high, Verdict decision) {
  TimeResult time;
  time.ratio = {low, point, high};
  time.decision = decision;
  time.shapes.push_back({"full", {}, 1e-3, 1e-3, time.ratio, false, 0});
  return time;
}

Evaluation faster(double point) {
  Evaluation e;
  e.verdict = Verdict::pass_faster;
  e.time = session(point, point - 0.01, point + 0.01, Verdict::pass_faster);
  return e;
}

EvaluationRequest full_on_gpu() {
  EvaluationRequest request;
  request.device = {device::Kind::cuda, 0};
  request.depth = Depth::full;
  return request;
}

// What repeated_once() makes of sessions with these decisions: those asked for, then the final one.
std::vector<Verdict> repeated(const std::vector<Verdict>& decisions) {
  std::vector<Verdict> asked;
  int cooled = 0;
  const TimeResult last = repeated_once(
      [&] {
        asked.push_back(decisions.at(asked.size()));
        return session(1, 0.99, 1.01, asked.back());
      },
      [&cooled] { ++cooled; });
  EXPECT_EQ(cooled, static_cast<int>(asked.size()) - 1);
  EXPECT_EQ(last.earlier.size(), asked.size() - 1);
  asked.push_back(*last.decision);
  return asked;
}

TEST(Repetition, OneMoreAfterUnstableAndTheSecondIsFinal) {
  using enum Verdict;
  EXPECT_THAT(repeated({pass_faster, unstable}), ElementsAre(pass_faster, pass_faster));
  EXPECT_THAT(repeated({unstable, pass_slower, pass_faster}),
              ElementsAre(unstable, pass_slower, pass_slower));
  EXPECT_THAT(repeated({unstable, unstable, pass_faster}),
              ElementsAre(unstable, unstable, unstable));
  EXPECT_THAT(repeated({rejected_timer, pass_faster}), ElementsAre(rejected_timer, rejected_timer));
}

TEST(Confirmation, IsDueForWhatIsFasterByAFewPercentInAFullEvaluation) {
  EXPECT_TRUE(confirmation_due(full_on_gpu(), faster(1.05)));
  EXPECT_FALSE(confirmation_due(full_on_gpu(), faster(1.049)));
  Evaluation other = faster(1.5);
  other.verdict = Verdict::pass_inconclusive;
  EXPECT_FALSE(confirmation_due(full_on_gpu(), other));
  EXPECT_FALSE(confirmation_due(full_on_gpu(), Evaluation()));
  EvaluationRequest request = full_on_gpu();
  request.depth = Depth::standard;
  EXPECT_FALSE(confirmation_due(request, faster(1.5)));
  request = full_on_gpu();
  request.device = {device::Kind::cpu, 0};
  EXPECT_FALSE(confirmation_due(request, faster(1.5)));
  request = full_on_gpu();
  request.off.insert(Defence::flush);
  EXPECT_FALSE(confirmation_due(request, faster(1.5)));
}

TEST(Confirmation, LooksAtTheHeldOutSessionWhereItDecided) {
  Evaluation e = faster(1.5);
  e.heldout.emplace();
  EXPECT_EQ(deciding_time(e), &*e.time);
  e.heldout->time = Hidden(std::optional(session(1.02, 1.01, 1.03, Verdict::pass_faster)));
  EXPECT_EQ(deciding_time(e)->ratio.point, 1.02);
  EXPECT_FALSE(confirmation_due(full_on_gpu(), e));
}

TEST(Confirmation, HasFiveReplicatesAndAKeyOfItsOwn) {
  StageOptions options;
  options.pilot = options.energy = true;
  options.replicates = 9;
  options.session = "abc";
  const StageOptions again = confirming(options);
  EXPECT_TRUE(again.confirm);
  EXPECT_FALSE(again.pilot || again.energy);
  EXPECT_EQ(again.replicates, 5);
  EXPECT_NE(again.session, options.session);
}

TEST(Confirmation, NeedsTheSecondIntervalAtOneOrAbove) {
  Evaluation e = faster(1.06);
  EXPECT_EQ(practical_win(e), std::nullopt);
  EXPECT_THAT(practical_win_reason(e), HasSubstr("no session was timed"));
  confirm(e, session(1.04, 1.0, 1.08, Verdict::pass_inconclusive));
  EXPECT_EQ(practical_win(e), true);
  EXPECT_EQ(practical_win_reason(e), "");
  EXPECT_THAT(e.flags, IsEmpty());
  e = faster(1.06);
  confirm(e, session(1.04, 0.999, 1.08, Verdict::pass_inconclusive));
  EXPECT_EQ(practical_win(e), false);
  EXPECT_THAT(e.flags, ElementsAre("not confirmed"));
  EXPECT_EQ(e.verdict, Verdict::pass_faster) << "the number stays that of its session";
}

TEST(Confirmation, AWrongCallOrAGuardOfItIsTheVerdict) {
  Evaluation e = faster(1.5);
  TimeResult wrong = session(1.5, 1.4, 1.6, Verdict::pass_faster);
  wrong.failure.emplace();
  wrong.failure->verdict = Verdict::incorrect_value;
  confirm(e, wrong);
  EXPECT_EQ(e.verdict, Verdict::incorrect_value);
  EXPECT_EQ(practical_win(e), std::nullopt);
  e = faster(1.5);
  TimeResult hiding = session(1.5, 1.4, 1.6, Verdict::rejected_timer);
  hiding.hidden = {42e-6, 40e-6, 17e-6};
  confirm(e, hiding);
  EXPECT_EQ(e.verdict, Verdict::rejected_timer);
  EXPECT_THAT(e.headline, HasSubstr("42.0 us more"));
  e = faster(1.5);
  confirm(e, session(1.5, 1.4, 1.6, Verdict::unstable));
  EXPECT_EQ(e.verdict, Verdict::pass_faster);
  EXPECT_EQ(practical_win(e), std::nullopt);
  EXPECT_THAT(practical_win_reason(e), HasSubstr("unstable"));
}

TEST(Confirmation, StaysInTheArchive) {
  Evaluation e = faster(1.5);
  confirm(e, session(1.4, 1.3, 1.5, Verdict::pass_faster));
  const nlohmann::json archive = to_json(e, View::archive);
  EXPECT_EQ(archive.at("practical_win"), true);
  EXPECT_EQ(archive.at("stages").at("confirmation").at("ratio").at("point"), 1.4);
  const Evaluation back = evaluation_from_json(archive);
  EXPECT_EQ(practical_win(back), true);
  EXPECT_FALSE(to_json(e, View::open).at("stages").contains("confirmation"));
  e.heldout.emplace();
  EXPECT_EQ(to_json(e, View::open).at("practical_win"), nullptr);
}

}  // namespace
}  // namespace sweep::evaluate
