#include "cli/tools_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::cli {
namespace {

using profile::Metric;
using profile::SassClass;
using profile::Unavailable;
using testing::HasSubstr;
using testing::Not;

TEST(ToolsView, NothingAskedForIsNothingSaid) {
  EXPECT_EQ(tools_text({}, Style::plain()), "");
}

TEST(ToolsView, AMissingToolIsOneLineWithItsCure) {
  profile::Report report;
  report.profile = Unavailable{"ncu was not found", "install Nsight Compute"};
  EXPECT_EQ(tools_text(report, Style::plain()),
            "\n profile  not available  ncu was not found; install Nsight Compute\n");
}

TEST(ToolsView, TheMixBeginsWithTheMostFrequent) {
  profile::SassReport sass;
  sass.arch = "sm_90a";
  profile::KernelSass kernel;
  kernel.name = "gemm<64>\x1b[2J";
  kernel.registers = 168;
  kernel.spill_bytes = 0;
  kernel.code.instructions = 42;
  kernel.code.mix = {{SassClass::wgmma, 2}, {SassClass::integer, 40}};
  sass.kernels.push_back(kernel);
  sass.complete = false;
  profile::Report report;
  report.sass = sass;
  const std::string text = tools_text(report, Style::plain());
  EXPECT_THAT(text, HasSubstr("42 instructions; 168 registers, 0 B spilled, ? shared"));
  EXPECT_THAT(text, HasSubstr("40 integer, 2 wgmma"));
  EXPECT_THAT(text, HasSubstr("too long"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(ToolsView, FindingsAndSilentCheckersDiffer) {
  profile::SanitizerLog found;
  found.reported = 2;
  profile::Finding finding;
  finding.kind = "Invalid write";
  finding.kernel = "go";
  finding.offset = "+0x90";
  finding.thread = "(1,0,0)";
  finding.block = "(2,0,0)";
  finding.count = 2;
  found.findings.push_back(finding);
  profile::SanitizerReport sanitizer;
  sanitizer.shape = "small";
  sanitizer.checkers = {{"memcheck", found, ""},
                        {"racecheck", Unavailable{"racecheck ran past its deadline", ""}, ""},
                        {"synccheck", profile::SanitizerLog{}, ""}};
  profile::Report report;
  report.sanitize = sanitizer;
  const std::string text = tools_text(report, Style::plain());
  EXPECT_THAT(text, HasSubstr("2x Invalid write in go+0x90, thread (1,0,0) of block (2,0,0)"));
  EXPECT_THAT(text, HasSubstr("racecheck no result"));
  EXPECT_THAT(text, HasSubstr("synccheck nothing found"));
}

TEST(ToolsView, AProfileSaysWhatChangedAndWhatIsMissing) {
  profile::KernelProfile kernel;
  kernel.kernel = "go";
  kernel.metrics = {{"duration_seconds", 1.5e-6, "", 2e-6},
                    {"dram_percent", std::nullopt, "not here"}};
  kernel.stalls = {{"long_scoreboard", 61}};
  kernel.limits = {"registers"};
  profile::NcuReport ncu;
  ncu.launches = 20;
  ncu.compared = true;
  ncu.kernels = {kernel};
  profile::Report report;
  report.profile = ncu;
  const std::string text = tools_text(report, Style::plain());
  EXPECT_THAT(text, HasSubstr("1.50 us (-25.0%)"));
  EXPECT_THAT(text, HasSubstr("DRAM -,"));
  EXPECT_THAT(text, HasSubstr("long_scoreboard 61%"));
  EXPECT_THAT(text, HasSubstr("limited by registers"));
  EXPECT_THAT(text, HasSubstr("the first 1 of 20 launches"));
}

TEST(ToolsView, TheDumpListsFilesAndWhatIsLeftOut) {
  profile::Report report;
  report.dump = "look";
  report.written = {{"source.cu", 512}};
  report.left_out = {"kernel.sass: nvdisasm was not found"};
  const std::string text = tools_text(report, Style::plain());
  EXPECT_THAT(text, HasSubstr("source.cu"));
  EXPECT_THAT(text, HasSubstr("512 B"));
  EXPECT_THAT(text, HasSubstr("left out: kernel.sass"));
}

}  // namespace
}  // namespace sweep::cli
