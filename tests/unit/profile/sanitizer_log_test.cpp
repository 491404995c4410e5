#include "profile/sanitizer_log.h"

#include "profile/sanitizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Written by hand after the layout of compute-sanitizer's output.
constexpr std::string_view kMemcheck = R"(========= COMPUTE-SANITIZER
hello from the program
========= Invalid __global__ write of size 4 bytes
=========     at scale(float *, int)+0x90 in unit.cu:7
=========     by thread (96,0,0) in block (3,0,0)
=========     Address 0x7f03ba000180 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f03ba000000 of size 384 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: cuGraphLaunch [0x2f9f13]
========= 
========= Invalid __global__ write of size 4 bytes
=========     at scale(float *, int)+0x90 in unit.cu:7
=========     by thread (97,0,0) in block (3,0,0)
=========     Address 0x7f03ba000184 is out of bounds
========= 
========= ERROR SUMMARY: 2 errors
)";

constexpr std::string_view kRacecheck = R"(========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at sum(int *)+0xb0 in unit.cu:17
=========     and Read access at sum(int *)+0xd0 in unit.cu:19 [248 hazards]
=========     and Write access at sum(int *)+0xe0 in unit.cu:20 [1 hazard]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
)";

TEST(SanitizerLog, ReadsMemcheck) {
  const SanitizerLog log = parse_sanitizer(kMemcheck);
  ASSERT_EQ(log.findings.size(), 1U);
  const Finding& finding = log.findings.front();
  EXPECT_EQ(finding.kind, "Invalid __global__ write of size 4 bytes");
  EXPECT_EQ(finding.kernel, "scale(float *, int)");
  EXPECT_EQ(finding.offset, "+0x90");
  EXPECT_EQ(finding.thread, "(96,0,0)");
  EXPECT_EQ(finding.block, "(3,0,0)");
  EXPECT_EQ(finding.address, "0x7f03ba000180");
  EXPECT_EQ(finding.count, 2);
  EXPECT_THAT(finding.detail, HasSubstr("nearest allocation"));
  EXPECT_EQ(finding.detail.find("Host Frame"), std::string::npos);
  EXPECT_EQ(log.reported, 2);
  EXPECT_THAT(log.notes, IsEmpty());
}

TEST(SanitizerLog, ReadsRaces) {
  const SanitizerLog log = parse_sanitizer(kRacecheck);
  ASSERT_EQ(log.findings.size(), 1U);
  EXPECT_EQ(log.findings[0].kind, "Error: Race reported between Write access");
  EXPECT_EQ(log.findings[0].kernel, "sum(int *)");
  EXPECT_EQ(log.findings[0].offset, "+0xb0");
  EXPECT_EQ(log.findings[0].count, 249);
  EXPECT_EQ(log.reported, 1);
}

TEST(SanitizerLog, ReadsTheOlderOrderOfPlaces) {
  const SanitizerLog log = parse_sanitizer(
      "========= Uninitialized __global__ memory read of size 4 bytes\n"
      "=========     at 0x1a0 in reduce(float const*)\n"
      "=========     by thread (0,1,2) in block (5,0,0)\n"
      "========= ERROR SUMMARY: 1 error\n");
  ASSERT_EQ(log.findings.size(), 1U);
  EXPECT_EQ(log.findings[0].kernel, "reduce(float const*)");
  EXPECT_EQ(log.findings[0].offset, "+0x1a0");
  EXPECT_EQ(log.findings[0].block, "(5,0,0)");
}

TEST(SanitizerLog, ReadsBarrierErrors) {
  const SanitizerLog log = parse_sanitizer(
      "========= Barrier error detected. Divergent thread(s) in block\n"
      "=========     at tile(float *)+0x60\n"
      "=========     by thread (1,0,0) in block (0,0,0)\n"
      "========= ERROR SUMMARY: 1 error\n");
  ASSERT_EQ(log.findings.size(), 1U);
  EXPECT_THAT(log.findings[0].kind, HasSubstr("Barrier error"));
  EXPECT_EQ(log.findings[0].kernel, "tile(float *)");
}

TEST(SanitizerLog, WhatTheToolSaysOfItselfIsNoFinding) {
  const SanitizerLog log = parse_sanitizer(
      "========= COMPUTE-SANITIZER\n"
      "========= Error: Device not supported. Please refer to the docs.\n"
      "========= Target application returned an error\n"
      "========= LEAK SUMMARY: 0 bytes leaked in 0 allocations\n");
  EXPECT_THAT(log.findings, IsEmpty());
  EXPECT_EQ(log.reported, -1);
  EXPECT_THAT(log.notes,
              ElementsAre(HasSubstr("Device not supported"), HasSubstr("Target application")));
}

TEST(SanitizerLog, ACleanRunHasASummaryAndNothingElse) {
  const SanitizerLog log =
      parse_sanitizer("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n");
  EXPECT_THAT(log.findings, IsEmpty());
  EXPECT_EQ(log.reported, 0);
}

TEST(SanitizerLog, BoundsFindingsAndFields) {
  std::string text;
  for (std::size_t i = 0; i <= kMostFindings; ++i) {
    text += "========= Invalid read " + std::to_string(i) + " " + std::string(5000, 'x') +
            "\n=========     at k" + std::string(5000, 'y') + "+0x10\n";
  }
  const SanitizerLog log = parse_sanitizer(text);
  EXPECT_EQ(log.findings.size(), kMostFindings);
  EXPECT_FALSE(log.complete);
  EXPECT_LE(log.findings[0].kind.size(), 512U);
  EXPECT_LE(log.findings[0].kernel.size(), 512U);
}

TEST(SanitizerLog, ControlCharactersDoNotReachATerminal) {
  const SanitizerLog log = parse_sanitizer("========= Invalid \x1b[2J read\n");
  ASSERT_EQ(log.findings.size(), 1U);
  EXPECT_EQ(log.findings[0].kind.find('\x1b'), std::string::npos);
}

class JudgeRun : public testing::Test {
 protected:
  static util::Captured captured(std::string out, int code) {
    util::Captured run;
    run.status.code = code;
    run.out = std::move(out);
    return run;
  }

  static std::string why(const Result<SanitizerLog>& result) {
    const auto* missing = std::get_if<Unavailable>(&result);
    return missing == nullptr ? "" : missing->text();
  }

  Result<Replayed> fine_ = Replayed{1, 0.1, {}};
  Result<Replayed> lost_ = Unavailable{"the replayed kernel left no result", ""};
};

TEST_F(JudgeRun, ASummaryAndAResultAreALog) {
  const auto result = judge_run("memcheck", captured(std::string(kMemcheck), 0), fine_);
  EXPECT_EQ(std::get<SanitizerLog>(result).findings.size(), 1U);
}

TEST_F(JudgeRun, SilenceIsNoCleanResult) {
  EXPECT_THAT(why(judge_run("memcheck", captured("", 0), fine_)), HasSubstr("did not work"));
  EXPECT_THAT(why(judge_run("memcheck", captured("========= ERROR SUMMARY: 0 errors\n", 0), lost_)),
              HasSubstr("left no result"));
}

TEST_F(JudgeRun, FindingsCountAlsoWhereTheProgramDied) {
  const auto result = judge_run("memcheck", captured(std::string(kMemcheck), 1), lost_);
  EXPECT_EQ(std::get<SanitizerLog>(result).findings.size(), 1U);
}

TEST_F(JudgeRun, AnUnsupportedDeviceIsSaidWithItsCure) {
  const std::string said =
      why(judge_run("memcheck", captured("========= Error: Device not supported.\n", 1), lost_));
  EXPECT_THAT(said, HasSubstr("Device not supported"));
  EXPECT_THAT(said, HasSubstr("virtual machine"));
}

TEST_F(JudgeRun, AHangIsSaid) {
  util::Captured run = captured(std::string(kMemcheck), -1);
  run.status.timed_out = true;
  EXPECT_THAT(why(judge_run("racecheck", run, lost_)), HasSubstr("racecheck"));
}

TEST_F(JudgeRun, AFaultWithoutAFindingIsANote) {
  Replayed fault;
  fault.fault = "CUDA error 719";
  const auto result =
      judge_run("synccheck", captured("========= ERROR SUMMARY: 0 errors\n", 0), fault);
  EXPECT_THAT(std::get<SanitizerLog>(result).notes, ElementsAre(HasSubstr("CUDA error 719")));
}

}  // namespace
}  // namespace sweep::profile
