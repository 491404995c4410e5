#include "queue/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::queue {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ViewState example_state() {
  ViewState state;
  state.run = "demo";
  state.seconds = 100;
  state.models.push_back({"gpt", 8, 6, 4, {2.0, 0.5}, 1500000, 1.25, true, "ok", {}});
  state.models.push_back({"\x1b[31mevil", 4, 0, 0, {}, 0, 0, false, "rate limited", 138});
  state.outcomes = {{"correct", 4}, {"incorrect", 2}};
  state.lanes.push_back({"level1/3 gpt", "turn 2 submit_kernel", {}});
  state.events = {"one", "two", "three", "four", "five"};
  return state;
}

TEST(View, AnUnknownPriceIsNotZeroDollars) {
  ViewState state = example_state();
  state.models.erase(state.models.begin());
  const std::string text = ::testing::PrintToString(screen(state, 200));
  EXPECT_THAT(text, HasSubstr("price unknown"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("$0")));
}

TEST(View, ShowsCountsModelsLanesAndTheLastEvents) {
  const std::string text = ::testing::PrintToString(screen(example_state(), 200));
  EXPECT_THAT(text, HasSubstr("6/12 done  50%"));
  EXPECT_THAT(text, HasSubstr("at least $1.25"));
  EXPECT_THAT(text, HasSubstr("1.00x"));
  EXPECT_THAT(text, HasSubstr("1.50M"));
  EXPECT_THAT(text, HasSubstr("rate limited, next try in 38 s"));
  EXPECT_THAT(text, HasSubstr("turn 2 submit_kernel"));
  EXPECT_THAT(text, HasSubstr("five"));
  EXPECT_THAT(text, Not(HasSubstr("\"one\"")));
  EXPECT_THAT(text, HasSubstr("Ctrl-C stops cleanly"));
}

TEST(View, CountsDownToTheNextTry) {
  ViewState state = example_state();
  state.lanes[0] = {"level1/3 gpt", "waiting: paused", 108};
  state.seconds = 101;
  const auto text = [&] { return ::testing::PrintToString(screen(state, 200)); };
  EXPECT_THAT(text(), HasSubstr("rate limited, next try in 37 s"));
  EXPECT_THAT(text(), HasSubstr("waiting: paused, next try in 7 s"));
  EXPECT_THAT(plain_line(state), HasSubstr("evil rate limited, next try in 37 s"));
  EXPECT_THAT(plain_line(state), ::testing::Not(HasSubstr("gpt")));
  state.seconds = 110;
  EXPECT_THAT(text(), HasSubstr("rate limited, next try in 28 s"));
  EXPECT_THAT(text(), HasSubstr("waiting: paused, trying now"));
}

TEST(View, NeverPassesControlCharactersAndKeepsToTheWidth) {
  for (const std::size_t width : {20U, 40U, 80U}) {
    for (const std::string& line : screen(example_state(), width)) {
      EXPECT_LE(line.size(), width + 2);
      EXPECT_EQ(line.find('\x1b'), std::string::npos);
    }
  }
  EXPECT_EQ(plain_line(example_state()).find('\x1b'), std::string::npos);
}

TEST(View, TimeLeftIsARangeAfterFiveItems) {
  ViewState state = example_state();
  EXPECT_THAT(time_left(state), HasSubstr(" to "));
  state.models[0].done = 4;
  EXPECT_THAT(time_left(state), IsEmpty());
  state.models[0].done = 8;
  state.models[1].done = 4;
  EXPECT_THAT(time_left(state), IsEmpty());
}

TEST(View, SaysHowStoppingGoes) {
  ViewState state = example_state();
  state.stopping = true;
  EXPECT_THAT(screen(state, 200).back(), HasSubstr("Ctrl-C again kills"));
}

TEST(View, ShowsBudgetsBelowACent) {
  ViewState state = example_state();
  state.budget = 0.0005;
  EXPECT_THAT(plain_line(state), HasSubstr(" of $0.00050"));
}

TEST(View, AnEmptyRunIsDrawnToo) {
  EXPECT_FALSE(screen({}, 80).empty());
}

}  // namespace
}  // namespace sweep::queue
