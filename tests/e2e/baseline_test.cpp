#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;

TEST(Baseline, TheCpuDeviceHasNoLibraryAndSaysSo) {
  const Workspace here;
  for (const char* action : {"record", "show"}) {
    const Outcome outcome = here.sweep({"baseline", action, "level1/3", "--device", "cpu"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(
        outcome.err,
        HasSubstr("the cpu device has no vendor libraries; give a GPU with --device cuda:N"));
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(Baseline, BadInputIsNamed) {
  const Workspace here;
  EXPECT_EQ(here.sweep({"baseline"}).code, 2);
  EXPECT_EQ(here.sweep({"baseline", "rekord"}).code, 2);
  EXPECT_THAT(here.sweep({"baseline", "record", "--replicates", "1"}).err,
              HasSubstr("--replicates"));
  EXPECT_THAT(here.sweep({"baseline", "--help"}).out, HasSubstr("record or show"));
  EXPECT_THAT(here.sweep({"--help"}).out, HasSubstr("sweep baseline"));
}

}  // namespace
}  // namespace sweep::e2e
