#include "evaluate/recompute.h"

#include "evaluate/evaluation.h"
#include "evaluate/evaluation_json.h"
#include "evaluate/metrics.h"
#include "evaluate/time_summary.h"
#include "timed_result.h"

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

std::vector<std::string> findings_of(const json& body) {
  return recompute(body).findings;
}

TEST(Recompute, ComputesAConfirmationAgain) {
  Evaluation e;
  e.verdict = Verdict::pass_faster;
  e.time = timed(1);
  e.confirmation = Hidden(std::optional(timed(2)));
  json body = json::parse(to_json(e, View::archive).dump());
  EXPECT_THAT(findings_of(body), IsEmpty());
  EXPECT_EQ(body.at("practical_win"), true);
  body["practical_win"] = false;
  EXPECT_THAT(findings_of(body), Contains(HasSubstr("practical_win is false")));
  body["practical_win"] = true;
  body["stages"]["confirmation"]["samples"]["rows"][0][5] = 1.0;
  EXPECT_THAT(findings_of(body), Contains(HasSubstr("confirmation.")));
}

TEST(Recompute, AgreesWithWhatWasWritten) {
  json body = evaluation();
  EXPECT_EQ(time_of(body).at("decision"), "PASS_FASTER");
  EXPECT_THAT(findings_of(body), IsEmpty());
}

TEST(Recompute, NamesWhatAnAlteredSampleChanges) {
  json body = evaluation();
  json& seconds = time_of(body).at("samples").at("rows").at(17).at(5);
  seconds = seconds.get<double>() * 1.5;
  EXPECT_THAT(findings_of(body), Contains(HasSubstr("time.overhead_per_call is")));
  EXPECT_THAT(findings_of(body), Not(Contains(HasSubstr("heldout"))));
}

TEST(Recompute, LooksAtHeldOutAndEarlierSessions) {
  json body = evaluation();
  body.at("stages").at("heldout").at("time").at("ratio").at("point") = 1.5;
  time_of(body).at("earlier").at(0).at("guards").at("drift").at("low") = 0.5;
  EXPECT_THAT(findings_of(body), Contains(HasSubstr("heldout.time.ratio.point is 1.5")));
  EXPECT_THAT(findings_of(body), Contains(HasSubstr("time.earlier.0.guards.drift.low is 0.5")));
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
  EXPECT_THAT(findings_of(body), IsEmpty());
  json& row = time_of(body).at("slopes").at("rows").at(1);
  row.at(3) = 1.05e-4;
  EXPECT_THAT(findings_of(body), Contains(HasSubstr("time.guards.slope_seconds.low is")));
  row.at(1) = 7;
  EXPECT_THAT(findings_of(body), Contains(HasSubstr("slopes of no shape")));
  row = {1, 2};
  EXPECT_THAT(findings_of(body), Contains(HasSubstr("a slope is not four numbers")));
}

// Graphs of 50 calls at shape 1: the candidate's take half of the seed's 500 us in every block.
TEST(Recompute, ThroughputFollowsFromTheGraphs) {
  Evaluation e;
  e.time = timed(1);
  e.time->shapes[1].throughput.calls = 50;
  for (int replicate = 0; replicate < 5; ++replicate) {
    for (int position = 0; position < 4; ++position) {
      const bool candidate = position == 1 || position == 2;
      e.time->graphs.push_back(
          {replicate, 1, 0, position, candidate, candidate ? 250e-6 : 500e-6, 1e-3, 1});
    }
  }
  compute_statistics(*e.time, true);
  const GraphTiming& found = e.time->shapes[1].throughput;
  EXPECT_EQ(found.reason, "");
  EXPECT_NEAR(found.seed_seconds, 10e-6, 1e-15);
  EXPECT_NEAR(found.candidate_seconds, 5e-6, 1e-15);
  EXPECT_NEAR(found.ratio.low, 2, 1e-9);
  EXPECT_EQ(e.time->shapes[0].throughput.reason, "was not measured");
  const json body = json::parse(to_json(e, View::archive).dump());
  EXPECT_THAT(findings_of(body), IsEmpty());
  json altered = body;
  time_of(altered).at("/shapes/1/throughput/candidate_seconds"_json_pointer) = 4e-6;
  EXPECT_THAT(findings_of(altered),
              Contains(HasSubstr("time.shapes.1.throughput.candidate_seconds is")));
  altered = body;
  time_of(altered).at("/graphs/rows/1/5"_json_pointer) = 1e-6;
  EXPECT_THAT(findings_of(altered), Contains(HasSubstr("throughput.ratio.low is")));
  altered = body;
  time_of(altered).at("/graphs/rows"_json_pointer) = json::array();
  EXPECT_THAT(findings_of(altered), Contains(HasSubstr("throughput.seed_seconds is")));
  altered = body;
  time_of(altered).at("/graphs/rows/1/1"_json_pointer) = 7;
  EXPECT_THAT(findings_of(altered), Contains(HasSubstr("of no shape")));
  // Results from before there were graphs.
  altered = body;
  time_of(altered).erase("graphs");
  for (json& shape : time_of(altered).at("shapes")) {
    shape.erase("throughput");
  }
  EXPECT_THAT(findings_of(altered), IsEmpty());
}

TEST(Recompute, TheMarginFollowsFromTheCalibration) {
  Evaluation e;
  e.time = timed(1);
  EXPECT_DOUBLE_EQ(e.time->margin, 0.01);
  e.time->calibration = CalibrationUsed{"0123456789abcdef", 3600, 0.02};
  compute_statistics(*e.time, true);
  EXPECT_DOUBLE_EQ(e.time->margin, 0.04);
  json body = json::parse(to_json(e, View::archive).dump());
  EXPECT_THAT(findings_of(body), IsEmpty());
  time_of(body).at("margin") = 0.01;
  EXPECT_THAT(findings_of(body), Contains(HasSubstr("time.margin is 0.01")));
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
                           "/blocks",
                           "/replicates",
                           "/shapes/1/seed_seconds",
                           "/shapes/0/ratio/point"}) {
    json altered = body;
    json& value = time_of(altered).at(json::json_pointer(path));
    value =
        value.is_number_integer() ? json(value.get<int>() + 1) : json(value.get<double>() + 0.125);
    EXPECT_THAT(findings_of(altered), Contains(HasSubstr("the samples give"))) << path;
  }
  json altered = body;
  time_of(altered).at("decision") = "PASS_EQUIVALENT";
  EXPECT_THAT(findings_of(altered), Contains(HasSubstr("PASS_FASTER")));
}

// As `sweep eval` makes it: every word and number that rests on the sessions.
Evaluation concluded() {
  Evaluation e;
  e.verdict = Verdict::pass_faster;
  e.device = "cuda:0";
  e.time = timed(1);
  for (ShapeTiming& shape : e.time->shapes) {
    shape.bytes = 1e6;
    shape.flops = 2e6;
    shape.floor_seconds = 1e-6;
    shape.seed_launches = 2;
    shape.tensor_bytes = 4096;
    shape.seed_scratch_bytes = 1024;
  }
  e.metrics = metrics_of(*e.time, device::Kind::cuda, Ceilings{{}, "not calibrated"});
  return e;
}

json archived(const Evaluation& e) {
  return json::parse(to_json(e, View::archive).dump());
}

TEST(Recompute, MetricsFollowFromTheTimes) {
  const json body = archived(concluded());
  EXPECT_THAT(findings_of(body), IsEmpty());
  int values = 0;
  for (std::size_t i = 0; i < body.at("metrics").size(); ++i) {
    if (body.at("metrics").at(i).at("value").is_null()) {
      continue;
    }
    ++values;
    json altered = body;
    json& metric = altered.at("metrics").at(i);
    metric["value"] = metric.at("value").get<double>() * 1.001;
    EXPECT_THAT(findings_of(altered),
                Contains(HasSubstr("metrics." + metric.at("name").get<std::string>())));
  }
  EXPECT_EQ(values, 2 * 5) << "both rates, speed_of_light, launch_ratio, memory_ratio";
}

TEST(Recompute, AVerdictAboutSpeedIsThatOfTheDecidingSession) {
  Evaluation e = concluded();
  for (const Verdict wrong :
       {Verdict::pass_equivalent, Verdict::pass_inconclusive, Verdict::unstable}) {
    e.verdict = wrong;
    EXPECT_THAT(findings_of(archived(e)), Contains(HasSubstr("the sessions give PASS_FASTER")));
  }
  e.verdict = Verdict::incorrect_instructions;  // not by its times
  EXPECT_THAT(findings_of(archived(e)), IsEmpty());
  e.verdict = Verdict::pass_inconclusive;
  e.weakened = {"flush"};
  compute_statistics(*e.time, false);
  EXPECT_THAT(findings_of(archived(e)), IsEmpty());
}

TEST(Recompute, HeldOutShapesDecideWhereTheyWereTimed) {
  const auto slow = [](Sample& sample) { sample.device_seconds *= sample.candidate ? 2.5 : 1; };
  Evaluation e = concluded();
  e.heldout.emplace();
  e.heldout->time = Hidden(std::optional(timed(3, slow)));
  EXPECT_THAT(findings_of(archived(e)), Contains(HasSubstr("the sessions give PASS_SLOWER")));
  e.reproduce = "sweep eval k.cu --no-stress-gate --seed 1";
  EXPECT_THAT(findings_of(archived(e)), IsEmpty());
  e.reproduce.clear();
  e.verdict = Verdict::pass_slower;
  EXPECT_THAT(findings_of(archived(e)), IsEmpty());
  // Kept back by who published it.
  e.verdict = Verdict::pass_faster;
  json kept = archived(e);
  kept.at("stages").at("heldout").erase("calls");
  kept.at("stages").at("heldout").erase("time");
  EXPECT_THAT(findings_of(kept), IsEmpty());
}

TEST(Recompute, AConfirmingSessionMayRejectTheKernel) {
  bool after_candidate = false;
  Evaluation e = concluded();
  e.confirmation = Hidden(std::optional(timed(2, [&](Sample& sample) {
    const double late = !sample.candidate && after_candidate ? 0.1 * sample.device_seconds : 0;
    sample.device_seconds += late;
    sample.host_seconds += late;
    after_candidate = sample.candidate;
  })));
  EXPECT_THAT(findings_of(archived(e)),
              Contains(HasSubstr("the sessions give REJECTED_CARRYOVER")));
  e.verdict = Verdict::rejected_carryover;
  EXPECT_THAT(findings_of(archived(e)), IsEmpty());
}

TEST(Recompute, WhatALeftOutPartShowedIsNamed) {
  const json body = evaluation();
  const auto altered = [&body](const char* path, const json& value) {
    json copy = body;
    copy[json::json_pointer(path)] = value;
    return findings_of(copy);
  };
  EXPECT_THAT(altered("/stages/time/samples/rows", json::array()),
              Contains("time: has times, and no samples"));
  Failure failure;
  failure.verdict = Verdict::incorrect_value;
  EXPECT_THAT(altered("/stages/time/failure", to_json(failure)),
              Contains("time: has times beside a failed call"));
  EXPECT_THAT(altered("/stages/time/decision", nullptr), Contains(HasSubstr("nothing was timed")));
  EXPECT_THAT(altered("/stages", json::object()), Contains(HasSubstr("nothing was timed")));
  EXPECT_THAT(altered("/practical_win", true), Contains(HasSubstr("practical_win is true")));
  EXPECT_THAT(altered("/outcome", "rejected"), Contains(HasSubstr("outcome is")));
}

TEST(Recompute, ShapesThatNoReplicateHasCostNoMemory) {
  json body = evaluation();
  json& shapes = time_of(body).at("shapes");
  const json one = shapes.at(0);
  for (int i = 0; i < 1000; ++i) {
    shapes.push_back(one);
  }
  json& rows = time_of(body).at("samples").at("rows");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i][0] = i / 4;
  }
  EXPECT_THAT(findings_of(body), Contains(HasSubstr("a replicate lacks a shape")));
}

TEST(Recompute, PlacesOfSamplesAreWholeNumbers) {
  for (const json& value : {json(1e300), json(0.5), json(std::int64_t{1} << 32U)}) {
    json body = evaluation();
    time_of(body).at("samples").at("rows").at(3).at(0) = value;
    EXPECT_THAT(findings_of(body), Contains(HasSubstr("not a whole number"))) << value;
  }
}

TEST(Recompute, HostileInputIsAFinding) {
  for (const auto& [column, value] :
       std::vector<std::pair<std::size_t, int>>{{1, -1}, {1, 2}, {3, 4}}) {
    json body = evaluation();
    time_of(body).at("samples").at("rows").at(3).at(column) = value;
    EXPECT_THAT(findings_of(body), Contains(HasSubstr("no shape, block or position"))) << column;
  }
  json body = evaluation();
  time_of(body).at("samples") = 7;
  EXPECT_THAT(findings_of(body), Not(IsEmpty()));
  body = evaluation();
  json& rows = time_of(body).at("samples").at("rows");
  for (int i = 0; i < 1001; ++i) {
    rows.push_back(rows.at(0));
  }
  EXPECT_THAT(findings_of(body), Contains(HasSubstr("more samples")));
  EXPECT_THAT(findings_of(json::array()), IsEmpty());
  EXPECT_THAT(findings_of(json{{"stages", 3}}), IsEmpty());
}

}  // namespace
}  // namespace sweep::evaluate
