#include "cli/baseline_view.h"

#include "cli/metrics_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

evaluate::BaselineTable shown_table() {
  evaluate::RecordedBaseline good;
  good.problem = "level1/3";
  good.name = "cuSPARSE";
  good.library = "cuSPARSE 12.6.3";
  good.math = "f32";
  good.ratio = {0.8, 0.83, 0.86};
  good.shapes = {{"mid", {}, 1e-4, 1.2e-4, {0.8, 0.83, 0.86}}};
  good.conditions.sm_clock_mhz = 1980;
  evaluate::RecordedBaseline bad = good;
  bad.name = "broken\x1b[2J";
  bad.failure = "wrong, not timed: y[0, 0]: expected 1, got 2";
  evaluate::RecordedBaseline seed = good;
  seed.problem = "level1/5";
  seed.name = "seed";
  seed.library = "";
  evaluate::BaselineTable table;
  table.device.name = "NVIDIA H200";
  table.entries = {good, bad, seed};
  return table;
}

TEST(BaselineView, ATableHasTimesConditionsAndWhatWasWrong) {
  const std::string text = baselines_text(shown_table(), {}, Style::plain(), 100, 86400 * 2);
  EXPECT_THAT(text,
              HasSubstr("cuSPARSE (cuSPARSE 12.6.3, f32)   0.830x [0.800, 0.860]   2.0 days"));
  EXPECT_THAT(text, HasSubstr("timed at SM clock 1980 MHz"));
  EXPECT_THAT(text, HasSubstr("wrong, not timed: y[0, 0]"));
  EXPECT_THAT(text, HasSubstr("seed   against itself"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(baselines_text(shown_table(), {"level1/5"}, Style::plain(), 100, 0),
              Not(HasSubstr("level1/3")));
}

TEST(BaselineView, AnEvaluationStandsAgainstEachBaseline) {
  std::vector<evaluate::ShownBaseline> shown(2);
  shown[0].name = "cuSPARSE";
  shown[0].library = "cuSPARSE 12.6.3";
  shown[0].candidate = 0.83;
  shown[0].ratio = 1.31;
  shown[0].shapes = 2;
  shown[1].name = "other";
  shown[1].reason = "recorded for another version of the problem or its seed";
  const std::string text = shown_baselines_text(shown, Style::plain(), 120);
  EXPECT_THAT(text,
              HasSubstr("cuSPARSE (cuSPARSE 12.6.3): 0.830x of it (1.31x of the seed, 2 shapes"));
  EXPECT_THAT(text, HasSubstr("other: recorded for another version"));
  EXPECT_EQ(shown_baselines_text({}, Style::plain(), 120), "");
}

TEST(MetricsView, HasARowForEachShapeAndEachReasonOnce) {
  evaluate::Evaluation e;
  e.time.emplace();
  for (const char* name : {"mid", "full"}) {
    evaluate::ShapeTiming& shape = e.time->shapes.emplace_back();
    shape.shape = name;
    shape.launches = 2;
    shape.seed_launches = 6;
    shape.seed_scratch_bytes = 2048;
    e.metrics.push_back({"bytes_per_second", name, 1.5e12, "B/s", ""});
    e.metrics.push_back({"roofline", name, std::nullopt, "", "not calibrated: none"});
  }
  e.metrics.push_back({"roofline", "extra", 0.43, "", "DRAM read"});
  e.time->conditions.power_watts = 400;
  e.time->conditions.throttle = {"power cap"};
  const std::string text = metrics_text(e, Style::plain(), 100);
  EXPECT_THAT(text, HasSubstr("1.5 TB/s"));
  EXPECT_THAT(text, HasSubstr("2 / 6"));
  EXPECT_THAT(text, HasSubstr("400 W, held back by power cap"));
  const std::string reason = "roofline: not calibrated: none";
  EXPECT_NE(text.find(reason), std::string::npos);
  EXPECT_EQ(text.find(reason, text.find(reason) + 1), std::string::npos);
  e.metrics[1] = {"roofline", "mid", 0.43, "", "DRAM read"};
  EXPECT_THAT(metrics_text(e, Style::plain(), 100), HasSubstr("43% of DRAM read"));
  e.metrics.push_back({"energy_per_call", "full", 0.25, "J", ""});
  e.metrics.push_back({"energy_ratio", "full", 1.5, "", ""});
  EXPECT_THAT(metrics_text(e, Style::plain(), 100),
              HasSubstr("energy of a call at full: 250 mJ, the seed's 1.50 times that"));
  // The cpu device has no ceilings: the note alone.
  e.device = "cpu";
  e.metrics.push_back({"roofline", "mid", std::nullopt, "", "the cpu device has no ceilings"});
  const std::string on_cpu = metrics_text(e, Style::plain(), 100);
  EXPECT_THAT(on_cpu, HasSubstr("the cpu device has no ceilings"));
  EXPECT_THAT(on_cpu, Not(HasSubstr("of measured ceiling")));
  e.metrics.clear();
  EXPECT_EQ(metrics_text(e, Style::plain(), 100), "");
}

}  // namespace
}  // namespace sweep::cli
