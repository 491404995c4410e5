#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

// Says so in its own words: the advice to try --device cpu would be refused.
TEST(Baseline, WithoutAGpuRecordIsRefusedAndShowReadsTheStore) {
  const Workspace here;
  const std::vector<std::string> env{"CUDA_VISIBLE_DEVICES=-1",
                                     "SWEEP_CACHE_DIR=" + (here.folder() / "cache").string()};
  const Outcome record = here.sweep({"baseline", "record", "level1/3"}, env);
  EXPECT_EQ(record.code, 2);
  EXPECT_THAT(record.err, HasSubstr("sweep baseline record: needs a GPU: "));
  const Outcome show = here.sweep({"baseline", "show", "level1/3"}, env);
  EXPECT_EQ(show.code, 2);
  EXPECT_THAT(show.err, HasSubstr("run `sweep baseline record` on a machine with a GPU"));
  for (const Outcome& outcome : {record, show}) {
    EXPECT_THAT(outcome.err, Not(HasSubstr("--device cpu")));
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
