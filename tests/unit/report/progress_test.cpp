#include "report/progress.h"

#include <gtest/gtest.h>

namespace sweep::report {
namespace {

std::vector<record::Row> rows(std::initializer_list<std::string_view> kinds, bool interrupted) {
  std::vector<record::Row> out;
  for (const std::string_view kind : kinds) {
    out.emplace_back().kind = kind;
    out.back().data = {{"interrupted", interrupted}};
  }
  return out;
}

TEST(Progress, ARunIsWhatItsLastProcessLeft) {
  namespace kind = record::kind;
  EXPECT_EQ(phase_of({}, true, false), Phase::unknown);
  const auto begun = rows({kind::run_start, kind::item_start}, false);
  EXPECT_EQ(phase_of(begun, true, false), Phase::running);
  EXPECT_EQ(phase_of(begun, false, false), Phase::interrupted);  // killed
  EXPECT_EQ(phase_of(begun, false, true), Phase::ended);
  EXPECT_EQ(phase_of(rows({kind::run_start, kind::run_end}, false), true, false), Phase::ended);
  const auto stopped = rows({kind::run_start, kind::run_end}, true);
  EXPECT_EQ(phase_of(stopped, false, false), Phase::interrupted);
  EXPECT_EQ(phase_of(rows({kind::run_end, kind::run_resume}, true), true, false), Phase::running);
}

Row with(const std::string& outcome) {
  Row item;
  item.outcome = outcome;
  return item;
}

TEST(Progress, CountsThePlannedItems) {
  const std::vector<Row> items{
      with("correct"), with("infra_error"), with("in_progress"), with("queued"), with("queued")};
  EXPECT_EQ(progress_text(items), "2 of 5 items finished, 1 in progress, 2 queued");
  EXPECT_FALSE(all_ended(items));
  EXPECT_EQ(progress_text({with("correct")}), "1 of 1 item finished");
  EXPECT_TRUE(all_ended({with("correct")}));
}

}  // namespace
}  // namespace sweep::report
