#include "cli/scan.h"

#include "util/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::cli {
namespace {

using evaluate::Verdict;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string scan_refusal(const std::vector<std::string>& texts) {
  try {
    (void)parse_scan(texts);
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_EVAL_SCAN");
    return error.what();
  }
  return "taken";
}

ScanVariant scanned(std::int64_t value, Verdict verdict, evaluate::Interval ratio) {
  ScanVariant variant;
  variant.values = {value};
  variant.evaluation.verdict = verdict;
  variant.evaluation.check.emplace();
  if (ratio.point > 0) {
    variant.evaluation.time.emplace();
    variant.evaluation.time->ratio = ratio;
    variant.evaluation.time->shapes = {{"tiny", {}, 1e-5, 1e-5, ratio}};
  }
  return variant;
}

std::vector<std::int64_t> first_values(const std::vector<ScanVariant>& variants) {
  std::vector<std::int64_t> out;
  for (const ScanVariant& variant : variants) {
    out.push_back(variant.values.front());
  }
  return out;
}

const evaluate::Source kScanned{"k.cu",
                                "//@ const ROWS = 4, COLS = 2*ROWS\n//@ k<<<ROWS, COLS>>>(x)\n"
                                "__global__ void k(float*) {}\n"};

TEST(ScanParameters, ListsAndRangesAreRead) {
  const auto made = parse_scan({"TILE=64,32", "_s2=-1..1,7"});
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].name, "TILE");
  EXPECT_THAT(made[0].values, ElementsAre(64, 32));
  EXPECT_THAT(made[1].values, ElementsAre(-1, 0, 1, 7));
}

TEST(ScanParameters, MistakesAreNamed) {
  EXPECT_THAT(scan_refusal({"TILE"}), HasSubstr("--scan 'TILE': not NAME=VALUE,VALUE"));
  EXPECT_THAT(scan_refusal({"=1,2"}), HasSubstr("not NAME=VALUE"));
  EXPECT_THAT(scan_refusal({"2X=1"}), HasSubstr("not NAME=VALUE"));
  EXPECT_THAT(scan_refusal({"TILE=1,x"}), HasSubstr("'x' is neither an integer nor a range"));
  EXPECT_THAT(scan_refusal({"TILE="}), HasSubstr("'' is neither"));
  EXPECT_THAT(scan_refusal({"TILE=1,"}), HasSubstr("'' is neither"));
  EXPECT_THAT(scan_refusal({"TILE=4..2"}), HasSubstr("the range '4..2' is empty"));
  EXPECT_THAT(scan_refusal({"TILE=1..2..3"}), HasSubstr("'1..2..3' is neither"));
  EXPECT_THAT(scan_refusal({"TILE=1,2,1"}), HasSubstr("1 is there twice"));
  EXPECT_THAT(scan_refusal({"T=1", "T=2"}), HasSubstr("'T' is scanned twice"));
  EXPECT_THAT(scan_refusal({"T=99999999999999999999"}), HasSubstr("is neither"));
  EXPECT_THAT(scan_refusal({"T=\x1b[2J"}), Not(HasSubstr("\x1b")));
}

TEST(ScanParameters, CombinationsAreLimited) {
  EXPECT_EQ(scan_refusal({"A=1..256"}), "taken");
  EXPECT_THAT(scan_refusal({"A=1..257"}), HasSubstr("more than 256 values"));
  EXPECT_THAT(scan_refusal({"A=-9223372036854775808..9223372036854775807"}),
              HasSubstr("more than 256 values"));
  EXPECT_THAT(scan_refusal({"A=1..17", "B=1..16"}), HasSubstr("272 combinations"));
}

TEST(ScanParameters, AllCombinationsLastFastest) {
  const auto parameters = parse_scan({"A=1,2", "B=5,6,7"});
  EXPECT_THAT(combinations(parameters),
              ElementsAre(ElementsAre(1, 5),
                          ElementsAre(1, 6),
                          ElementsAre(1, 7),
                          ElementsAre(2, 5),
                          ElementsAre(2, 6),
                          ElementsAre(2, 7)));
  EXPECT_EQ(values_text(parameters, {2, 6}), "A=2 B=6");
  EXPECT_EQ(constants_of(parameters, {2, 6}), (Constants{{"A", 2}, {"B", 6}}));
}

TEST(ScanParameters, TheFilesOwnValuesAreFound) {
  EXPECT_EQ(values_in_file(parse_scan({"ROWS=1", "COLS=1"}), kScanned, {}),
            (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(values_in_file(parse_scan({"COLS=1"}), kScanned, {{"ROWS", 3}}),
            (std::vector<std::int64_t>{6}));
  EXPECT_EQ(values_in_file(parse_scan({"COLS=1"}), {"k.cu", "//@ k<<<"}, {}), std::nullopt);
}

TEST(ScanParameters, AConstantThatThePlanLacksIsNamed) {
  try {
    (void)values_in_file(parse_scan({"ROW=1,2"}), kScanned, {});
    FAIL();
  } catch (const util::UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("k.cu: the plan declares no const 'ROW'"));
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'ROWS'? its constants: ROWS COLS"));
  }
}

TEST(ScanRank, FastestFirstAndFailuresLast) {
  std::vector<ScanVariant> variants{scanned(1, Verdict::incorrect_value, {}),
                                    scanned(2, Verdict::infra_judge, {}),
                                    scanned(3, Verdict::unstable, {2, 2.1, 2.2}),
                                    scanned(4, Verdict::pass_slower, {0.5, 0.6, 0.7}),
                                    scanned(5, Verdict::pass_inconclusive, {}),
                                    scanned(6, Verdict::pass_faster, {1.2, 1.3, 1.4}),
                                    scanned(7, Verdict::compile_error, {})};
  rank(variants);
  EXPECT_THAT(first_values(variants), ElementsAre(6, 4, 3, 5, 1, 7, 2));
  EXPECT_TRUE(eligible(variants[0]));
  EXPECT_TRUE(eligible(variants[2]));
  EXPECT_FALSE(eligible(variants[3]));
  EXPECT_FALSE(eligible(variants[4]));
}

TEST(ScanRank, AWrongTimedCallIsNoCandidate) {
  ScanVariant variant = scanned(1, Verdict::incorrect_value, {2, 2, 2});
  variant.evaluation.time->failure.emplace();
  EXPECT_FALSE(eligible(variant));
}

TEST(ScanRank, CountsWhatTheFirstIsNotToldApartFrom) {
  std::vector<ScanVariant> variants{scanned(1, Verdict::pass_faster, {1.2, 1.3, 1.4}),
                                    scanned(2, Verdict::pass_faster, {1.1, 1.2, 1.3}),
                                    scanned(3, Verdict::pass_faster, {1.0, 1.1, 1.19}),
                                    scanned(4, Verdict::incorrect_value, {})};
  EXPECT_EQ(not_told_apart(variants), 1U);
  EXPECT_EQ(not_told_apart({}), 0U);
  EXPECT_EQ(not_told_apart({variants[3], variants[3]}), 0U);
}

}  // namespace
}  // namespace sweep::cli
