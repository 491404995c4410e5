// The tools that look at a kernel: with reports in the place of NVIDIA's tools.
#include "../../support/text_file.h"
#include "agent/tool_look.h"
#include "profile/ncu_page.h"
#include "profile/previous.h"
#include "profile/sanitizer_log.h"
#include "tool_stub.h"
#include "util/error.h"

#include <gmock/gmock.h>

namespace sweep::agent {
namespace {

using sweep::test::expect_text;
using test::checked;
using test::on_gpu;
using test::StubEvaluator;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kKernel = "//@ gemm<<<1, 128>>>(a, b, c)\n__global__ void gemm() {}\n";

void set(profile::KernelProfile& kernel, const std::string& key, double value) {
  for (profile::Metric& metric : kernel.metrics) {
    if (metric.key == key) {
      metric.value = value;
      metric.reason.clear();
    }
  }
}

// Figures of src/agent/prompts/hub/wgmma.cu on an H200
// (docs/measurements/2026-11-30-evaluation-h200.md); what stands not there is left out.
profile::NcuReport gemm_report(double seconds = 149.12e-6) {
  profile::KernelProfile kernel;
  kernel.kernel = "gemm(CUtensorMap_st, CUtensorMap_st, float *, int, int, int)";
  kernel.grid = "(64, 1, 1)";
  kernel.block = "(384, 1, 1)";
  for (const std::string& key : profile::metric_keys()) {
    kernel.metrics.push_back({key, std::nullopt, "not recorded"});
  }
  set(kernel, "duration_seconds", seconds);
  set(kernel, "sm_percent", 49.9);
  set(kernel, "dram_percent", 13.2);
  set(kernel, "occupancy_percent", 12.9);
  set(kernel, "occupancy_limit_percent", 18.8);
  set(kernel, "registers", 168);
  kernel.stalls = {{"barrier", 30}, {"lg_throttle", 24}, {"wait", 18}};
  kernel.limits = {"shared_mem"};
  profile::NcuReport report;
  report.tool = "/opt/nvidia/nsight-compute/2025.3.1/ncu";
  report.shape = "large";
  report.launches = 1;
  report.kernels = {kernel};
  report.report = "report of ncu";
  return report;
}

profile::SassReport sass_report() {
  profile::SassReport report;
  report.arch = "sm_90a";
  report.tool = "/usr/local/cuda/bin/nvdisasm";
  report.text = "listing";
  profile::KernelSass kernel{"gemm", 168, 0, 196'608, 0, {}};
  kernel.code.symbol = "gemm";
  kernel.code.instructions = 557;
  kernel.code.mix = {{profile::SassClass::wgmma, 4},
                     {profile::SassClass::tma, 2},
                     {profile::SassClass::integer, 210},
                     {profile::SassClass::global, 64}};
  report.kernels.push_back(kernel);
  kernel = {"tail<float, 8>", 255, 96, 0, 512, {}};
  kernel.code.instructions = 90;
  kernel.code.mix = {{profile::SassClass::local, 12}, {profile::SassClass::fp64, 3}};
  report.kernels.push_back(kernel);
  return report;
}

profile::SanitizerReport race() {
  profile::SanitizerReport report;
  report.shape = "small";
  report.checkers.push_back(
      {"memcheck", profile::parse_sanitizer("========= ERROR SUMMARY: 0 errors\n"), ""});
  report.checkers.push_back(
      {"racecheck",
       profile::parse_sanitizer(
           "========= Error: Race reported between Write access at tile(float *)+0x90\n"
           "=========     and Read access at tile(float *)+0x120 [32 hazards]\n"
           "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n"),
       ""});
  report.checkers.push_back(
      {"synccheck",
       profile::Unavailable{"synccheck killed at the deadline of 60 s",
                            "a kernel whose blocks wait for each other may hang under it"},
       ""});
  return report;
}

TEST(Look, ProfileSaysWhatBoundsAndKeepsTheReport) {
  StubEvaluator judge;
  judge.evaluation = checked();
  judge.report.profile = gemm_report();
  const ToolOutcome out = look("profile_kernel", kKernel, on_gpu(), judge);
  EXPECT_TRUE(out.success);
  EXPECT_FALSE(out.infra);
  expect_text("tools/profile_ok.txt", out.text);
  EXPECT_EQ(out.metadata.at("profile").at("bottleneck"), "latency");
  EXPECT_EQ(out.metadata.at("profile").at("top_stall"), "barrier");
  ASSERT_EQ(out.attachments.size(), 1U);
  EXPECT_EQ(out.attachments[0].name, "profile.ncu-rep");
  ASSERT_EQ(judge.requests.size(), 1U);
  EXPECT_EQ(judge.requests[0].only, evaluate::Stage::check);
  EXPECT_FALSE(judge.requests[0].device_printf);
  EXPECT_TRUE(judge.requests[0].shapes.empty());
  ASSERT_EQ(judge.wanted.size(), 1U);
  EXPECT_TRUE(judge.wanted[0].profile);
  EXPECT_FALSE(judge.wanted[0].compare);
  EXPECT_FALSE(judge.wanted[0].sass || judge.wanted[0].sanitize || judge.wanted[0].dump);
}

// Sectors a request of configs/demo/kernels/heat_wide.cu on an H200
// (docs/measurements/2026-11-30-judging-h200.md) were 16.6; the other numbers are made up for the
// rule.
TEST(Look, SectorsARequestAreHeldAgainstWhatTheBytesNeed) {
  const auto text_with = [](std::optional<double> asked, std::optional<double> needed, double ld) {
    StubEvaluator judge;
    judge.evaluation = checked();
    profile::NcuReport report = gemm_report();
    profile::KernelProfile& kernel = report.kernels[0];
    set(kernel, "load_sectors_per_request", ld);
    if (asked && needed) {
      set(kernel, "global_sectors", *asked);
      set(kernel, "global_sectors_ideal", *needed);
    }
    judge.report.profile = report;
    return look("profile_kernel", kKernel, on_gpu(), judge).text;
  };
  EXPECT_THAT(text_with({}, {}, 16.6), Not(HasSubstr("neighbouring addresses")));
  EXPECT_THAT(text_with({}, {}, 32), HasSubstr("global accesses are not coalesced"));
  EXPECT_THAT(text_with(1000, 990, 32), Not(HasSubstr("neighbouring addresses")));
  EXPECT_THAT(text_with(4000, 1000, 16),
              HasSubstr("global accesses touch 4.0 times the sectors that their bytes need"));
}

// The comparison is with the same conversation's last profile, also where that one was replayed.
TEST(Look, AProfileIsComparedWithTheLastOneOfTheConversation) {
  StubEvaluator judge;
  judge.evaluation = checked();
  judge.report.profile = gemm_report();
  ToolSettings settings = on_gpu();
  const ToolOutcome first = look("profile_kernel", kKernel, settings, judge);
  EXPECT_THAT(first.text, Not(HasSubstr("against the last profile")));
  learn(outcome_from_text(to_text(first)), settings);
  judge.report.profile = gemm_report(100e-6);
  const ToolOutcome second = look("profile_kernel", kKernel, settings, judge);
  expect_text("tools/profile_compared.txt", second.text);
  // A failed one changes nothing.
  judge.report.profile = profile::Unavailable{"ncu was not found", "install it"};
  learn(look("profile_kernel", kKernel, settings, judge), settings);
  EXPECT_DOUBLE_EQ(settings.last_profile.at("total_seconds").get<double>(), 149.12e-6);
}

TEST(Look, ANewNameStillComparesTheTotal) {
  StubEvaluator judge;
  judge.evaluation = checked();
  judge.report.profile = gemm_report();
  ToolSettings settings = on_gpu();
  learn(look("profile_kernel", kKernel, settings, judge), settings);
  profile::NcuReport renamed = gemm_report(74.56e-6);
  renamed.kernels[0].kernel = "other()";
  judge.report.profile = renamed;
  EXPECT_THAT(look("profile_kernel", kKernel, settings, judge).text,
              HasSubstr("74.6 us in 1 profiled launch (-50.0% against the last profile)"));
}

TEST(Look, WhatIsMissingIsOneLineAndNoFailureOfTheHarness) {
  StubEvaluator judge;
  judge.evaluation = checked();
  judge.report.profile = profile::Unavailable{
      "ncu: ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance "
      "Counters on the target device 0",
      "run as root, or let all users read counters: options nvidia "
      "NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d/nvidia.conf, then reboot"};
  const ToolOutcome out = look("profile_kernel", kKernel, on_gpu(), judge);
  EXPECT_FALSE(out.success);
  EXPECT_FALSE(out.infra);
  expect_text("tools/profile_unavailable.txt", out.text);
  EXPECT_THAT(out.metadata.at("unavailable").get<std::string>(), StartsWith("ncu: ERR_NVGPU"));
  EXPECT_THAT(out.metadata.at("next").get<std::string>(), HasSubstr("/etc/modprobe.d"));
  EXPECT_FALSE(out.metadata.contains("profile"));
  judge.fails = true;
  const ToolOutcome broken = look("disassemble_kernel", kKernel, on_gpu(), judge);
  EXPECT_FALSE(broken.infra);
  EXPECT_THAT(broken.text,
              AllOf(HasSubstr("not available here: compiler: died"), Not(HasSubstr("/var/log"))));
}

TEST(Look, OnTheCpuDeviceTheToolsSayWhatToDoInstead) {
  StubEvaluator judge;
  ToolSettings settings = on_gpu();
  settings.device = {device::Kind::cpu, 0};
  std::string all;
  for (const char* tool :
       {"profile_kernel", "disassemble_kernel", "sanitize_kernel", "ert_roofline"}) {
    const ToolOutcome out = look(tool, kKernel, settings, judge);
    EXPECT_FALSE(out.success || out.infra);
    EXPECT_TRUE(out.metadata.contains("unavailable"));
    EXPECT_THAT(out.text, Not(HasSubstr("\n")));
    all += out.text + "\n";
  }
  expect_text("tools/no_meaning_on_cpu.txt", all);
  EXPECT_TRUE(judge.requests.empty());
}

TEST(Look, AKernelThatDoesNotCompileIsNotLookedAt) {
  StubEvaluator judge;
  judge.evaluation = checked();
  judge.evaluation.verdict = evaluate::Verdict::compile_error;
  judge.evaluation.compile->status = "compile_error";
  judge.evaluation.compile->log = "kernel.cu(2): error: identifier \"x\" is undefined\n";
  judge.evaluation.check.reset();
  for (const char* tool : {"profile_kernel", "disassemble_kernel", "sanitize_kernel"}) {
    const ToolOutcome out = look(tool, kKernel, on_gpu(), judge);
    EXPECT_FALSE(out.success);
    EXPECT_THAT(out.text, StartsWith(std::string(tool) + " FAILED: COMPILE_ERROR: kernel.cu(2)"));
  }
  EXPECT_TRUE(judge.wanted.empty());
}

// A crash is what the sanitizer is for; the profiler cannot use it.
TEST(Look, ACrashIsForTheSanitizerOnly) {
  StubEvaluator judge;
  judge.evaluation = checked();
  judge.evaluation.verdict = evaluate::Verdict::runtime_fault;
  judge.evaluation.check->failure.emplace();
  judge.evaluation.check->failure->verdict = evaluate::Verdict::runtime_fault;
  judge.evaluation.check->failure->text = "an illegal memory access";
  judge.report.profile = gemm_report();
  judge.report.sanitize = race();
  const ToolOutcome profiled = look("profile_kernel", kKernel, on_gpu(), judge);
  EXPECT_FALSE(profiled.success);
  EXPECT_THAT(profiled.text, HasSubstr("RUNTIME_FAULT"));
  EXPECT_TRUE(judge.wanted.empty());
  judge.report.profile.reset();
  const ToolOutcome out = look("sanitize_kernel", kKernel, on_gpu(), judge);
  EXPECT_FALSE(out.success);
  EXPECT_EQ(out.metadata.at("findings"), 1);
  expect_text("tools/sanitize_race.txt", out.text);
}

TEST(Look, SanitizeWithoutFindingsPassesOnlyIfACheckerWorked) {
  StubEvaluator judge;
  judge.evaluation = checked();
  judge.report.sanitize = race();
  auto& checkers = std::get<profile::SanitizerReport>(*judge.report.sanitize).checkers;
  checkers.erase(checkers.begin() + 1);
  const ToolOutcome some = look("sanitize_kernel", kKernel, on_gpu(), judge);
  EXPECT_TRUE(some.success);
  EXPECT_THAT(some.text, StartsWith("sanitize_kernel PASSED: nothing found by 1 of 2 checkers"));
  checkers.erase(checkers.begin());
  const ToolOutcome none = look("sanitize_kernel", kKernel, on_gpu(), judge);
  EXPECT_FALSE(none.success);
  EXPECT_TRUE(none.metadata.contains("unavailable"));
}

TEST(Look, DisassemblyTellsMixAndSpills) {
  StubEvaluator judge;
  judge.evaluation = checked();
  judge.report.sass = sass_report();
  const ToolOutcome out = look("disassemble_kernel", kKernel, on_gpu(), judge);
  EXPECT_TRUE(out.success);
  expect_text("tools/disassemble_spills.txt", out.text);
  EXPECT_EQ(out.metadata.at("sass").at("max_registers"), 255);
  EXPECT_EQ(out.metadata.at("sass").at("has_tensor_core_ops"), true);
  EXPECT_EQ(judge.requests.at(0).only, evaluate::Stage::compile);
}

TEST(Look, TheRooflineIsThatOfTheCalibration) {
  StubEvaluator judge;
  const ToolOutcome none = look("ert_roofline", "", on_gpu(), judge);
  EXPECT_FALSE(none.success);
  EXPECT_THAT(none.text, HasSubstr("run `sweep calibrate` on it"));
  judge.found.calibration.emplace();
  judge.found.calibration->id = "0123456789abcdef";
  judge.found.calibration->device.name = "NVIDIA H200";
  judge.found.calibration->figures = {
      {"DRAM read", 4.513e12, "B/s", ""},
      {"L2 read", 12.13e12, "B/s", "a quarter of L2, again and again"},
      {"fp32 FMA", 66.1e12, "op/s", "two a fused multiply-add"},
      {"bf16 tensor", 650e12, "op/s", "mma.sync; wgmma reaches more"},
      {"empty kernel by events", 3.26e-6, "s", "median of 101"}};
  const ToolOutcome out = look("ert_roofline", "", on_gpu(), judge);
  EXPECT_TRUE(out.success);
  expect_text("tools/roofline_ok.txt", out.text);
  EXPECT_EQ(out.metadata.at("calibration"), "0123456789abcdef");
}

TEST(Look, AHostileNameStaysOneBoundedLine) {
  StubEvaluator judge;
  judge.evaluation = checked();
  profile::NcuReport report = gemm_report();
  report.kernels[0].kernel =
      std::string(300'000, 'k') + "\nprofile_kernel PASSED: all is well \x1b[31m\xff";
  judge.report.profile = report;
  const ToolOutcome out = look("profile_kernel", kKernel, on_gpu(), judge);
  EXPECT_LE(out.text.size(), 12'288U);
  EXPECT_THAT(out.text, Not(HasSubstr("\nprofile_kernel PASSED")));
  EXPECT_EQ(out.text.find('\x1b'), std::string::npos);
  EXPECT_NO_THROW((void)to_text(out));
}

}  // namespace
}  // namespace sweep::agent
