#include "report/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Row item(const std::string& model, const std::string& outcome, std::int64_t input) {
  Row made;
  made.model = model;
  made.problem = "level1/3";
  made.outcome = outcome;
  made.input_tokens = input;
  made.cost_usd = 0.5;
  return made;
}

TEST(Metrics, CountsItemsAndTokensByModel) {
  Context context;
  context.run_name = "r";
  context.phase = "running";
  context.ledger_rows = 12;
  const std::string text = metrics_text(
      context, {item("a", "correct", 100), item("a", "queued", 0), item("b", "incorrect", 7)});
  EXPECT_THAT(text, HasSubstr("sweep_run_info{run=\"r\",version=\"\",phase=\"running\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sweep_ledger_rows{run=\"r\"} 12\n"));
  EXPECT_THAT(text, HasSubstr("sweep_items{run=\"r\",model=\"a\",outcome=\"correct\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sweep_items{run=\"r\",model=\"a\",outcome=\"queued\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sweep_tokens{run=\"r\",model=\"a\",direction=\"input\"} 100\n"));
  EXPECT_THAT(text, HasSubstr("sweep_cost_usd{run=\"r\",model=\"b\"} 0.5\n"));
}

TEST(Metrics, ANameCannotForgeALine) {
  Context context;
  context.run_name = "r\"} 1\nsweep_items{run=\"x\xff\\";
  const std::string text = metrics_text(context, {});
  EXPECT_THAT(text, Not(HasSubstr("\nsweep_items{run=\"x")));
  EXPECT_THAT(text, HasSubstr("{run=\"r\\\"} 1\\nsweep_items{run=\\\"x\xef\xbf\xbd\\\\\",version"));
}

}  // namespace
}  // namespace sweep::report
