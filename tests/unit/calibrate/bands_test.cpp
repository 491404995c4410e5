#include "calibrate/bands.h"

#include "calibrate/study.h"
#include "calibrate/study_plot.h"
#include "util/error.h"
#include "util/file.h"
#include "wire/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace sweep::calibrate {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Five replicates of four blocks of two shapes; the candidate of shape 1 takes `ratio` times as
// long as the seed, replicates differ by `spread`.
evaluate::TimeResult session(double ratio, double spread) {
  evaluate::TimeResult time;
  time.clock = "cuda events";
  for (int r = 0; r < 5; ++r) {
    for (int shape = 0; shape < 2; ++shape) {
      for (int block = 0; block < 4; ++block) {
        for (int position = 0; position < 4; ++position) {
          const bool candidate = position == 1 || position == 2;
          const double base = (shape == 0 ? 1e-5 : 1e-4) * (1 + 1e-4 * block);
          const double factor = candidate && shape == 1 ? ratio * std::exp(spread * (r - 2)) : 1;
          time.samples.push_back(
              {r, shape, block, position, candidate, base * factor, 2 * base, 1});
        }
      }
    }
  }
  return time;
}

TEST(BandSession, TakesTheReplicatesOfItsShapeAndJudgesThemAlone) {
  const BandSession same = band_session(session(1.03, 0.001), 0, kBands[1]);
  EXPECT_EQ(same.band, "copy 10 us");
  ASSERT_EQ(same.log_ratios.size(), 5U);
  EXPECT_NEAR(same.log_ratios[0], 0, 1e-12);
  EXPECT_EQ(same.verdict, "PASS_EQUIVALENT");
  const BandSession slower = band_session(session(1.03, 0.001), 1, kBands[3]);
  ASSERT_EQ(slower.log_ratios.size(), 5U);
  EXPECT_NEAR(slower.log_ratios[0], -std::log(1.03) + 0.002, 1e-6);
  EXPECT_EQ(slower.verdict, "PASS_SLOWER");
  EXPECT_EQ(band_session(session(1 / 1.03, 0.001), 1, kBands[3]).verdict, "PASS_FASTER");
  evaluate::TimeResult cpu = session(1 / 1.03, 0.001);
  cpu.clock = "monotonic clock";
  EXPECT_EQ(band_session(cpu, 1, kBands[3]).verdict, "PASS_INCONCLUSIVE") << "never FASTER";
  EXPECT_NE(same.samples_sha256, slower.samples_sha256);
}

TEST(BandSession, ReadsBackWithTheIntervalThatItsReplicatesGive) {
  BandSession made = band_session(session(1.03, 0.001), 1, kBands[3]);
  made.usual = Usual{1.02, true};
  const BandSession read = session_from_json(to_json(made));
  EXPECT_NEAR(read.ratio.low, made.ratio.low, 1e-9);
  EXPECT_NEAR(read.ratio.high, made.ratio.high, 1e-9);
  ASSERT_TRUE(read.usual);
  EXPECT_TRUE(read.usual->differs);
  nlohmann::json body = to_json(made);
  body["log_ratios"] = nlohmann::json::array();
  EXPECT_THROW((void)session_from_json(body), wire::WireError);
  body["log_ratios"] = std::vector<double>(1000, 0.0);
  EXPECT_THROW((void)session_from_json(body), wire::WireError);
  body["log_ratios"] = {1e9};
  EXPECT_THROW((void)session_from_json(body), wire::WireError);
}

// Medians by hand: {1000, 3000, 2000} is 0.002, {-1000, 1000, 0, 400} is 0.0002; their mean 0.0011,
// and with two replicates the half-width 12.7062 * 0.0018 / sqrt(2) / sqrt(2).
TEST(BandSession, ALineWithItsBlocksGivesTheVeryIntervalAgain) {
  BandSession made = band_session(session(1.03, 0.001), 1, kBands[3]);
  ASSERT_EQ(made.blocks.size(), 5U);
  ASSERT_EQ(made.blocks[0].size(), 4U);
  EXPECT_EQ(made.blocks[0][0], -27559) << "-ln 1.03 + 0.002 in millionths";
  const BandSession again = session_from_json(nlohmann::json::parse(to_json(made).dump()));
  EXPECT_EQ(again.ratio.low, made.ratio.low);
  EXPECT_EQ(again.ratio.high, made.ratio.high);
  EXPECT_EQ(again.blocks, made.blocks);
  nlohmann::json body = to_json(made);
  body["blocks"] = {{1000, 3000, 2000}, {-1000, 1000, 0, 400}};
  EXPECT_THROW((void)session_from_json(body), wire::WireError) << "other log_ratios";
  body["log_ratios"] = {0.002, 0.0002};
  const BandSession two = session_from_json(body);
  EXPECT_NEAR(std::log(two.ratio.point), 0.0011, 1e-12);
  EXPECT_NEAR(std::log(two.ratio.high), 0.0011 + 12.706204736 * 0.0009, 1e-9);
  body["uneven"] = true;
  body["log_ratios"] = {0.5, 0.5};
  EXPECT_NEAR(std::log(session_from_json(body).ratio.point), 0.5, 1e-12);
  for (const auto& wrong : {nlohmann::json::array(),
                            nlohmann::json{{1}},
                            nlohmann::json{{1}, nlohmann::json::array()},
                            nlohmann::json{{1}, {10'000'001}},
                            nlohmann::json{{1}, {0.5}},
                            nlohmann::json("text")}) {
    body["blocks"] = wrong;
    EXPECT_THROW((void)session_from_json(body), wire::WireError) << wrong;
  }
  // Lines from before blocks were kept.
  body = to_json(made);
  body.erase("blocks");
  body.erase("uneven");
  EXPECT_TRUE(session_from_json(body).blocks.empty());
}

// By hand: points 0.001 and 0.003, so |mean| 0.002; variances over replicates 2.5e-6 each, so
// t(0.975, 4) sqrt(2.5e-6 / 5) = 0.0019633.
TEST(Summary, IsTheMeanOffsetAndTheWidthOfOneSession) {
  std::vector<BandSession> sessions;
  for (const double offset : {0.001, 0.003}) {
    BandSession one;
    one.band = "copy 10 us";
    one.seconds = 1e-5;
    for (int r = -2; r <= 2; ++r) {
      one.log_ratios.push_back(offset + 0.001 * r);
    }
    one.verdict = "PASS_EQUIVALENT";
    sessions.push_back(session_from_json(to_json(one)));
  }
  const evaluate::CalibratedBand made = summarise(kBands[1], sessions);
  EXPECT_EQ(made.sessions, 2);
  EXPECT_EQ(made.excludes_one, 1) << "0.003 lies beyond 0.0019633";
  EXPECT_NEAR(made.half_width, 0.002 + 2.776445105 * std::sqrt(2.5e-6 / 5), 1e-9);
  EXPECT_NEAR(made.ratio_q95, 0.0029, 1e-9);
  EXPECT_NEAR(made.half_width_q95, 0.0019633, 1e-6);
  EXPECT_EQ(made.verdicts.at("PASS_EQUIVALENT"), 2);
}

TEST(Study, GrowsOverRunsAndLeavesOutWhatItCannotRead) {
  const util::TempDir folder;
  const auto file = folder.path() / "aa.jsonl";
  device::Info info;
  info.uuid = "GPU-1";
  info.name = "H200";
  info.driver = "580";
  EXPECT_TRUE(read_study(file, info).lines.empty());
  EXPECT_EQ(read_study(file, info).next_number(), 1U);
  for (std::uint64_t number : {1U, 2U}) {
    BandSession one = band_session(session(1, 0.001), 0, kBands[1]);
    one.usual = Usual{number == 1 ? 1.002 : 1.02, number == 2};
    append_study(file, info, "v", {number, false, "PASS_EQUIVALENT", {one}}, 0);
  }
  append_study(file,
               info,
               "v",
               {3, true, "PASS_SLOWER", {band_session(session(1.03, 0.001), 1, kBands[3])}},
               0);
  device::Info other = info;
  other.driver = "590";
  append_study(file, other, "v", {9, false, "PASS_EQUIVALENT", {}}, 0);
  util::append_durable(file, "{\"schema\":1,\"torn");
  append_study(file, info, "v", {5, false, "PASS_EQUIVALENT", {}}, 0);
  const Study study = read_study(file, info);
  EXPECT_EQ(study.broken, 2);
  EXPECT_EQ(study.next_number(), 6U) << "the line after a torn one is whole";
  EXPECT_EQ(study.of("copy 10 us", false).size(), 2U);
  EXPECT_EQ(study.of("copy 100 us", true).size(), 1U);
  const std::vector<StudyRow> rows = rows_of(study);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].sessions, 2);
  EXPECT_EQ(rows[0].usual, 2);
  EXPECT_EQ(rows[0].usual_differs, 1);
  EXPECT_EQ(rows[0].usual_apart, 1);
  EXPECT_EQ(rows[1].sessions, 0);
  EXPECT_EQ(rows[1].controls, 1);
  EXPECT_EQ(rows[1].controls_found, 1);
  // Of all devices: the line of the other driver counts, the torn one does not.
  const Study all = read_study_of_all(file);
  EXPECT_EQ(all.broken, 1);
  EXPECT_EQ(all.lines.size(), 5U);
  EXPECT_THAT(all.devices, ElementsAre("H200 GPU-1, driver 580", "H200 GPU-1, driver 590"));
  EXPECT_THROW((void)read_study_of_all(folder.path() / "none.jsonl"), util::UsageError);
}

// Each mark where it belongs: a panel for a band with sessions against itself, none for controls.
TEST(StudyPlot, DrawsASessionAsBarDotAndRing) {
  Study study;
  for (const double offset : {0.0, 0.5}) {
    BandSession one;
    one.band = kBands[1].name;
    for (int r = -2; r <= 2; ++r) {
      one.log_ratios.push_back(offset + 0.01 * r);
    }
    BandSession made = session_from_json(to_json(one));
    made.usual = Usual{1.01, false};
    study.lines.push_back({1, false, "", {made}});
  }
  BandSession planted = study.lines[0].bands[0];
  planted.band = kBands[3].name;
  study.lines.push_back({3, true, "", {planted}});
  const std::string svg = study_svg(study);
  const auto count = [&svg](const std::string& what) {
    int found = 0;
    for (auto at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_THAT(svg, StartsWith("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 960 182'"));
  EXPECT_EQ(count("stroke-width='2'"), 2) << "a bar a session";
  EXPECT_EQ(count("r='2.2'"), 2);
  EXPECT_EQ(count("fill='none'"), 2) << "the usual method";
  EXPECT_EQ(count("stroke='#c03a2b'"), 1) << "0.5 +- 0.02 leaves out 1";
  EXPECT_THAT(svg, HasSubstr("1 of 2 leave out 1"));
  EXPECT_THAT(svg, HasSubstr(">+100%<")) << "reach of 52% in steps of 1, 2, 5";
  // Half of the panel's 110 is 100%: the second dot lies 27.5 above the middle, 44 + 65.
  EXPECT_THAT(svg, HasSubstr("cy='81.5' r='2.2' fill='#c03a2b'"));
  EXPECT_THAT(svg, Not(HasSubstr(std::string(kBands[3].name))));
  EXPECT_THAT(study_svg({}), EndsWith("</svg>\n"));
}

constexpr Band kMillisecond{"1000", "copy 1 ms", Kind::copy, 1e-3};

TEST(SizeBy, FindsTheRowsThatTakeTheBandsTime) {
  const auto found = size_by([](std::int64_t rows) { return 1e-7 * static_cast<double>(rows); },
                             kMillisecond,
                             {256, 1 << 20});
  ASSERT_TRUE(found);
  EXPECT_NEAR(static_cast<double>(found->rows), 10000, 100);
  EXPECT_DOUBLE_EQ(found->seconds, 1e-7 * static_cast<double>(found->rows));
}

// CI machines stretch a call by a hundred now and then: of 256 rows that shut the bands out.
TEST(SizeBy, AStretchedMeasurementSendsItNowhere) {
  for (const int stretched : {1, 2, 3, 5}) {
    int calls = 0;
    const auto found = size_by(
        [&](std::int64_t rows) {
          return (++calls == stretched ? 1e-4 : 1e-7) * static_cast<double>(rows);
        },
        kMillisecond,
        {256, 1 << 20});
    ASSERT_TRUE(found) << stretched;
    EXPECT_NEAR(static_cast<double>(found->rows), 10000, 3400) << stretched;
  }
}

TEST(SizeBy, WhatIsTooLongOrTooShortIsNone) {
  int calls = 0;
  EXPECT_FALSE(size_by([&](std::int64_t) { return ++calls, 1.0; }, kMillisecond, {256, 1 << 20}));
  EXPECT_EQ(calls, 4) << "one for each search";
  EXPECT_FALSE(size_by([](std::int64_t) { return 1e-6; }, kMillisecond, {256, 1 << 20}));
}

}  // namespace
}  // namespace sweep::calibrate
