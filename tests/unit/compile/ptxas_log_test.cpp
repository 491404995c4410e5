#include "compile/ptxas_log.h"

#include <gmock/gmock.h>

namespace sweep::compile {
namespace {

// Printed by NVRTC 13.0 with --ptxas-options=-v for sm_90a.
constexpr std::string_view kLog =
    "ptxas info    : 83 bytes gmem\n"
    "ptxas info    : Compiling entry function '_Z1kPKfPfi' for 'sm_90a'\n"
    "ptxas info    : Function properties for _Z1kPKfPfi\n"
    "ptxas         .     8 bytes stack frame, 12 bytes spill stores, 4 bytes spill loads\n"
    "ptxas info    : Used 24 registers, used 1 barriers, 8 bytes cumulative stack size, 128 bytes "
    "smem\n"
    "ptxas info    : Compile time = 4.453 ms\n"
    "mine.cu(3): warning: variable \"x\" was declared but never referenced\n";

TEST(PtxasLog, ReadsResources) {
  const PtxasReport report = read_ptxas_log(kLog);
  const CompiledKernel kernel = kernel_facts(report, "k", "_Z1kPKfPfi");
  EXPECT_EQ(kernel.registers, 24);
  EXPECT_EQ(kernel.spill_bytes, 16);
  EXPECT_EQ(kernel.shared_bytes, 128);
  EXPECT_EQ(kernel.stack_bytes, 8);
}

// Printed by ptxas 13.0 itself.
TEST(PtxasLog, ReadsTheOtherForm) {
  const PtxasReport report = read_ptxas_log(
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n"
      "    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 24 registers, used 0 barriers, 16 bytes cumulative stack size\n");
  EXPECT_EQ(kernel_facts(report, "k", "k").spill_bytes, 12);
  EXPECT_EQ(kernel_facts(report, "k", "k").stack_bytes, 16);
  EXPECT_EQ(report.rest, "");
}

TEST(PtxasLog, LeavesTheRest) {
  EXPECT_EQ(read_ptxas_log(kLog).rest,
            "mine.cu(3): warning: variable \"x\" was declared but never referenced\n");
}

// Names are the submission's, and what it has the compiler print may look like ptxas.
TEST(PtxasLog, HostileNamesAndForgedLinesAreHarmless) {
  const std::string name(1U << 20U, 'q');
  const PtxasReport report = read_ptxas_log(
      "ptxas info    : Compiling entry function '" + name + "' for 'sm_90a'\n" +
      "ptxas info    : Function properties for " + name + "\n" +
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 99999999999999999999 registers, bytes smem\n"
      "ptxas info    : Compiling entry function 'no end\n"
      "ptxas info    : Compiling entry function '\xff\x1b[31m' for 'sm_90a'\n"
      "ptxas info    : Used  registers\n"
      "ptxas info    : Function properties for\n");
  EXPECT_EQ(kernel_facts(report, "q", name).spill_bytes, 0);
  EXPECT_EQ(kernel_facts(report, "q", name).registers, -1);
  EXPECT_EQ(report.entries.count("no end"), 0U);
  EXPECT_EQ(kernel_facts(report, "q", "\xff\x1b[31m").registers, -1);
}

TEST(PtxasLog, UnknownKernelIsUnknown) {
  EXPECT_EQ(kernel_facts(read_ptxas_log(kLog), "q", "q").registers, -1);
  EXPECT_EQ(kernel_facts(read_ptxas_log(""), "q", "q").registers, -1);
}

}  // namespace
}  // namespace sweep::compile
