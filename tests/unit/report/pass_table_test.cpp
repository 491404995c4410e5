#include "report/pass_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sweep::report {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Row attempt_at(const std::string& problem, std::int64_t attempt, bool correct) {
  Row row;
  row.variant = "v";
  row.model = "m";
  row.level = "level1";
  row.problem = problem;
  row.attempt = attempt;
  row.started_at = row.finished_at = "2026-01-31T12:00:00.000Z";
  row.outcome = correct ? "correct" : "incorrect";
  row.has_result = true;
  row.correct = correct;
  row.verdict = correct ? "PASS_FASTER" : "INCORRECT_VALUE";
  return row;
}

// Two problems, two attempts each: one of them solved once, the other never.
std::vector<Row> two_by_two() {
  return {attempt_at("level1/1", 1, true),
          attempt_at("level1/1", 2, false),
          attempt_at("level1/2", 1, false),
          attempt_at("level1/2", 2, false)};
}

Rows pointers_to(const std::vector<Row>& rows) {
  Rows out;
  for (const Row& row : rows) {
    out.push_back(&row);
  }
  return out;
}

// As the CSV has it: point of pass@k of row `i`, or its reason.
std::string value_of(const DataTable& table, std::size_t i) {
  const std::vector<Cell>& row = table.rows().at(i);
  if (const auto* interval = std::get_if<record::Interval>(&row.at(4).value)) {
    return shown(table.columns()[4], row[4]) + (interval->low <= interval->point ? "" : " ?");
  }
  return std::get<Missing>(row.at(4).value).reason;
}

TEST(PassTable, IsTheMeanOverProblems) {
  const std::vector<Row> rows = two_by_two();
  const DataTable table = pass_table(pointers_to(rows));
  ASSERT_EQ(table.rows().size(), 2U);
  EXPECT_THAT(value_of(table, 0), HasSubstr("25%"));  // 1/2 and 0
  EXPECT_THAT(value_of(table, 1), HasSubstr("50%"));  // 1 and 0
}

TEST(PassTable, SaysWhyThereIsNone) {
  std::vector<Row> rows = two_by_two();
  rows.back().outcome = "infra_error";
  EXPECT_THAT(value_of(pass_table(pointers_to(rows)), 1),
              HasSubstr("k = 2 needs 2 judged attempts at every problem"));
  rows = two_by_two();
  rows.back().max_turns = 30;
  EXPECT_THAT(value_of(pass_table(pointers_to(rows)), 1), HasSubstr("unlike configurations"));
  rows = two_by_two();
  for (Row& row : rows) {
    row.base_url = "builtin:fixer";
  }
  EXPECT_THAT(value_of(pass_table(pointers_to(rows)), 1), HasSubstr("a script"));
  EXPECT_THAT(value_of(pass_table(pointers_to(rows)), 0), HasSubstr("25%"));
}

TEST(PassTable, ThePageShowsTheReason) {
  std::vector<Row> rows = two_by_two();
  rows.back().outcome = "infra_error";
  const std::string page = pass_view(pointers_to(rows), "index.html").html();
  EXPECT_THAT(page, HasSubstr("N/A"));
  EXPECT_THAT(page, HasSubstr(">k = 2 needs 2 judged attempts"));
  rows.resize(1);
  EXPECT_THAT(pass_view(pointers_to(rows), "index.html").html(),
              HasSubstr("no problem has a second attempt"));
  rows[0].outcome = "infra_error";
  EXPECT_THAT(pass_view(pointers_to(rows), "index.html").html(), IsEmpty());
}

}  // namespace
}  // namespace sweep::report
