#include "evaluate/recompute.h"

#include "evaluate/evaluation.h"
#include "evaluate/evaluation_json.h"
#include "evaluate/time_summary.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <random>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A session of 5 replicates with 4 blocks of each of 2 shapes; the candidate is 1.25 times as fast.
TimeResult timed(std::uint64_t seed, const std::function<void(Sample&)>& change = {}) {
  TimeResult time;
  time.clock = "cuda events";
  time.phases.calls = 1;
  for (const char* name : {"small", "large"}) {
    time.shapes.emplace_back().shape = name;
  }
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 5 * 2 * 4 * 4; ++i) {
    const int block = i / 4 % 4, position = i % 4;
    const bool candidate = (position == 1 || position == 2) == (block % 2 == 0);
    const double seconds = (candidate ? 8e-5 : 1e-4) * std::exp(0.01 * normal(random));
    time.samples.push_back(
        {i / 32, i / 16 % 2, block, position, candidate, seconds, seconds + 1.5e-4, 1});
    if (change) {
      change(time.samples.back());
    }
  }
  compute_statistics(time, true);
  return time;
}

json evaluation() {
  Evaluation e;
  e.verdict = Verdict::pass_faster;
  e.time = timed(1);
  e.time->earlier.push_back(timed(2));
  e.heldout.emplace();
  e.heldout->time = Hidden(std::optional(timed(3)));
  // As a file holds it.
  return json::parse(to_json(e, View::archive).dump());
}

json& time_of(json& body) {
  return body.at("stages").at("time");
}

TEST(Recompute, ComputesAConfirmationAgain) {
  Evaluation e;
  e.verdict = Verdict::pass_faster;
  e.time = timed(1);
  e.confirmation = Hidden(std::optional(timed(2)));
  json body = json::parse(to_json(e, View::archive).dump());
  EXPECT_THAT(recompute(body), IsEmpty());
  EXPECT_EQ(body.at("practical_win"), true);
  body["practical_win"] = false;
  EXPECT_THAT(recompute(body), Contains(HasSubstr("practical_win is false")));
  body["practical_win"] = true;
  body["stages"]["confirmation"]["samples"]["rows"][0][5] = 1.0;
  EXPECT_THAT(recompute(body), Contains(HasSubstr("confirmation.")));
}

TEST(Recompute, AgreesWithWhatWasWritten) {
  json body = evaluation();
  EXPECT_EQ(time_of(body).at("decision"), "PASS_FASTER");
  EXPECT_THAT(recompute(body), IsEmpty());
}

TEST(Recompute, NamesWhatAnAlteredSampleChanges) {
  json body = evaluation();
  json& seconds = time_of(body).at("samples").at("rows").at(17).at(5);
  seconds = seconds.get<double>() * 1.5;
  EXPECT_THAT(recompute(body), Contains(HasSubstr("time.overhead_per_call is")));
  EXPECT_THAT(recompute(body), Not(Contains(HasSubstr("heldout"))));
}

TEST(Recompute, LooksAtHeldOutAndEarlierSessions) {
  json body = evaluation();
  body.at("stages").at("heldout").at("time").at("ratio").at("point") = 1.5;
  time_of(body).at("earlier").at(0).at("guards").at("drift").at("low") = 0.5;
  EXPECT_THAT(recompute(body), Contains(HasSubstr("heldout.time.ratio.point is 1.5")));
  EXPECT_THAT(recompute(body), Contains(HasSubstr("time.earlier.0.guards.drift.low is 0.5")));
}

TEST(Recompute, ASeedThatIsSlowerAfterTheCandidateRejectsIt) {
  bool after_candidate = false;
  const TimeResult time = timed(1, [&](Sample& sample) {
    if (!sample.candidate && after_candidate) {
      sample.device_seconds *= 1.06;
    }
    after_candidate = sample.candidate;
  });
  EXPECT_EQ(time.decision, Verdict::rejected_carryover);
  EXPECT_NEAR(time.carryover.point, 0.06, 0.01);
  EXPECT_GT(time.carryover.low, time.carryover.limit);
}

TEST(Recompute, TimeThatOnlyTheHostSeesIsRejected) {
  const TimeResult time =
      timed(1, [](Sample& sample) { sample.host_seconds += sample.candidate ? 60e-6 : 0; });
  EXPECT_EQ(time.decision, Verdict::rejected_timer);
  EXPECT_NEAR(time.hidden.point, 60e-6, 3e-6);
  EXPECT_GT(time.hidden.low, time.hidden.limit);
}

// A runner that says 80 us where the judge's own clock sees 130.
TEST(Recompute, EventsThatTheJudgesClockContradictsAreRejected) {
  Evaluation e;
  e.time = timed(1);
  for (int replicate = 0; replicate < 5; ++replicate) {
    for (int shape = 0; shape < 2; ++shape) {
      e.time->slopes.push_back({replicate, shape, 1.25e-4, shape == 1 ? 1.55e-4 : 1.05e-4});
    }
  }
  compute_statistics(*e.time, true);
  EXPECT_EQ(e.time->decision, Verdict::rejected_timer);
  EXPECT_NEAR(e.time->slope.point, 50e-6, 2e-6);
  EXPECT_DOUBLE_EQ(e.time->slope.limit, 17e-6);
  json body = json::parse(to_json(e, View::archive).dump());
  EXPECT_THAT(recompute(body), IsEmpty());
  json& row = time_of(body).at("slopes").at("rows").at(1);
  row.at(3) = 1.05e-4;
  EXPECT_THAT(recompute(body), Contains(HasSubstr("time.guards.slope_seconds.low is")));
  row.at(1) = 7;
  EXPECT_THAT(recompute(body), Contains(HasSubstr("slopes of no shape")));
  row = {1, 2};
  EXPECT_THAT(recompute(body), Contains(HasSubstr("a slope is not four numbers")));
}

TEST(Recompute, TheMarginFollowsFromTheCalibration) {
  Evaluation e;
  e.time = timed(1);
  EXPECT_DOUBLE_EQ(e.time->margin, 0.01);
  e.time->calibration = CalibrationUsed{"0123456789abcdef", 3600, 0.02};
  compute_statistics(*e.time, true);
  EXPECT_DOUBLE_EQ(e.time->margin, 0.04);
  json body = json::parse(to_json(e, View::archive).dump());
  EXPECT_THAT(recompute(body), IsEmpty());
  time_of(body).at("margin") = 0.01;
  EXPECT_THAT(recompute(body), Contains(HasSubstr("time.margin is 0.01")));
}

TEST(Recompute, EveryPublishedNumberIsCompared) {
  const json body = evaluation();
  for (const char* path : {"/ratio/low",
                           "/ratio/high",
                           "/bootstrap/low",
                           "/drift",
                           "/guards/carryover/point",
                           "/guards/hidden_seconds/limit",
                           "/discarded",
                           "/replicates",
                           "/shapes/1/seed_seconds",
                           "/shapes/0/ratio/point"}) {
    json altered = body;
    json& value = time_of(altered).at(json::json_pointer(path));
    value =
        value.is_number_integer() ? json(value.get<int>() + 1) : json(value.get<double>() + 0.125);
    EXPECT_THAT(recompute(altered), Contains(HasSubstr("the samples give"))) << path;
  }
  json altered = body;
  time_of(altered).at("decision") = "PASS_EQUIVALENT";
  EXPECT_THAT(recompute(altered), Contains(HasSubstr("PASS_FASTER")));
}

TEST(Recompute, HostileInputIsAFinding) {
  for (const auto& [column, value] :
       std::vector<std::pair<std::size_t, int>>{{1, -1}, {1, 2}, {3, 4}}) {
    json body = evaluation();
    time_of(body).at("samples").at("rows").at(3).at(column) = value;
    EXPECT_THAT(recompute(body), Contains(HasSubstr("no shape or position"))) << column;
  }
  json body = evaluation();
  time_of(body).at("samples") = 7;
  EXPECT_THAT(recompute(body), Not(IsEmpty()));
  body = evaluation();
  json& rows = time_of(body).at("samples").at("rows");
  for (int i = 0; i < 1001; ++i) {
    rows.push_back(rows.at(0));
  }
  EXPECT_THAT(recompute(body), Contains(HasSubstr("more samples")));
  EXPECT_THAT(recompute(json::array()), IsEmpty());
  EXPECT_THAT(recompute(json{{"stages", 3}}), IsEmpty());
}

}  // namespace
}  // namespace sweep::evaluate
