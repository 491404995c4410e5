#include "report/words.h"

#include "report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

record::Trajectory judged(const std::string& verdict, double speedup) {
  record::Trajectory t;
  t.model_name = "m";
  t.level = "1";
  t.problem_id = "3";
  t.problem_name = "folder_name";
  t.problem_title = "Title of the problem";
  t.outcome = "correct";
  t.final_result.emplace();
  t.final_result->verdict = verdict;
  t.final_result->speedup = record::Interval{speedup, speedup, speedup};
  return t;
}

// The first page of a run of these.
std::string index(const std::vector<record::Trajectory>& all) {
  std::vector<Row> rows;
  for (const record::Trajectory& t : all) {
    rows.push_back(row_of(t, "t/a.html"));
  }
  return run_page({}, rows);
}

// Every page that shows the item.
std::vector<std::string> pages(const Context& context, const record::Trajectory& t) {
  const Row row = row_of(t, "t/a.html");
  return {
      run_page(context, {row}), model_page(context, "m", {row}), trajectory_page(context, row, t)};
}

TEST(Words, OnlyPassFasterIsGreen) {
  for (const std::string& page : pages({}, judged("PASS_FASTER", 2.8))) {
    EXPECT_THAT(page, HasSubstr("badge faster"));
  }
  for (const char* verdict :
       {"PASS_INCONCLUSIVE", "PASS_EQUIVALENT", "PASS_SLOWER", "UNSTABLE", "", "faster"}) {
    for (const std::string& page : pages({}, judged(verdict, 2.8))) {
      EXPECT_THAT(page, Not(HasSubstr("badge faster"))) << verdict;
      EXPECT_THAT(page, Not(HasSubstr("tone faster"))) << verdict;
    }
  }
  Row forged;
  forged.outcome = "faster";
  EXPECT_EQ(tone(forged), "");
}

TEST(Words, AnIncorrectKernelHasItsOutcomesColourWhateverItsVerdict) {
  record::Trajectory item = judged("PASS_FASTER", 2.8);
  item.outcome = "incorrect";
  EXPECT_EQ(tone(row_of(item, "")), "incorrect");
  EXPECT_EQ(standing(row_of(item, "")), "incorrect");
}

TEST(Words, TheIndexHasTheRatioWithTheWordOfTheVerdict) {
  EXPECT_THAT(index({judged("PASS_INCONCLUSIVE", 2.8)}), HasSubstr(">2.80x inconclusive<"));
  EXPECT_THAT(index({judged("PASS_SLOWER", 0.0148)}), HasSubstr(">0.0148x slower<"));
}

TEST(Words, TheMeanSaysOfHowManyItemsItIs) {
  const record::Trajectory open = judged("PASS_INCONCLUSIVE", 2);
  record::Trajectory wrong = judged("INCORRECT_VALUE", 2);
  wrong.outcome = "incorrect";
  const std::string page = index({open, wrong});
  EXPECT_THAT(page, HasSubstr("of 1 correct and timed of 2 judged; none is PASS_FASTER"));
  EXPECT_THAT(page, HasSubstr("tone inconclusive\">2.00x"));
  EXPECT_THAT(index({open, judged("PASS_FASTER", 2)}),
              HasSubstr("of 2 correct and timed of 2 judged; 1 of them PASS_FASTER"));
}

// Words only, or an endpoint that failed: nothing ran, so nothing had a fault while it did.
TEST(Words, AnErrorWithoutASubmissionIsNoKernel) {
  record::Trajectory item = judged("", 0);
  item.outcome = "error";
  item.finished_at = "2026-01-31T12:00:00.000Z";
  for (const std::string& page : pages({}, item)) {
    EXPECT_THAT(page, HasSubstr(">fault while running<"));
  }
  item.final_result.reset();
  EXPECT_EQ(tone(row_of(item, "")), "");
  for (const std::string& page : pages({}, item)) {
    EXPECT_THAT(page, HasSubstr(">no kernel<"));
    EXPECT_THAT(page, Not(HasSubstr("fault while running<")));
    EXPECT_THAT(page, Not(HasSubstr("badge error")));
  }
}

TEST(Words, AttemptsOfAProblemAreToldApart) {
  record::Trajectory first = judged("", 0);
  first.outcome = "incorrect";
  first.finished_at = "2026-01-31T12:00:00.000Z";
  record::Trajectory second = first;
  second.attempt = 2;
  const std::string page = index({first, second});
  EXPECT_THAT(page, HasSubstr(">level1/3</a>"));
  EXPECT_THAT(page, HasSubstr(">level1/3 #2</a>"));
  EXPECT_THAT(model_page({}, "m", {row_of(second, "t/a.html")}), HasSubstr(">level1/3 #2</a>"));
}

TEST(Words, OutcomesAreWordsForPeople) {
  record::Trajectory item = judged("", 0);
  item.outcome = "infra_error";
  item.finished_at = "2026-01-31T12:00:00.000Z";
  const std::string page = index({item});
  EXPECT_THAT(page, HasSubstr(">lost to infrastructure<"));
  EXPECT_THAT(page, Not(HasSubstr(">infra_error<")));
  EXPECT_EQ(outcome_words("in_progress"), "in progress");
  EXPECT_EQ(outcome_words("a new one"), "a new one");
}

TEST(Page, OfTheCpuDeviceCarriesTheBanner) {
  const record::Trajectory item = judged("PASS_INCONCLUSIVE", 2);
  Context cpu;
  cpu.on_cpu = true;
  Context gpu;
  for (const std::string& page : pages(gpu, item)) {
    EXPECT_THAT(page, Not(HasSubstr("class=\"banner\"")));
  }
  std::vector<std::string> all = pages(cpu, item);
  all.push_back(methods_page(cpu));
  for (const std::string& page : all) {
    EXPECT_THAT(page, HasSubstr("Times of the cpu device are no GPU times"));
  }
  gpu.unsealed = 1;
  EXPECT_THAT(methods_page(gpu), HasSubstr("1 result is of kernels that ran unsealed"));
}

TEST(Page, OfATrajectoryHasTheProblemsTitle) {
  record::Trajectory item = judged("PASS_FASTER", 2);
  EXPECT_THAT(trajectory_page({}, row_of(item, "t/a.html"), item),
              HasSubstr("<h1>level1/3 Title of the problem"));
  item.problem_title.clear();
  EXPECT_THAT(trajectory_page({}, row_of(item, "t/a.html"), item),
              HasSubstr("<h1>level1/3 folder_name"));
}

TEST(Page, OfTheMethodsNamesItselfOnce) {
  const std::string page = methods_page({});
  const std::string link = "href=\"methods.html\"";
  const std::size_t first = page.find(link);
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(page.find(link, first + 1), std::string::npos);
}

TEST(Page, SaysWhereTheRunAndItsLedgerStand) {
  Context context;
  context.phase = "interrupted";
  context.progress = "3 of 8 items finished";
  context.ledger_rows = 45;
  context.as_of = "2026-01-31T12:00:01.250Z";
  context.ledger_head = std::string(64, 'a');
  const std::string page = methods_page(context);
  EXPECT_THAT(page, HasSubstr("badge interrupted"));
  EXPECT_THAT(page, HasSubstr("3 of 8 items finished."));
  EXPECT_THAT(page, HasSubstr("Last ledger row: 2026-01-31 12:00:01 UTC."));
  EXPECT_THAT(page, HasSubstr("edger of 45 rows, head aaaaaaaaaaaa."));
  EXPECT_THAT(page, HasSubstr("head " + std::string(64, 'a')));
  EXPECT_THAT(page, Not(HasSubstr("id=\"live\"")));
  context.as_of = "odd";
  EXPECT_THAT(methods_page(context), HasSubstr("Last ledger row: odd"));
  context.refresh_seconds = 1;
  EXPECT_THAT(methods_page(context), HasSubstr("id=\"live\""));
}

}  // namespace
}  // namespace sweep::report
