#include "cli/scan_view.h"

#include "cli/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sweep::cli {
namespace {

using evaluate::Verdict;
using ::testing::HasSubstr;
using ::testing::Not;

evaluate::Evaluation evaluation_with(Verdict verdict, evaluate::Interval ratio) {
  evaluate::Evaluation e;
  e.verdict = verdict;
  e.device = "cuda:0";
  e.file = "k.cu";
  e.check.emplace();
  e.time.emplace();
  e.time->ratio = ratio;
  e.time->shapes = {{"tiny", {}, 1e-5, 1e-5, ratio}};
  return e;
}

ScanReport three_variants() {
  ScanReport report;
  report.file = "k.cu";
  report.parameters = {{"ROWS", {4, 8, 64}}};
  report.in_file = std::vector<std::int64_t>{4};
  report.planned = 3;
  evaluate::Evaluation broken;
  broken.verdict = Verdict::plan_error;
  broken.headline = "k.cu:3:1: block of 2048 threads\n//@ k\n    ^";
  report.variants = {{{8}, evaluation_with(Verdict::pass_faster, {1.2, 1.3, 1.4})},
                     {{4}, evaluation_with(Verdict::pass_faster, {1.15, 1.2, 1.25})},
                     {{64}, broken}};
  report.confirmation = evaluation_with(Verdict::pass_faster, {1.18, 1.22, 1.26});
  return report;
}

TEST(ScanText, TheTableIsSortedAndMarksFailures) {
  const std::string text = scan_text(three_variants(), Style::plain(), 0);
  EXPECT_THAT(text, HasSubstr(" k.cu   3 of 3 variants judged, each timed against the seed\n"));
  EXPECT_THAT(text,
              HasSubstr(" ROWS   speedup  95% interval      verdict\n"
                        "    8     1.30x  1.20 .. 1.40      PASS_FASTER\n"
                        "    4     1.20x  1.15 .. 1.25      PASS_FASTER  as in the file\n"
                        "   64         -  -                 PLAN_ERROR   k.cu:3:1: block of "
                        "2048 threads\n"));
}

TEST(ScanText, TheWinnersSecondSessionIsTheResult) {
  const std::string text = scan_text(three_variants(), Style::plain(), 0);
  EXPECT_THAT(text, HasSubstr("selection effect"));
  EXPECT_THAT(text, HasSubstr("\nROWS=8 again\n"));
  EXPECT_THAT(text, HasSubstr("PASS_FASTER   1.22x [1.18, 1.26]"));
  EXPECT_THAT(text, HasSubstr("1.30x [1.20, 1.40] in the scan, 1.22x [1.18, 1.26] again"));
  EXPECT_THAT(text, HasSubstr("1 of the others is not told apart from it"));
  EXPECT_THAT(text, HasSubstr("//@ const ROWS = 8\n"));
  EXPECT_EQ(scan_line(three_variants(), Style::plain()).substr(0, 29),
            "ROWS=8   PASS_FASTER   1.22x ");
}

TEST(ScanText, OneReplicateOrdersNothing) {
  ScanReport report = three_variants();
  report.variants.front().evaluation.time->replicates = 1;
  EXPECT_THAT(scan_text(report, Style::plain(), 0), HasSubstr("the order of the table is a guess"));
}

TEST(ScanText, OneCandidateIsNoSelection) {
  ScanReport report = three_variants();
  report.variants.erase(report.variants.begin() + 1);
  EXPECT_THAT(scan_text(report, Style::plain(), 0), Not(HasSubstr("selection effect")));
}

TEST(ScanText, AWinnerThatIsWrongTheSecondTimeIsNotRecommended) {
  ScanReport report = three_variants();
  report.confirmation = evaluate::Evaluation{};
  report.confirmation->verdict = Verdict::incorrect_value;
  const std::string text = scan_text(report, Style::plain(), 0);
  EXPECT_THAT(text, HasSubstr("in the scan, INCORRECT_VALUE again"));
  EXPECT_THAT(text, Not(HasSubstr("//@ const")));
  EXPECT_EQ(scan_exit_code(report), kNotCorrect);
}

TEST(ScanText, WithoutACorrectVariantTheFirstFailureIsShown) {
  ScanReport report = three_variants();
  report.variants = {report.variants.back()};
  report.confirmation.reset();
  EXPECT_THAT(scan_text(report, Style::plain(), 0),
              HasSubstr("no variant is correct and timed; the first of the table:"));
  EXPECT_EQ(scan_exit_code(report), kNotCorrect);
  EXPECT_TRUE(to_json(report).at("scan").at("winner").is_null());
}

TEST(ScanText, HostileTextCannotSteerTheTerminal) {
  ScanReport report = three_variants();
  report.variants.back().evaluation.headline = "\x1b[2Jgone";
  EXPECT_THAT(scan_text(report, Style::plain(), 0), Not(HasSubstr("\x1b")));
}

TEST(ScanText, LongReasonsKeepToTheWidth) {
  ScanReport report = three_variants();
  report.variants.back().evaluation.headline = std::string(300, 'x');
  EXPECT_THAT(scan_text(report, Style::plain(), 80), Not(HasSubstr(std::string(60, 'x'))));
}

TEST(ScanExit, FollowsTheConfirmationAndTheHarness) {
  ScanReport report = three_variants();
  EXPECT_EQ(scan_exit_code(report), kDone);
  report.requirements = examine_all({parse_requirement("speedup>=1.2")}, *report.confirmation);
  EXPECT_EQ(scan_exit_code(report), kNotMet);  // 1.2 in the scan, 1.18 again
  report.variants.back().evaluation.verdict = Verdict::infra_lost;
  EXPECT_EQ(scan_exit_code(report), kInfra);
}

TEST(ScanJson, HasVariantsWinnerAndConfirmation) {
  const nlohmann::json json = to_json(three_variants());
  EXPECT_EQ(json.at("schema"), 1);
  const nlohmann::json& scan = json.at("scan");
  EXPECT_EQ(scan.at("winner"), (nlohmann::json{{"ROWS", 8}}));
  EXPECT_EQ(scan.at("in_file"), (nlohmann::json{{"ROWS", 4}}));
  ASSERT_EQ(scan.at("variants").size(), 3U);
  EXPECT_EQ(scan.at("variants").at(2).at("evaluation").at("verdict"), "PLAN_ERROR");
  EXPECT_EQ(scan.at("variants").at(2).at("eligible"), false);
  EXPECT_EQ(scan.at("confirmation").at("verdict"), "PASS_FASTER");
  EXPECT_EQ(scan.at("not_told_apart"), 1);
}

}  // namespace
}  // namespace sweep::cli
