// `sweep calibrate --table`: a study of other machines, read where there is no GPU.
#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A session of one band as a GPU's study has it.
std::string line_of(const std::string& gpu, int number) {
  return R"({"schema":1,"gpu":")" + gpu +
         R"(","device":"NVIDIA H200","driver":"580.1","version":"0.1.0",)"
         R"("made":"2026-11-30T00:00:00Z","session":)" +
         std::to_string(number) +
         R"(,"control":false,"verdict":"PASS_EQUIVALENT","bands":[{"band":"copy 30 us",)"
         R"("seconds":2.8e-5,"log_ratios":[0.001,0.002,-0.001,0.0,0.001],"low":1,"point":1,)"
         R"("high":1,"verdict":"PASS_EQUIVALENT","samples_sha256":"","usual":null}]})"
         "\n";
}

TEST(Calibrate, AStudysTableAndPlotNeedNoGpu) {
  const Workspace here;
  here.write("aa.jsonl", line_of("GPU-1", 1) + line_of("GPU-2", 1) + "torn\n");
  const Outcome shown =
      here.sweep({"calibrate", "--append", "aa.jsonl", "--table", "--plot", "aa.svg"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("0/2 [0.0, 65.8]%"));
  EXPECT_THAT(shown.out, HasSubstr("on NVIDIA H200 GPU-1, driver 580.1\n"));
  EXPECT_THAT(shown.out, HasSubstr("on NVIDIA H200 GPU-2, driver 580.1\n"));
  EXPECT_THAT(shown.out, HasSubstr("1 line of aa.jsonl cannot be read"));
  std::ifstream file(here.folder() / "aa.svg");
  std::stringstream svg;
  svg << file.rdbuf();
  EXPECT_THAT(svg.str(), StartsWith("<svg "));
  EXPECT_THAT(svg.str(), HasSubstr("0 of 2 leave out 1"));
  const nlohmann::json json = here.sweep_json({"calibrate", "--append", "aa.jsonl", "--table"});
  EXPECT_EQ(json.at("devices").size(), 2U);
  EXPECT_EQ(json.at("study").at(0).at("sessions"), 2);
}

TEST(Calibrate, ATableOfNothingIsAMistake) {
  const Workspace here;
  const Outcome missing = here.sweep({"calibrate", "--append", "no.jsonl", "--table"});
  EXPECT_EQ(missing.code, 2) << missing.out;
  EXPECT_THAT(missing.err, HasSubstr("no.jsonl: no such file"));
  EXPECT_EQ(here.sweep({"calibrate", "--table"}).code, 2);
  EXPECT_EQ(here.sweep({"calibrate", "--plot", "aa.svg"}).code, 2);
}

}  // namespace
}  // namespace sweep::e2e
