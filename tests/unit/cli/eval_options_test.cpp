#include "cli/eval_options.h"

#include "util/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::cli {
namespace {

using ::testing::HasSubstr;

std::string task_refusal(const EvalOptions& options, const std::string& code) {
  try {
    (void)to_task(options);
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "taken";
}

TEST(EvalTask, WhatIsAskedIsParsed) {
  EvalOptions options;
  options.requirements = {"correct", "speedup>=1.2"};
  options.scans = {"TILE=1,2"};
  const EvalTask task = to_task(options);
  EXPECT_EQ(task.requirements.size(), 2U);
  EXPECT_EQ(task.scan.size(), 1U);
}

TEST(EvalTask, ContradictionsAreRefused) {
  const auto combined = [](auto change) {
    EvalOptions options;
    options.scans = {"TILE=1,2"};
    change(options);
    return task_refusal(options, "E_EVAL_COMBINATION");
  };
  EXPECT_THAT(combined([](EvalOptions& o) { o.watch = true; }), HasSubstr("--watch with --scan"));
  EXPECT_THAT(combined([](EvalOptions& o) { o.only = "check"; }), HasSubstr("--only check"));
  EXPECT_THAT(combined([](EvalOptions& o) { o.sass = true; }), HasSubstr("one kernel"));
  EXPECT_THAT(combined([](EvalOptions& o) { o.defines = {"TILE=4"}; }),
              HasSubstr("both set 'TILE'"));
  EXPECT_EQ(combined([](EvalOptions& o) { o.only = "time"; }), "taken");
  EXPECT_EQ(combined([](EvalOptions& o) { o.defines = {"OTHER=4"}; }), "taken");
  EvalOptions dump;
  dump.watch = true;
  dump.dump = "folder";
  EXPECT_THAT(task_refusal(dump, "E_EVAL_COMBINATION"), HasSubstr("--watch with --dump"));
}

TEST(EvalTask, ARequirementThatTheStageNeverDecidesIsRefused) {
  EvalOptions options;
  options.requirements = {"faster"};
  options.only = "check";
  EXPECT_THAT(task_refusal(options, "E_EVAL_REQUIRE"),
              HasSubstr("--require 'faster': --only check does not time the kernel"));
}

}  // namespace
}  // namespace sweep::cli
