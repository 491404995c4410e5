#include "evaluate/evaluation.h"
#include "evaluate/feedback.h"
#include "util/error.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <random>

namespace sweep::evaluate {
namespace {

using nlohmann::json;

Failure secret_failure() {
  Failure failure;
  failure.verdict = Verdict::incorrect_value;
  failure.text = "SECRET-TEXT";
  failure.tensor = "y";
  failure.index = {3, 4};
  failure.got = std::nan("");
  failure.expected = HUGE_VAL;
  failure.pattern = "SECRET-PATTERN";
  return failure;
}

Call secret_call() {
  Call call;
  call.shape = "SECRET-SHAPE";
  call.dims = {{"rows", 8191}};
  call.content = "SECRET-CONTENT";
  call.failure = secret_failure();
  return call;
}

TimeResult timing() {
  TimeResult time;
  time.shapes.push_back({"full", {{"rows", 5}}, 2e-3, 1e-3, {1.9, 2.0, 2.1}, true, 5e-4});
  time.ratio = {1.9, 2.0, 2.1};
  time.bootstrap = {1.8, 2.0, HUGE_VAL};
  time.replicates = 5;
  time.blocks = 20;
  time.discarded = 1;
  time.drift = {0.02, 0.01, 0.03};
  time.carryover = {-0.002, 0, 0.01};
  time.hidden = {4e-6, 1e-6, 15e-6};
  time.pilot.push_back({0, 0, 0, 0, false, 3e-3, 4e-3, 1});
  time.earlier.emplace_back().decision = Verdict::unstable;
  time.decision = Verdict::pass_faster;
  time.clock = "cuda events";
  time.samples.push_back({4, 1, 2, 3, true, 1e-3, 2e-3, 0.99});
  time.energy = {"full", 0.4, 0.2, 4.5, ""};
  time.conditions.power_watts = 500;
  time.phases = {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, {1, 2, 3, 4, 5, 6}};
  time.shapes[0].throughput = {40, 6e-6, 5e-6, {1.1, 1.2, 1.3}, ""};
  time.graphs.push_back({4, 0, 1, 2, true, 2e-4, 3e-4, 1});
  return time;
}

Evaluation full() {
  Evaluation e;
  e.verdict = Verdict::incorrect_generalisation;
  e.flags = {"UNEVEN"};
  e.problem = "level1/3";
  e.file = "mine.cu";
  e.seed = 0xfedcba9876543210U;
  e.depth = Depth::full;
  e.screen.emplace();
  e.screen->errors.push_back({"E_X", "mine.cu", 3, 4, "what", "next"});
  e.screen->kernels = {"k"};
  e.compile.emplace();
  e.compile->status = "ok";
  e.compile->compiler = "NVRTC 13.0";
  e.plan = {R"({"schema":1,"shapes":[]})", "abc"};
  e.compile->kernels.push_back({"k", 40, 0, 1024, -1});
  e.check.emplace();
  e.check->calls.push_back({"tiny", {{"rows", 3}}, 2, "default", 0.31, 1e-5, std::nullopt});
  e.check->worst_share = 0.31;
  e.stress.emplace();
  e.stress->random_shapes = 12;
  e.stress->inner = Hidden(std::optional(secret_failure()));
  e.stress->calls = Hidden(std::vector<Call>{secret_call()});
  e.time = timing();
  e.heldout.emplace();
  e.heldout->inner = Hidden(std::optional(secret_failure()));
  e.heldout->calls = Hidden(std::vector<Call>{secret_call()});
  e.heldout->time = Hidden(std::optional(timing()));
  e.device = "cuda:0";
  e.device_info.name = "NVIDIA H200";
  e.device_info.total_bytes = std::size_t{150} << 30U;
  e.protections.landlock = true;
  e.protections.note = "sealed: weak";
  e.version = "0.1.0";
  e.headline = "h";
  e.reproduce = "r";
  e.stages = {{Stage::heldout, 0.5}};
  e.seconds = 1.5;
  return e;
}

TEST(EvaluationJson, ArchiveRoundTripsEveryMember) {
  const json first = to_json(full(), View::archive);
  const Evaluation back = evaluation_from_json(json::parse(first.dump()));
  EXPECT_EQ(to_json(back, View::archive), first);
  EXPECT_EQ(back.verdict, Verdict::incorrect_generalisation);
  EXPECT_EQ(back.seed, full().seed);
  EXPECT_EQ(back.plan.text, full().plan.text);
  EXPECT_EQ(back.compile->compiler, "NVRTC 13.0");
  EXPECT_TRUE(std::isnan(back.stress->inner.for_archive()->got));
  EXPECT_TRUE(std::isinf(back.time->bootstrap.high));
  EXPECT_EQ(back.stages.at(0).stage, Stage::heldout);
  EXPECT_EQ(first.at("schema"), 1);
  EXPECT_EQ(first.at("outcome"), "incorrect");
}

TEST(EvaluationJson, ResultsFromBeforePlansWereStoredCanBeRead) {
  json old = to_json(full(), View::archive);
  old.erase("plan");
  old["stages"]["compile"].erase("compiler");
  const Evaluation back = evaluation_from_json(old);
  EXPECT_EQ(back.plan.text, "");
  EXPECT_EQ(back.compile->compiler, "");
}

TEST(EvaluationJson, OpenViewHoldsNothingHidden) {
  const std::string text = to_json(full(), View::open).dump();
  EXPECT_EQ(text.find("SECRET"), std::string::npos);
  EXPECT_EQ(text.find("8191"), std::string::npos);
  EXPECT_NE(to_json(full(), View::archive).dump().find("SECRET"), std::string::npos);
  const Evaluation back = evaluation_from_json(json::parse(text));
  EXPECT_EQ(to_json(back, View::open).dump(), text);
}

TEST(EvaluationJson, HostileTextIsAUsageError) {
  std::mt19937 random(7);
  const std::string good = to_json(full(), View::archive).dump();
  for (int i = 0; i < 1500; ++i) {
    std::string text = good;
    for (unsigned n = 0; n < 1 + random() % 3; ++n) {
      text[random() % text.size()] = static_cast<char>(" 0-\"x{}[],:n"[random() % 12]);
    }
    const json body = json::parse(text, nullptr, false);
    if (body.is_discarded()) {
      continue;
    }
    try {
      (void)evaluation_from_json(body);
    } catch (const util::UsageError& error) {
      EXPECT_EQ(error.code(), "E_EVALUATION_SCHEMA");
    }
  }
  EXPECT_THROW((void)evaluation_from_json(json::array()), util::UsageError);
  EXPECT_THROW((void)evaluation_from_json({{"schema", 2}}), util::UsageError);
}

TEST(Feedback, NeverCarriesHiddenFacts) {
  const VisibleFeedback feedback = VisibleFeedback::of(full());
  const std::string text = feedback.text();
  EXPECT_EQ(text.find("SECRET"), std::string::npos);
  EXPECT_EQ(text.find("8191"), std::string::npos);
  EXPECT_NE(text.find("stress: failed"), std::string::npos);
  EXPECT_EQ(feedback.stress_passed(), false);
}

TEST(Feedback, AFailureInHeldOutIsNotMentioned) {
  Evaluation e = full();
  e.stress->passed = true;
  e.heldout->passed = false;
  const VisibleFeedback feedback = VisibleFeedback::of(e);
  EXPECT_EQ(feedback.verdict(), Verdict::pass_faster);
  EXPECT_EQ(feedback.text().find("held"), std::string::npos);
}

TEST(Feedback, HeldOutTimingDoesNotLeakThroughTheVerdict) {
  Evaluation e = full();
  e.stress->passed = true;
  e.heldout->passed = true;
  e.verdict = Verdict::pass_slower;  // by held-out timing
  EXPECT_EQ(VisibleFeedback::of(e).verdict(), Verdict::pass_faster);
}

TEST(Feedback, IsBoundedAndPrintable) {
  Evaluation e = full();
  e.compile->status = "compile_error";
  e.compile->log = std::string(100000, 'x') + "\x1b[31m";
  const std::string text = VisibleFeedback::of(e).text(2000);
  EXPECT_LE(text.size(), 2100U);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace sweep::evaluate
