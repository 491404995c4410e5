#include "cli/status_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

queue::RunStatus running() {
  queue::RunStatus s;
  s.state = queue::RunStatus::State::running;
  s.holder = "process 12 on here";
  s.rows = 9;
  s.begun = "2026-01-01T00:00:00.000Z";
  s.last = "2026-01-01T00:01:30.000Z";
  s.starts = 2;
  s.items = 5;
  s.ended = 2;
  s.outcomes = {{"correct", 1}, {"timeout", 1}};
  queue::RunStatus::Model model;
  model.name = "gpt\x1b[31m";
  model.items = 5;
  model.ended = 2;
  model.outcomes = s.outcomes;
  model.tokens = 1'200'000;
  model.nano_usd = 1'500'000'000;
  s.models = {model};
  s.open = {{"v/gpt/level1/3",
             "2026-01-01T00:00:10.000Z",
             "request 3",
             "2026-01-01T00:01:20.000Z",
             {},
             {}}};
  return s;
}

// 2026-01-01T00:01:40Z
constexpr double kNow = 1767225700;

TEST(StatusView, SaysWhatIsInWorkAndHowToEndIt) {
  const std::string text =
      status_text(running(), record::RunDir("runs/r"), kNow, Style::plain(), 0);
  EXPECT_THAT(text, HasSubstr("run     runs/r   running: process 12 on here\n"));
  EXPECT_THAT(text, HasSubstr("begun   2026-01-01T00:00:00.000Z, 2 starts; last row 10.0 s ago\n"));
  EXPECT_THAT(text,
              HasSubstr("items   2 of 5 have ended: 1 correct, 1 timeout; 1 begun; 2 not begun\n"));
  EXPECT_THAT(text,
              HasSubstr("in work\n  v/gpt/level1/3  request 3 20.0 s ago; begun 1 min 30 s ago\n"));
  EXPECT_THAT(text, HasSubstr("1.20M  $1.5000  1 timeout\n"));
  EXPECT_THAT(text, HasSubstr("sweep stop runs/r"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(StatusView, NoNameBeginsALine) {
  queue::RunStatus s = running();
  s.open[0].item = s.models[0].name = s.begun = "x\nitems   5 of 5 have ended";
  s.outcomes = s.models[0].outcomes = {{"x\nitems   5 of 5 have ended", 1}};
  const std::string text = status_text(s, record::RunDir("r"), kNow, Style::plain(), 0);
  EXPECT_THAT(text, Not(HasSubstr("\nitems   5 of 5")));
  EXPECT_THAT(text, HasSubstr("\nitems   2 of 5 have ended"));
}

TEST(StatusView, ABrokenChainAndTimesThatAreNoneAreSaid) {
  queue::RunStatus s = running();
  s.state = queue::RunStatus::State::interrupted;
  s.holder.clear();
  s.problem = "ledger.jsonl:7: hash differs";
  s.last = "yesterday\n";
  const std::string text = status_text(s, record::RunDir("r"), kNow, Style::plain(), 0);
  EXPECT_THAT(text, HasSubstr("broken  ledger.jsonl:7: hash differs; figures are of the rows"));
  EXPECT_THAT(text, HasSubstr("last row at an unknown time\n"));
  EXPECT_THAT(text, HasSubstr("begun and not ended\n"));
  EXPECT_THAT(text, HasSubstr("finished work is kept"));
}

}  // namespace
}  // namespace sweep::cli
