// `sweep calibrate` with real processes on the cpu device, and its GPU kernels through the
// compiler.
#include "calibrate/calibrate.h"

#include "device/describe.h"
#include "evaluate/evaluation_json.h"
#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>

namespace sweep::calibrate {
namespace {

class CalibrateOnCpu : public ::testing::Test {
 protected:
  Options options() const {
    Options made;
    made.device = {device::Kind::cpu, 0};
    made.program = SWEEP_BINARY;
    made.cache = folder_.path() / "cache";
    made.locks = folder_.path() / "locks";
    made.bands = {kBands[4]};
    made.sessions = 1;
    made.controls = 0;
    made.replicates = 2;
    made.version = "test";
    made.allow_unsandboxed = std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr;
    return made;
  }

  void SetUp() override { std::filesystem::create_directory(folder_.path() / "locks"); }

  util::TempDir folder_;
};

TEST_F(CalibrateOnCpu, TimesACopyAgainstItselfAndStoresWhatItSaw) {
  Options with = options();
  with.append = folder_.path() / "study.jsonl";
  with.usual = true;
  with.raw = folder_.path() / "raw";
  std::vector<std::string> said;
  const auto listen = [&](const std::string& line) { said.push_back(line); };
  const Outcome first = calibrate(with, listen);
  ASSERT_EQ(first.calibration.bands.size(), 1U);
  EXPECT_EQ(first.calibration.bands[0].name, "copy 1 ms");
  EXPECT_EQ(first.calibration.bands[0].sessions, 1);
  EXPECT_GT(first.calibration.bands[0].measured_seconds, 0);
  ASSERT_EQ(first.study.lines.size(), 1U);
  EXPECT_EQ(first.study.lines[0].bands.at(0).log_ratios.size(), 2U);
  EXPECT_TRUE(first.study.lines[0].bands.at(0).usual);
  EXPECT_NE(first.study.lines[0].bands.at(0).verdict, "PASS_FASTER");
  const evaluate::TimeResult raw = evaluate::time_from_json(
      nlohmann::json::parse(util::read_file(with.raw / "session-1.json", std::size_t{1} << 26U)));
  EXPECT_EQ(band_session(raw, 0, kBands[4]).samples_sha256,
            first.study.lines[0].bands.at(0).samples_sha256);
  EXPECT_THAT(first.calibration.absent, ::testing::Not(::testing::IsEmpty()))
      << "says what does not apply";
  const auto found = evaluate::find_calibration(with.cache, first.calibration.device);
  ASSERT_TRUE(found.calibration) << found.reason;
  EXPECT_EQ(found.calibration->id, first.calibration.id);
  EXPECT_FALSE(evaluate::noise_floors(with.cache, device::Kind::cpu, first.calibration.device, 0))
      << "the cpu device's noise is its neighbours'";
  // A second run goes on where the first ended.
  with.sessions = 2;
  const Outcome second = calibrate(with, listen);
  EXPECT_EQ(second.study.lines.size(), 2U);
  EXPECT_EQ(second.study.lines[1].number, 2U);
  EXPECT_NE(second.study.lines[0].bands[0].samples_sha256,
            second.study.lines[1].bands[0].samples_sha256);
  EXPECT_EQ(second.calibration.bands.at(0).sessions, 2);
}

// The floor of an evaluation is not that of sessions with more replicates.
TEST_F(CalibrateOnCpu, SessionsWithAPilotAreNoNoiseFloor) {
  Options with = options();
  with.pilot = true;
  with.append = folder_.path() / "study.jsonl";
  const Outcome made = calibrate(with, [](const std::string&) {});
  ASSERT_EQ(made.study.lines.size(), 1U);
  EXPECT_GE(made.study.lines[0].bands.at(0).log_ratios.size(), 5U) << "not the two that were asked";
  EXPECT_TRUE(made.file.empty());
  EXPECT_FALSE(std::filesystem::exists(
      evaluate::calibration_file(with.cache, device::describe({device::Kind::cpu, 0}))));
}

TEST_F(CalibrateOnCpu, WhatCannotBeWrittenIsSaidBeforeAnythingIsMeasured) {
  const auto nothing = [](const std::string& line) { FAIL() << line; };
  Options with = options();
  with.raw = "/dev/null";
  EXPECT_THROW((void)calibrate(with, nothing), util::UsageError);
  with = options();
  with.append = folder_.path() / "no such folder" / "study.jsonl";
  EXPECT_THROW((void)calibrate(with, nothing), util::UsageError);
  with = options();
  with.cache = "/dev/null";
  EXPECT_THROW((void)calibrate(with, nothing), util::Error);
}

TEST_F(CalibrateOnCpu, SaysWhereNoBandIsReached) {
  Options with = options();
  with.bands = {{"0", "copy 1 ns", Kind::copy, 1e-9}};
  EXPECT_THROW((void)calibrate(with, [](const std::string&) {}), util::UsageError);
}

TEST(CalibrateKernels, CompileForHopper) {
  const util::TempDir folder;
  compile::Options options;
  options.cache = folder.path();
  options.program = SWEEP_BINARY;
  options.allow_unsandboxed = std::getenv("SWEEP_TEST_UNSANDBOXED") != nullptr;
  compile::Compiler compiler(options);
  if (compiler.toolchain().nvrtc.empty()) {
    GTEST_SKIP() << compiler.toolchain().nvrtc_reason;
  }
  const compile::Target target{device::Kind::cuda, "sm_90a"};
  EXPECT_EQ(ceiling_kernels(compiler, target).kernels.size(), 14U);
  EXPECT_TRUE(material(Kind::copy, compiler, target).slower);
  const Material gemm = material(Kind::gemm, compiler, target);
  EXPECT_FALSE(gemm.seed.image.bytes.empty());
}

}  // namespace
}  // namespace sweep::calibrate
