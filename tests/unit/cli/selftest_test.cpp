#include "cli/selftest.h"

#include "cli/selftest_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <deque>

namespace sweep::cli {
namespace {

using evaluate::Defence;
using evaluate::Verdict;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Selftest : public ::testing::Test {
 protected:
  Selftest() {
    add("thief", true, Fate::caught, Verdict::incorrect_value, {Defence::oracle});
    add("ghost", true, Fate::harmless, Verdict::pass_inconclusive, {});
    add("liar", true, Fate::passed, Verdict::pass_inconclusive, {});
    add("gpu_only", true, Fate::not_run, std::nullopt, {});
    add("plain", false, Fate::right, Verdict::pass_inconclusive, {});
    specimens_[1].defences = {Defence::wash};
    result_.device = "cpu";
  }

  void add(const std::string& name,
           bool exploit,
           Fate fate,
           std::optional<Verdict> verdict,
           std::vector<Defence> by) {
    Specimen& specimen = specimens_.emplace_back();
    specimen.name = name;
    specimen.exploit = exploit;
    specimen.expected = {Verdict::incorrect_value};
    specimen.defences = {Defence::oracle};
    Finding finding;
    finding.specimen = &specimen;
    finding.fate = fate;
    finding.verdict = verdict;
    finding.caught_by = std::move(by);
    finding.text = "because";
    result_.findings.push_back(std::move(finding));
  }

  [[nodiscard]] SelftestView view() const {
    std::vector<const Specimen*> all;
    for (const Specimen& specimen : specimens_) {
      all.push_back(&specimen);
    }
    return {all, Style::plain(), 0};
  }

  std::deque<Specimen> specimens_;
  SelftestResult result_;
};

TEST_F(Selftest, CountsWhatWasJudged) {
  const Rate hits = hit_rate(result_);
  EXPECT_EQ(hits.count, 2);
  EXPECT_EQ(hits.of, 3);
  EXPECT_NEAR(hits.share, 2.0 / 3, 1e-12);
  EXPECT_LT(hits.low, hits.share);
  EXPECT_GT(hits.high, hits.share);
  EXPECT_EQ(false_positives(result_).count, 0);
  EXPECT_EQ(false_positives(result_).of, 1);
  EXPECT_EQ(hit_rate({}).of, 0);
}

TEST_F(Selftest, JudgesAgainWhatADefenceCaughtOrIsNamedFor) {
  EXPECT_THAT(caught_or_named(result_.findings, Defence::oracle), ElementsAre(&specimens_[0]));
  EXPECT_THAT(caught_or_named(result_.findings, Defence::wash), ElementsAre(&specimens_[1]));
  EXPECT_TRUE(caught_or_named(result_.findings, Defence::poison).empty());
}

TEST_F(Selftest, ShowsWhoCaughtWhat) {
  EXPECT_THAT(view().row(result_.findings[0]),
              ::testing::AllOf(HasSubstr("thief"), HasSubstr("caught"), HasSubstr("oracle")));
  EXPECT_THAT(view().row(result_.findings[2]),
              ::testing::AllOf(HasSubstr("PASSED"), HasSubstr("because")));
  EXPECT_THAT(view().row(result_.findings[3]), HasSubstr("n/a"));
  const std::string totals = view().totals(result_);
  EXPECT_THAT(totals, HasSubstr("2 of 3"));
  EXPECT_THAT(totals, HasSubstr("0 of 1"));
  EXPECT_THAT(totals, HasSubstr("1 not judged"));
  EXPECT_THAT(totals, ::testing::AllOf(HasSubstr("PASSED"), Not(HasSubstr("thief"))));
}

TEST_F(Selftest, SaysWhatOneDefenceAloneCatches) {
  const WithoutIt part{Defence::oracle, {result_.findings[2], result_.findings[0]}};
  EXPECT_THAT(view().without(part),
              ::testing::AllOf(HasSubstr("oracle"), HasSubstr("1 of 2"), HasSubstr("liar")));
}

TEST_F(Selftest, HasAJsonOfTheSame) {
  result_.off_in_turn.push_back({Defence::oracle, {result_.findings[2]}});
  const auto json = to_json(result_);
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_EQ(json.at("kernels").size(), 5U);
  EXPECT_EQ(json.at("kernels")[0].at("caught_by"), nlohmann::json::array({"oracle"}));
  EXPECT_EQ(json.at("kernels")[3].at("fate"), "n/a");
  EXPECT_TRUE(json.at("kernels")[3].at("verdict").is_null());
  EXPECT_EQ(json.at("hit_rate").at("count"), 2);
  EXPECT_EQ(json.at("off_in_turn")[0].at("defence"), "oracle");
}

}  // namespace
}  // namespace sweep::cli
