#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;

TEST(Gc, DeletesOnlyWhatNothingNames) {
  const Workspace here;
  here.write("s.toml", kOneItem);
  ASSERT_EQ(here.sweep({"s.toml"}).code, 0);
  const std::string stray = "runs/r/artifacts/" + std::string(64, 'e');
  const std::string half = "runs/r/artifacts/." + std::string(64, 'e') + ".abcdef";
  here.write(stray, "nobody's");
  here.write(half, "half");
  const Outcome dry = here.sweep({"gc", "r", "--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("would delete 2 files, 12 B\n"));
  EXPECT_TRUE(std::filesystem::exists(here.folder() / stray));
  const nlohmann::json done = here.sweep_json({"gc", "r"});
  EXPECT_EQ(done.at("files").size(), 2U);
  EXPECT_FALSE(std::filesystem::exists(here.folder() / stray));
  EXPECT_FALSE(std::filesystem::exists(here.folder() / half));
  EXPECT_EQ(here.sweep({"gc", "r"}).out, "deleted 0 files, 0 B\n");
  const Outcome verified = here.sweep({"verify", "r"});
  EXPECT_EQ(verified.code, 0) << verified.out;
  EXPECT_EQ(here.sweep({"replay", "r", "--no-judge"}).code, 0);
}

TEST(Gc, ADryRunWritesNothing) {
  const Workspace here;
  here.write("s.toml", kOneItem);
  ASSERT_EQ(here.sweep({"s.toml"}).code, 0);
  const std::vector<std::string> mount{"writing", (here.folder() / "runs").string()};
  const Outcome dry = here.sweep_without(mount, {"gc", "r", "--dry-run"});
  if (dry.code == Workspace::kCannot) {
    GTEST_SKIP() << dry.err;
  }
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_EQ(here.sweep_without(mount, {"gc", "r"}).code, 3);
  // What only reads does so there as well.
  for (const char* command : {"status", "verify", "replay", "stop"}) {
    const Outcome read = here.sweep_without(mount, {command, "r"});
    EXPECT_EQ(read.code, 0) << command << ": " << read.err;
  }
  EXPECT_EQ(here.sweep_without(mount, {"reeval", "r", "--dry-run"}).code, 0);
  for (const char* command : {"reeval", "join"}) {
    const Outcome refused = here.sweep_without(mount, {command, "r"});
    EXPECT_EQ(refused.code, 3) << command;
    EXPECT_THAT(refused.err, HasSubstr("E_RUN_WRITE"));
  }
}

TEST(Gc, BadInputIsRefused) {
  const Workspace here;
  EXPECT_EQ(here.sweep({"gc"}).code, 2);
  EXPECT_EQ(here.sweep({"gc", "nothing"}).code, 2);
  EXPECT_EQ(here.sweep({"gc", "--cache", "--older-than", "x"}).code, 2);
}

}  // namespace
}  // namespace sweep::e2e
