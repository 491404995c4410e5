#include "report/pages.h"

#include "report/cite.h"
#include "report/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include <fmt/format.h>

namespace sweep::report {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

Row row_for(const std::string& model, const std::string& problem, const std::string& verdict) {
  Row row;
  row.variant = "v";
  row.model = model;
  row.level = problem.substr(0, problem.find('/'));
  row.problem = problem;
  row.title = "Title of " + problem;
  row.page = "t/v/" + model + "/x.html";
  row.outcome = verdict.starts_with("PASS") ? "correct" : "rejected";
  row.finished_at = "2026-01-31T12:00:00.000Z";
  row.has_result = true;
  row.correct = row.outcome == "correct";
  row.verdict = verdict;
  row.reproduce = "sweep eval kernel.cu --device cpu";
  row.kernel_sha256 = std::string(64, 'a');
  if (row.correct) {
    row.speedup = record::Interval{1.5, 1.4, 1.6};
    row.runtime_us = 10;
    row.seed_us = 15;
    record::ShapeTiming timing;
    timing.shape = "n=4";
    timing.seed_us = 15;
    timing.candidate_us = 10;
    timing.share_of_floor = 0.5;
    timing.speedup = row.speedup;
    row.timings = {timing};
  }
  return row;
}

std::map<std::string, std::string> pages_of(const std::vector<Row>& rows) {
  Context context;
  context.run_name = "run";
  context.ledger_head = std::string(64, '0');
  context.scope = scope_text(rows);
  std::map<std::string, std::string> out;
  for (const PagePlan& plan :
       page_plans(context, rows, [](const Row& row) { return "// kernel of " + row.model; })) {
    out[plan.page] = document(context, plan);
  }
  return out;
}

std::vector<Row> few_rows() {
  return {row_for("fast", "level1/3", "PASS_FASTER"),
          row_for("slow", "level1/3", "PASS_SLOWER"),
          row_for("cheat", "sci/heat", "REJECTED_STATE")};
}

TEST(Pages, ThereIsOneForEachGroupAndForTheWholeRun) {
  const auto pages = pages_of(few_rows());
  for (const char* name : {"index.html",
                           "items.html",
                           "rejected.html",
                           "environment.html",
                           "methods.html",
                           "v/v.html",
                           "m/fast.html",
                           "m/slow.html",
                           "m/cheat.html",
                           "l/level1.html",
                           "l/sci.html",
                           "p/level1%2F3.html",
                           "p/sci%2Fheat.html"}) {
    EXPECT_THAT(pages, Contains(Key(name)));
  }
  EXPECT_EQ(pages.size(), 13U);
}

TEST(Pages, EveryHeadSaysWhatTheNumbersAreOver) {
  for (const auto& [name, page] : pages_of(few_rows())) {
    EXPECT_THAT(page,
                AllOf(HasSubstr("1.0x is the problem"),
                      HasSubstr("Over 2 problems, 3 models, 1 attempt each."),
                      HasSubstr("head 000000000000.")))
        << name;
  }
}

TEST(Pages, TheRunsPageLeadsToItsParts) {
  const std::string page = pages_of(few_rows())["index.html"];
  for (const char* part : {"part-outcomes", "part-models", "pass", "part-problems", "figures"}) {
    EXPECT_THAT(page, HasSubstr(fmt::format("href=\"#{}\"", part)));
    EXPECT_THAT(page, HasSubstr(fmt::format("id=\"{}\"", part)));
  }
}

TEST(Pages, EveryLinkOfAPageLeadsToAPageOrATrajectory) {
  const auto pages = pages_of(few_rows());
  for (const auto& [name, page] : pages) {
    for (std::size_t at = page.find("href=\""); at != std::string::npos;
         at = page.find("href=\"", at + 1)) {
      std::string link = page.substr(at + 6, page.find('"', at + 6) - at - 6);
      link = link.substr(0, link.find('#'));
      while (link.starts_with("../")) {
        link = link.substr(3);
      }
      for (std::size_t percent = link.find("%25"); percent != std::string::npos;
           percent = link.find("%25", percent + 1)) {
        link.replace(percent, 3, "%");
      }
      // build() writes report.css, cite.html and t/ beside these.
      EXPECT_TRUE(link.empty() || link == "report.css" || link == "data:," || link == kCitePage ||
                  link.starts_with("t/v/") || pages.contains(link))
          << name << " has " << link;
    }
  }
}

TEST(Pages, AProblemHasItsKernelsWithTheirCodeTheFloorAndTheSeed) {
  const std::string page = pages_of(few_rows())["p/level1%2F3.html"];
  EXPECT_THAT(page, HasSubstr("// kernel of fast"));
  EXPECT_LT(page.find("// kernel of fast"), page.find("// kernel of slow"));
  EXPECT_THAT(page, HasSubstr(">5.00 us<"));  // the floor
  EXPECT_THAT(page, HasSubstr(">15.0 us<"));  // the seed
  EXPECT_THAT(page, HasSubstr("10.0 us, 1.50x"));
  EXPECT_THAT(page, HasSubstr("sweep eval v/fast/x_kernel.cu --device cpu"));
}

TEST(Pages, RejectedKernelsStandWithTheirEvidence) {
  std::vector<Row> rows = few_rows();
  rows.push_back(row_for("narrow", "level1/3", "INCORRECT_GENERALISATION"));
  rows.back().outcome = "incorrect";
  rows.back().inner_verdict = "INCORRECT_UNWRITTEN";
  const std::string page = pages_of(rows)["rejected.html"];
  EXPECT_THAT(page,
              AllOf(HasSubstr("a rule was broken"),
                    HasSubstr("right on the published shapes only"),
                    HasSubstr("INCORRECT_UNWRITTEN"),
                    HasSubstr("// kernel of cheat"),
                    HasSubstr("t/v/cheat/x.html#evidence"),
                    Not(HasSubstr("// kernel of fast"))));
}

TEST(Pages, TheEnvironmentNamesEachValueAndNoSecret) {
  std::vector<Row> rows = few_rows();
  rows[0].gpu = "NVIDIA H200";
  rows[1].gpu = "NVIDIA H100";
  rows[0].base_url = "https://user:secret@host/v1?key=secret";
  const std::string page = pages_of(rows)["environment.html"];
  EXPECT_THAT(page,
              AllOf(HasSubstr("NVIDIA H200"),
                    HasSubstr("NVIDIA H100"),
                    HasSubstr("https://host/v1<"),
                    Not(HasSubstr("secret"))));
}

TEST(Pages, ALongListIsCutAndSaysSo) {
  std::vector<Row> rows(2500, row_for("m", "level1/3", "PASS_FASTER"));
  const auto pages = pages_of(rows);
  EXPECT_THAT(pages.at("items.html"), HasSubstr("The first 2000 of 2500 items."));
  EXPECT_LT(pages.at("index.html").size(), 100000U);
}

TEST(Pages, HostileNamesBringNoElement) {
  Row row = row_for("<img src=x>", "<u>/\"><script>1</script>", "REJECTED_STATE");
  row.variant = row.title = row.domain = row.gpu = row.result_reason = row.inner_verdict =
      "</td><script>2</script>\u202E";
  for (const auto& [name, page] : pages_of({row})) {
    EXPECT_THAT(page,
                AllOf(Not(HasSubstr("<script>")), Not(HasSubstr("<img")), Not(HasSubstr("<u>"))))
        << name;
    EXPECT_THAT(page, Not(HasSubstr("\u202E"))) << name;
  }
}

TEST(Words, AnEndpointsAddressIsShownWithoutSecrets) {
  EXPECT_EQ(without_secrets("https://a:b@h:8/p?k=v#f"), "https://h:8/p");
  EXPECT_EQ(without_secrets("https://h/p@q"), "https://h/p@q");
  EXPECT_EQ(without_secrets("builtin:demo"), "builtin:demo");
  EXPECT_EQ(without_secrets("a@b?c"), "b");
  EXPECT_EQ(without_secrets(""), "");
}

}  // namespace
}  // namespace sweep::report
