#include "admit/record.h"

#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace sweep::admit {
namespace {

using evaluate::admission::Rule;
using evaluate::admission::State;
using ::testing::HasSubstr;

// On the cpu device, with every rule that it can measure holding.
Admission good(bool cuda = false) {
  Admission made;
  made.problem = "level1/3";
  made.cuda = cuda;
  made.device = cuda ? "NVIDIA H200" : "some cpu";
  made.made = "2026-11-30T16:00:00.000Z";
  made.hashes = {"a", "b", "c", "d"};
  for (const auto& info : evaluate::admission::rules()) {
    evaluate::admission::RuleResult rule;
    rule.rule = info.rule;
    rule.state = !cuda && info.rule == Rule::work ? State::not_measured : State::holds;
    made.rules.push_back(rule);
  }
  return made;
}

TEST(Admission, NeedsEveryRuleThatTheDeviceCanMeasure) {
  EXPECT_TRUE(good().admitted());
  EXPECT_TRUE(good(true).admitted());
  Admission no_floor = good(true);
  no_floor.rules[5].state = State::not_measured;
  EXPECT_FALSE(no_floor.admitted());
  Admission few_draws = good(true);
  few_draws.rules[6].state = State::not_measured;
  EXPECT_FALSE(few_draws.admitted());
  few_draws.cuda = false;
  EXPECT_TRUE(few_draws.admitted());
  Admission fails = good();
  fails.rules[1].fail("x");
  EXPECT_FALSE(fails.admitted());
  Admission part = good();
  part.rules.pop_back();
  EXPECT_FALSE(part.admitted());
  Admission broken = good();
  broken.failure = "no seed";
  EXPECT_FALSE(broken.admitted());
}

TEST(AdmissionRecord, KeepsTheLastRunOfEachKindOfDevice) {
  const util::TempDir folder;
  EXPECT_TRUE(read_record(folder.path()).empty());
  store(folder.path(), good());
  store(folder.path(), good(true));
  Admission again = good();
  again.version = "2";
  store(folder.path(), again);
  const std::vector<Admission> all = read_record(folder.path());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(to_json(all[0]), to_json(again));
  EXPECT_EQ(to_json(all[1]), to_json(good(true)));
}

TEST(AdmissionRecord, IsStaleWhenAnyHashDiffers) {
  const util::TempDir folder;
  const Hashes now = good().hashes;
  EXPECT_EQ(standing(folder.path(), now).status, Status::none);
  store(folder.path(), good());
  EXPECT_EQ(standing(folder.path(), now).status, Status::admitted);
  EXPECT_EQ(standing(folder.path(), now).text, "admitted on cpu");
  for (std::string Hashes::*part :
       {&Hashes::problem, &Hashes::reference, &Hashes::seed, &Hashes::golden}) {
    Hashes other = now;
    other.*part = "changed";
    EXPECT_EQ(standing(folder.path(), other).status, Status::stale);
  }
}

TEST(AdmissionRecord, TheGpuCountsFirst) {
  const util::TempDir folder;
  store(folder.path(), good());
  Admission gpu = good(true);
  gpu.rules[2].fail("x");
  store(folder.path(), gpu);
  const Standing refused = standing(folder.path(), gpu.hashes);
  EXPECT_EQ(refused.status, Status::refused);
  EXPECT_EQ(refused.text, "not admitted on NVIDIA H200: fails precision");
  gpu.hashes.seed = "older";
  store(folder.path(), gpu);
  EXPECT_EQ(standing(folder.path(), good().hashes).text, "admitted on cpu");
}

TEST(AdmissionRecord, WhatIsNoRecordIsSaidAndReplaced) {
  for (const char* text : {"",
                           "[]",
                           "{",
                           R"({"schema": 2, "admissions": []})",
                           R"({"schema": 1})",
                           R"({"schema": 1, "admissions": [{"problem": 3}]})"}) {
    const util::TempDir folder;
    util::write_file_atomic(folder.path() / kRecordFile, text);
    EXPECT_THROW((void)read_record(folder.path()), util::UsageError) << text;
    const Standing found = standing(folder.path(), {});
    EXPECT_EQ(found.status, Status::unreadable) << text;
    EXPECT_THAT(found.text, HasSubstr("sweep problems admit"));
    store(folder.path(), good());
    EXPECT_EQ(read_record(folder.path()).size(), 1U);
  }
}

}  // namespace
}  // namespace sweep::admit
