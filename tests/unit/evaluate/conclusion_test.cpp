#include "evaluate/conclusion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::evaluate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

TEST(Conclusion, SpeaksOfHeldOutShapesWhereTheyDecideAndNamesNone) {
  Evaluation evaluation = timed({1.7, 1.77, 1.8}, {1.7, 1.77, 1.8});
  evaluation.heldout.emplace();
  evaluation.heldout->passed = true;
  evaluation.heldout->time =
      Hidden<std::optional<TimeResult>>(timed({1.48, 1.49, 1.5}, {0.8, 0.85, 0.9}).time);
  const std::string next = next_of(evaluation, Depth::full, device::Kind::cuda);
  EXPECT_THAT(next, HasSubstr("slower on a held-out shape"));
  EXPECT_THAT(next, Not(HasSubstr("small")));
}

TEST(Conclusion, SaysHowToNarrowAnInterval) {
  const Evaluation evaluation = timed({0.98, 1.01, 1.04}, {0.98, 1.01, 1.04});
  EXPECT_THAT(next_of(evaluation, Depth::standard, device::Kind::cuda), HasSubstr("--replicates"));
  EXPECT_THAT(next_of(evaluation, Depth::fast, device::Kind::cuda), HasSubstr("--fast"));
  EXPECT_THAT(next_of(evaluation, Depth::standard, device::Kind::cpu), HasSubstr("--device cuda"));
}

TEST(Conclusion, SaysThatTheCpuDeviceNeverRanks) {
  EXPECT_THAT(next_of(timed({1.5, 1.6, 1.7}, {1.5, 1.6, 1.7}), Depth::standard, device::Kind::cpu),
              HasSubstr("never says FASTER"));
}

TEST(Conclusion, SaysWhatAGuardFound) {
  TimeResult time;
  time.carryover = {0.052, 0.041, 0.01};
  time.hidden = {42e-6, 40e-6, 17e-6};
  time.decision = Verdict::pass_equivalent;
  EXPECT_EQ(guard_text(time), "");
  time.decision = Verdict::rejected_carryover;
  EXPECT_THAT(guard_text(time), HasSubstr("5.2% slower after this kernel"));
  EXPECT_THAT(guard_text(time), HasSubstr("at least 4.1%; 1.0%"));
  time.decision = Verdict::rejected_timer;
  EXPECT_THAT(guard_text(time), HasSubstr("42.0 us more"));
  time.slope = {33e-6, 30e-6, 17e-6};
  EXPECT_THAT(guard_text(time), HasSubstr("judge's own clock one more call takes 33.0 us more"));
}

TEST(Conclusion, SaysWhichProgramMadeItUnstable) {
  Evaluation result;
  result.device = "cuda:0";
  result.verdict = Verdict::unstable;
  result.time.emplace().shapes.resize(1);
  result.time->conditions.neighbours = {{40, "python", true}, {41, "a.out", false}};
  EvaluationRequest request;
  request.device.kind = device::Kind::cuda;
  conclude(request, result);
  EXPECT_THAT(result.next, ::testing::StartsWith("pid 40 (python) computed on the GPU"));
  result.time->conditions.neighbours[0].busy = false;
  conclude(request, result);
  EXPECT_EQ(result.next, "");
}

std::vector<util::Protection> all_active() {
  std::vector<util::Protection> list;
  for (const std::string_view protection : util::protection_names()) {
    list.push_back({std::string(protection), true, true, ""});
  }
  return list;
}

TEST(Conclusion, SaysHowFarAResultIsSealed) {
  EXPECT_EQ(protections_of(all_active(), device::Kind::cuda, false).note, "");
  EXPECT_EQ(protections_of(all_active(), device::Kind::cuda, true).note, "sealed: weak");
  EXPECT_TRUE(protections_of(all_active(), device::Kind::cuda, true).sealed);
  EXPECT_EQ(protections_of(all_active(), device::Kind::cpu, false).note, "unsealed");
  EXPECT_FALSE(protections_of(all_active(), device::Kind::cpu, false).sealed);
  EXPECT_EQ(protections_of({}, device::Kind::cuda, true).note, "run without a sandbox");
}

TEST(Conclusion, FlagsAWeakSeal) {
  Evaluation evaluation;
  evaluation.protections = protections_of(all_active(), device::Kind::cuda, true);
  conclude({}, evaluation);
  EXPECT_THAT(evaluation.flags, ::testing::Contains("sealed: weak"));
}

TEST(Conclusion, RepeatsConstantsAndQuotesOddNames) {
  EvaluationRequest request;
  request.submission.file = "my kernel's.cu";
  request.overrides = {{"TILE", 64}};
  Evaluation result;
  result.device = "cuda:0";
  result.verdict = Verdict::compile_error;
  conclude(request, result);
  EXPECT_EQ(result.reproduce,
            R"(sweep eval 'my kernel'\''s.cu' --device cuda:0 -D TILE=64 --seed 1)");
}

TEST(Conclusion, NamesTheNextStepOfAPlanError) {
  Evaluation result;
  result.verdict = Verdict::plan_error;
  result.screen.emplace();
  result.screen->errors = {{"E_PLAN_EMPTY", "k.cu", 0, 0, "no launch", ""}};
  conclude({}, result);
  EXPECT_THAT(result.next, HasSubstr("sweep new"));
  result.screen->errors = {{"E_PLAN_OVERRIDE", "k.cu", 0, 0, "no const", ""}};
  conclude({}, result);
  EXPECT_THAT(result.next, HasSubstr("-D"));
}

Evaluation refused(const std::string& log) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::rejected_forbidden;
  evaluation.compile.emplace().status = "forbidden";
  evaluation.compile->log = log;
  return evaluation;
}

using ::testing::ElementsAre;

// The texts of both devices: compile/refuse_cpu.cpp and compile/refuse_cuda.cpp.
TEST(Conclusion, NamesTheRefusalOfEachDevice) {
  EXPECT_THAT(
      caught_by(refused("forbidden: 'n' is a writable module variable and would keep ..\n")),
      ElementsAre(Defence::module_state));
  EXPECT_THAT(caught_by(refused("forbidden: 'n' is a module variable that is written, or ..\n")),
              ElementsAre(Defence::module_state));
  EXPECT_THAT(caught_by(refused("forbidden: managed variable 'n'\n")),
              ElementsAre(Defence::module_state));
  EXPECT_THAT(caught_by(refused("forbidden: device malloc; declare `scratch` in the plan\n")),
              ElementsAre(Defence::forbidden_symbols));
  EXPECT_THAT(caught_by(refused("forbidden: __DATE__, __TIME__ and __TIMESTAMP__ make ..\n")),
              ElementsAre(Defence::build_time));
}

TEST(Conclusion, NamesTheLimitOfMemoryThatNothingWasLoadedFor) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::out_of_memory;
  evaluation.compile.emplace().status = "ok";
  EXPECT_THAT(caught_by(evaluation), ElementsAre(Defence::memory_limit));
}

TEST(Conclusion, NamesTheRulesOfTimingForWhatTheyReject) {
  Evaluation evaluation = timed({1.5, 1.6, 1.7}, {1.5, 1.6, 1.7});
  EXPECT_THAT(caught_by(evaluation), ElementsAre());
  for (const Verdict verdict : {Verdict::rejected_carryover, Verdict::rejected_timer}) {
    evaluation.verdict = verdict;
    EXPECT_THAT(caught_by(evaluation), ElementsAre(Defence::timing_rules));
  }
}

}  // namespace
}  // namespace sweep::evaluate
