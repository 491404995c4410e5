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
  const EvalTask task = to_task(options);
  EXPECT_EQ(task.requirements.size(), 2U);
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
