#include "queue/live.h"

#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace sweep::queue {
namespace {

ViewState waiting() {
  ViewState state;
  state.seconds = 100;
  state.lanes.push_back({"level1/3 m", "waiting: rpm", 112, "v/m/level1/3"});
  state.lanes.push_back({});
  state.lanes.push_back({"level1/4 m", "turn 1 model", {}, "v/m/level1/4"});
  return state;
}

TEST(Live, SaysWhatAnItemWaitsForAndUntilWhen) {
  const util::TempDir dir;
  const auto file = live_file(dir.path());
  {
    Live live(file);
    live.say(waiting(), 1000);
    auto items = read_live(file, 1004);
    ASSERT_EQ(items.size(), 2U);
    EXPECT_EQ(items["v/m/level1/3"].state, "waiting: rpm");
    EXPECT_EQ(items["v/m/level1/3"].next, 8);
    EXPECT_EQ(items["v/m/level1/4"].next, std::nullopt);
    EXPECT_EQ(read_live(file, 5000)["v/m/level1/3"].next, 0);
    ViewState later = waiting();
    later.lanes[0].state = "turn 2 model";
    live.say(later, 1000.5);
    EXPECT_EQ(read_live(file, 1004)["v/m/level1/3"].state, "waiting: rpm");  // once a second
    live.say(later, 1001.5);
    EXPECT_EQ(read_live(file, 1004)["v/m/level1/3"].state, "turn 2 model");
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Live, HostileFilesSayNothing) {
  const util::TempDir dir;
  const auto file = live_file(dir.path());
  for (const char* text : {"",
                           "{",
                           "[1]",
                           "[{\"item\":1,\"state\":\"x\"}]",
                           "[{\"item\":\"x\"}]",
                           "{\"a\":{\"item\":\"x\"}}",
                           "[[[[[[[[[]]]]]]]]]"}) {
    std::ofstream(file, std::ios::trunc) << text;
    EXPECT_TRUE(read_live(file, 0).empty()) << text;
  }
  std::ofstream(file, std::ios::trunc) << "[{\"item\":\"x\",\"state\":\"\\u001b[2J\"}]";
  EXPECT_EQ(read_live(file, 0)["x"].state.find('\x1b'), std::string::npos);
  std::filesystem::remove(file);
  std::filesystem::create_symlink("/etc/passwd", file);
  EXPECT_TRUE(read_live(file, 0).empty());
}

TEST(View, CountsRowsOfANarrowerTerminalAndFitsItsHeight) {
  EXPECT_EQ(rows_taken({0, 79, 80, 81, 200}, 80), 1U + 1 + 1 + 2 + 3);
  std::vector<std::string> lines;
  for (int i = 0; i < 30; ++i) {
    lines.push_back(std::to_string(i));
  }
  EXPECT_EQ(fitted(lines, 30), lines);
  const auto cut = fitted(lines, 10);
  ASSERT_EQ(cut.size(), 10U);
  EXPECT_EQ(cut.front(), "0");
  EXPECT_EQ(cut[8], " .. and 21 more lines");
  EXPECT_EQ(cut.back(), "29");
}

}  // namespace
}  // namespace sweep::queue
