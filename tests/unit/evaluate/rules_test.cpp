#include "evaluate/rules.h"

#include "../problem/compare_case.h"
#include "evaluate/evaluation_json.h"
#include "evaluate/recompute.h"
#include "timed_result.h"
#include "timing/clocks.h"
#include "timing/short_calls.h"
#include "timing/statistics.h"
#include "util/error.h"

#include <gmock/gmock.h>

#include <map>

#include <fmt/format.h>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

// -1 to 1, the same everywhere.
double spread(std::uint32_t& state) {
  state = state * 1664525U + 1013904223U;
  return static_cast<double>(state >> 8U) / (1U << 23U) - 1;
}

// Five replicates of eight blocks of one shape, the candidate 1.02 times as fast, and what `change`
// makes of each call. `after`: whose call was before it, `between`: calls of the other arm since
// its own last one.
struct Told {
  int in_replicate, number;
  bool after_candidate;
  int between;
};

TimeResult fixed(const std::function<void(Sample&, const Told&)>& change) {
  constexpr int kSeedFirst = 0b01101001;  // of the blocks of a replicate
  TimeResult time;
  time.clock = "cuda events";
  time.shapes.emplace_back().shape = "full";
  std::uint32_t state = 1;
  int between[2] = {0, 0};
  bool before = false;
  for (int i = 0; i < 5 * 8 * 4; ++i) {
    const int block = i / 4 % 8, position = i % 4;
    const bool middle = position == 1 || position == 2;
    const bool candidate = middle == ((kSeedFirst >> block) % 2 == 1);
    const double seconds = (candidate ? 1e-4 / 1.02 : 1e-4) * (1 + 0.004 * spread(state));
    Sample sample{i / 32, 0, block, position, candidate, seconds, seconds + 1.5e-4, 1};
    change(sample, {i % 32, i, before, between[candidate ? 1 : 0]});
    time.samples.push_back(sample);
    between[candidate ? 1 : 0] = 0;
    ++between[candidate ? 0 : 1];
    before = candidate;
  }
  compute_statistics(time, true);
  return time;
}

std::string text(const std::string& name, const TimeResult& t) {
  const auto guard = [](const Guard& g) {
    return fmt::format("{:.5g} {:.5g} {:.5g}", g.point, g.low, g.limit);
  };
  return fmt::format(
      "{}: {} {:.5g} {:.5g} {:.5g}, {} of, uneven {}, drift {}, after {}, host {}, "
      "judge {}",
      name,
      evaluate::name(*t.decision),
      t.ratio.low,
      t.ratio.point,
      t.ratio.high,
      t.discarded,
      t.uneven,
      guard(t.drift),
      guard(t.carryover),
      guard(t.hidden),
      guard(t.slope));
}

TimeResult slopes_of(double candidate) {
  TimeResult time = fixed([](Sample&, const Told&) {});
  for (int r = 0; r < 5; ++r) {
    time.slopes.push_back({r, 0, 1.25e-4, candidate + 1e-7 * r});
  }
  compute_statistics(time, true);
  return time;
}

TimeResult beside_a_program() {
  TimeResult time = fixed([](Sample&, const Told&) {});
  time.conditions.neighbours = {{12, "other", true}};
  compute_statistics(time, true);
  return time;
}

std::vector<std::string> of_sessions() {
  const auto session = [](const char* name,
                          const std::function<void(Sample&, const Told&)>& change) {
    return text(name, fixed(change));
  };
  return {
      session("quiet", [](Sample&, const Told&) {}),
      session(
          "drift",
          [](Sample& s, const Told& told) { s.device_seconds *= 1 + 0.0014 * told.in_replicate; }),
      session("after",
              [](Sample& s, const Told& told) {
                s.device_seconds *= !s.candidate && told.after_candidate ? 1.03 : 1;
              }),
      session("both",
              [](Sample& s, const Told& told) {
                s.device_seconds += s.candidate != told.after_candidate ? 2e-6 : 0;
              }),
      session("feigned",
              [](Sample& s, const Told& told) {
                s.device_seconds *= !s.candidate && told.after_candidate ? 1.06
                                    : s.candidate && told.between == 1   ? 1.03
                                                                         : 1;
              }),
      session("minority",
              [](Sample& s, const Told& told) {
                s.device_seconds *= s.candidate && told.number % 7 == 0 ? 2 : 1;
              }),
      session("held up",
              [](Sample& s, const Told& told) {
                s.device_seconds *= s.candidate             ? 1
                                    : told.number % 16 == 0 ? 3.1
                                    : told.number % 16 == 8 ? 2.9
                                                            : 1;
              }),
      session("host", [](Sample& s, const Told&) { s.host_seconds += s.candidate ? 2e-5 : 0; }),
      text("judge", slopes_of(1.45e-4)),
      text("program", beside_a_program()),
  };
}

// Of the comparison of an output: in one row the candidate's errors are six times as large, in
// another the seed's, where it is `odd`, forty times.
std::vector<std::string> of_outputs() {
  std::vector<std::string> lines;
  for (const auto& [rows, columns, odd] : {std::tuple{2, 16, false},
                                           {16, 40, false},
                                           {16, 40, true},
                                           {16, 512, false},
                                           {16, 512, true}}) {
    problem::testing_case::Case one(rows, columns, 30, 7);
    for (std::size_t i = 0; i < static_cast<std::size_t>(columns); ++i) {
      const std::size_t next = i + static_cast<std::size_t>(columns);
      one.y[next] += 5 * (one.y[next] - static_cast<float>(one.r[next]));
      one.s[i] += odd ? 39 * (one.s[i] - static_cast<float>(one.r[i])) : 0;
    }
    const problem::Comparison found = one.run(1);
    lines.push_back(fmt::format("{} x {}: pass {}, {:.5g} and {:.5g} of {:.5g} and {:.5g}",
                                rows,
                                columns,
                                found.pass,
                                found.worst,
                                found.worst_rms,
                                found.e_max,
                                found.e_rms));
  }
  return lines;
}

std::string of_constants() {
  const auto win = [](double point, double low) {
    return timing::practical_win({point, 1, 2}, {1, low, 2});
  };
  return fmt::format(
      "margin {:.5g} {:.5g}, replicates {} {} {}, half-width {:.5g} {:.5g} {:.5g}, "
      "clocks {:.5g} {:.5g}, graphs {} {} {}, win {} {} {}, specialised {} {}, "
      "sets {} {}",
      timing::margin(0),
      timing::margin(0.02),
      timing::replicates_for(0.002, 0.005),
      timing::replicates_for(0.01, 0.005),
      timing::replicates_for(0.1, 0.005),
      timing::target_half_width(1e-5),
      timing::target_half_width(5e-5),
      timing::target_half_width(1e-3),
      timing::clock_allowance(1e-5),
      timing::clock_allowance(1e-3),
      timing::graph_size(1e-6, 2e-6, 1).calls,
      timing::graph_size(1.9e-5, 9.9e-5, 1).calls,
      timing::graph_size(2e-5, 2e-5, 1).calls,
      win(1.05, 1),
      win(1.049, 1),
      win(1.05, 0.999),
      timing::specialised({0.79, 0, 1}, {1, 0, 2}),
      timing::specialised({0.81, 0, 1}, {1, 0, 2}),
      address_sets(1e6, 5),
      address_sets(3e8, 5));
}

// What rules make of the same calls. A line that differs is a change of the rules: kRules one more,
// the numbers that it changes in rules.cpp, what it changes in docs/timing.md, and here the lines
// of the new number in place of the old ones'.
constexpr int kHeld = 2;
const std::vector<std::string> kLines = {
    "quiet: PASS_FASTER 1.0198 1.0206 1.0214, 0 of, uneven false, drift 0.001038 0 0.03, after "
    "0.0017795 0 0.01, host 0 0 1.7e-05, judge 0 0 0",
    "drift: UNSTABLE 1.0198 1.0206 1.0214, 0 of, uneven false, drift 0.042196 0.03944 0.03, after "
    "0.0015813 0 0.01, host 5.7771e-08 0 1.7041e-05, judge 0 0 0",
    "after: REJECTED_CARRYOVER 1.037 1.0375 1.038, 0 of, uneven false, drift 0.0034888 0 0.03, "
    "after 0.031808 0.028135 0.01, host 2.996e-06 2.9899e-06 1.7e-05, judge 0 0 0",
    "both: PASS_FASTER 1.0182 1.0199 1.0215, 0 of, uneven false, drift 0.0034398 0 0.03, after "
    "0.0017806 0 0.01, host 0 0 1.7e-05, judge 0 0 0",
    "feigned: REJECTED_CARRYOVER 1.045 1.0492 1.0534, 0 of, uneven false, drift 0.0034888 0 0.03, "
    "after 0.047035 0.037277 0.01, host 3.0713e-06 3.042e-06 1.7e-05, judge 0 0 0",
    "minority: PASS_SLOWER 0.83725 0.90877 0.9864, 0 of, uneven true, drift 0.001038 0 0.03, after "
    "-0.0015579 0 0.01, host 0 0 1.7e-05, judge 0 0 0",
    "held up: PASS_FASTER 1.1585 1.159 1.1595, 5 of, uneven true, drift 0.0037688 0 0.03, after "
    "-0.00098172 0 0.01, host 0 0 1.7e-05, judge 0 0 0",
    "host: REJECTED_TIMER 1.0198 1.0206 1.0214, 0 of, uneven false, drift 0.001038 0 0.03, after "
    "0.0017795 0 0.01, host 2e-05 2e-05 1.7e-05, judge 0 0 0",
    "judge: REJECTED_TIMER 1.0198 1.0206 1.0214, 0 of, uneven false, drift 0.001038 0 0.03, after "
    "0.0017795 0 0.01, host 0 0 1.7e-05, judge 2.2165e-05 2.1653e-05 1.7e-05",
    "program: UNSTABLE 1.0198 1.0206 1.0214, 0 of, uneven false, drift 0.001038 0 0.03, after "
    "0.0017795 0 0.01, host 0 0 1.7e-05, judge 0 0 0",
    "2 x 16: pass true, 0.5143 and 0.41683 of 8.3773e-06 and 3.3303e-06",
    "16 x 40: pass true, 0.49033 and 0.42377 of 1.2919e-05 and 3.703e-06",
    "16 x 40: pass true, 0.016529 and 0.083218 of 0.00038324 and 3.7436e-05",
    "16 x 512: pass true, 0.58212 and 0.63097 of 1.4291e-05 and 3.6079e-06",
    "16 x 512: pass true, 0.018334 and 0.17852 of 0.00045375 and 3.7632e-05",
    "margin 0.01 0.04, replicates 5 15 15, half-width 0.005 0.0029677 0.002, clocks 1.5e-05 "
    "0.00015, graphs 256 27 0, win true false false, specialised true false, sets 3 1",
};

TEST(Rules, MakeTheSameOfTheSameCallsAsWhenTheyGotTheirNumber) {
  std::vector<std::string> now = of_sessions();
  const std::vector<std::string> outputs = of_outputs();
  now.insert(now.end(), outputs.begin(), outputs.end());
  now.push_back(of_constants());
  EXPECT_EQ(kRules, kHeld);
  for (std::size_t i = 0; i < now.size(); ++i) {
    EXPECT_EQ(i < kLines.size() ? kLines[i] : "", now[i]);
  }
  EXPECT_EQ(now.size(), kLines.size());
}

// By rules 1 the guards of the quiet session read otherwise; nothing else may.
json by_rules(int rules) {
  json body = evaluation();
  if (rules == 1) {
    body.erase("rules");  // as results were before it
  } else {
    body["rules"] = rules;
  }
  time_of(body)["guards"]["drift"]["low"] = 0.001;
  time_of(body)["guards"]["carryover"]["point"] = 0.002;
  return body;
}

TEST(Rules, AResultSaysByWhichItWasJudged) {
  const json body = evaluation();
  EXPECT_EQ(body.at("rules"), kRules);
  EXPECT_EQ(evaluation_from_json(body).rules, kRules);
  EXPECT_EQ(evaluation_from_json(by_rules(1)).rules, 1);
}

TEST(Rules, NumbersOfOtherRulesAreNotWrong) {
  EXPECT_THAT(recompute(by_rules(kRules)).findings,
              Contains(HasSubstr("guards.drift.low is 0.001, the samples give")));
  const Recomputed old = recompute(by_rules(1));
  EXPECT_EQ(old.rules, 1);
  EXPECT_THAT(old.findings, IsEmpty());
  EXPECT_THAT(
      old.otherwise,
      UnorderedElementsAre(HasSubstr("time.guards.drift.low is 0.001, today's rules give"),
                           HasSubstr("time.guards.carryover.point is 0.002, today's rules give")));
}

TEST(Rules, WhatDoesNotDependOnThemIsHeldAgainstTheSamples) {
  json body = by_rules(1);
  time_of(body)["ratio"]["point"] = 1.5;
  time_of(body)["guards"]["hidden_seconds"]["point"] = 0.5;
  time_of(body)["shapes"][1]["seed_seconds"] = 2e-4;
  EXPECT_THAT(recompute(body).findings,
              UnorderedElementsAre(HasSubstr("time.ratio.point is 1.5, the samples give"),
                                   HasSubstr("time.guards.hidden_seconds.point is"),
                                   HasSubstr("time.shapes.1.seed_seconds is")));
}

// An old number is no licence to write another verdict: it must follow from the guards beside it.
TEST(Rules, ADecisionFollowsFromItsOwnGuards) {
  json body = by_rules(1);
  time_of(body)["guards"]["drift"]["low"] = 0.04;
  EXPECT_THAT(recompute(body).findings,
              Contains("time.decision is \"PASS_FASTER\", its own ratio and guards give "
                       "\"UNSTABLE\""));
  time_of(body)["decision"] = "UNSTABLE";
  body["verdict"] = "UNSTABLE";
  const Recomputed drifted = recompute(body);
  EXPECT_THAT(drifted.otherwise,
              Contains("time.decision is \"UNSTABLE\", today's rules give \"PASS_FASTER\""));
  EXPECT_THAT(drifted.findings, Not(Contains(HasSubstr("time.decision"))));
}

// A later program's: medians and counts are held against the samples, nothing else.
TEST(Rules, OfRulesThatAreNotKnownLittleIsComputedAgain) {
  json body = by_rules(kRules + 1);
  time_of(body)["ratio"]["point"] = 1.5;
  time_of(body)["shapes"][0]["ratio"]["low"] = 1.4;
  Recomputed later = recompute(body);
  EXPECT_EQ(later.rules, kRules + 1);
  EXPECT_THAT(later.findings, IsEmpty());
  EXPECT_THAT(later.otherwise,
              AllOf(Contains(HasSubstr("time.ratio.point is 1.5, today's rules give")),
                    Contains(HasSubstr("time.shapes.0.ratio.low is 1.4"))));
  time_of(body)["shapes"][0]["seed_seconds"] = 2e-4;
  EXPECT_THAT(recompute(body).findings, Contains(HasSubstr("time.shapes.0.seed_seconds is")));
  EXPECT_THAT(rules_text(kRules + 1), HasSubstr("does not know"));
}

TEST(Rules, ANumberThatIsNoneIsRefused) {
  for (const json& value : {json("2"),
                            json(2.0),
                            json(nullptr),
                            json(true),
                            json(0),
                            json(-1),
                            json(kMostRules + 1),
                            json(std::int64_t{1} << 40U),
                            json(1e300),
                            json::array({2})}) {
    json body = evaluation();
    body["rules"] = value;
    EXPECT_THROW((void)evaluation_from_json(body), util::UsageError) << value;
    EXPECT_THAT(recompute(body).findings, Contains(HasSubstr("rules"))) << value;
  }
}

TEST(Rules, APlaceIsAWholeName) {
  EXPECT_TRUE(changed_since(1, "guards.drift.low"));
  EXPECT_TRUE(changed_since(1, "drift"));
  EXPECT_FALSE(changed_since(1, "drifted"));
  EXPECT_FALSE(changed_since(1, "guards"));
  EXPECT_FALSE(changed_since(kRules, "drift"));
  EXPECT_TRUE(changed_since(kRules + 1, "shapes.12.ratio.low"));
  EXPECT_FALSE(changed_since(kRules + 1, "shapes.12.seed_seconds"));
  EXPECT_FALSE(changed_since(kRules + 1, "shapes."));
  EXPECT_FALSE(changed_since(kRules + 1, "shapes.3"));
  EXPECT_FALSE(changed_since(kRules + 1, ""));
}

}  // namespace
}  // namespace sweep::evaluate
