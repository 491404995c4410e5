#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::e2e {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// The built-in model needs three requests, of some 4,000 tokens at a dollar a thousand; each may
// take some 4,000 more for its answer. 10 is enough for the first and not for the second.
std::string config(const std::string& budget) {
  return R"([run]
name = "r"
problems = ["level1/3"]
device = "cpu"
num_correct_trials = 1
submit_num_correct_trials = 1
)" + budget +
         R"(
[report]
serve = false
[[models]]
name = "demo-fixer"
api_kind = "openai_chat"
base_url = "builtin:demo"
price = { input = 1000, output = 1000 }
)";
}

TEST(Budget, IsCheckedBeforeEachRequestAndARaisedOneGoesOn) {
  const Workspace here;
  here.write("s.toml", config("budget_usd = 10"));
  const Outcome first = here.sweep({"s.toml"});
  EXPECT_EQ(first.code, 3) << first.err;
  EXPECT_THAT(first.err, HasSubstr("no further request is made"));
  EXPECT_THAT(first.out, HasSubstr("in_progress"));
  EXPECT_THAT(first.out,
              ContainsRegex("the budget of .10 would be exceeded \\(.[1-9][.0-9]* spent"));
  EXPECT_THAT(first.out, HasSubstr("raise it to go on"));
  EXPECT_EQ(here.rows("runs/r", "request"), 1);
  // What was spent is spent: the same budget asks for nothing.
  EXPECT_EQ(here.sweep({"s.toml"}).code, 3);
  EXPECT_EQ(here.rows("runs/r", "request"), 1);
  here.write("s.toml", config("budget_usd = 1000"));
  const Outcome last = here.sweep({"s.toml"});
  EXPECT_EQ(last.code, 0) << last.out << last.err;
  EXPECT_EQ(here.rows("runs/r", "request"), 3);
  EXPECT_EQ(here.sweep({"verify", "r"}).code, 0);
}

TEST(Budget, ADryRunSaysThatItMayNotBeEnough) {
  const Workspace here;
  here.write("s.toml", config("budget_usd = 0.0005\nbudget_tokens = 8000"));
  const Outcome dry = here.sweep({"s.toml", "--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("budget $0.00050: less than the upper bound $"));
  EXPECT_THAT(dry.out, HasSubstr("budget 8.00k tokens: less than the upper bound "));
  EXPECT_THAT(dry.out, HasSubstr(", the sweep may stop early\n"));
  EXPECT_TRUE(here.sweep_json({"s.toml", "--dry-run"}).at("budget_may_stop").get<bool>());
  here.write("s.toml", config("budget_usd = 1000000"));
  EXPECT_FALSE(here.sweep_json({"s.toml", "--dry-run"}).at("budget_may_stop").get<bool>());
  EXPECT_THAT(here.sweep({"s.toml", "--dry-run"}).out, Not(HasSubstr("stop early")));
}

TEST(Budget, OneThatHoldsNoRequestStartsNothing) {
  const Workspace here;
  here.write("s.toml", config("budget_usd = 0.5"));
  EXPECT_EQ(here.sweep({"s.toml"}).code, 3);
  EXPECT_EQ(here.rows("runs/r", "request"), 0);
}

TEST(Budget, MayBeOneOfTokens) {
  const Workspace here;
  here.write("s.toml", config("budget_tokens = 10000"));
  const Outcome first = here.sweep({"s.toml"});
  EXPECT_EQ(first.code, 3) << first.err;
  EXPECT_THAT(first.out, HasSubstr("tokens would be exceeded"));
  EXPECT_EQ(here.rows("runs/r", "request"), 1);
  here.write("s.toml", config("budget_tokens = 1000000"));
  EXPECT_EQ(here.sweep({"s.toml"}).code, 0);
  EXPECT_EQ(here.rows("runs/r", "request"), 3);
}

}  // namespace
}  // namespace sweep::e2e
