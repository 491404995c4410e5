// A problem that requires instructions: a real compilation, a disassembler that prints what the
// test says.
#include "profile/isa.h"

#include "evaluate/evaluation.h"
#include "util/file.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace sweep::profile {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kKernel =
    "//@ problem example/port\n"
    "//@ if (rows > 100000) dead<<<1, 32>>>(x, y)\n"
    "//@ alive<<<1, 32>>>(x, y)\n"
    "__global__ void alive(const float* x, float* y) { y[0] = x[0]; }\n"
    "__global__ void dead(const float* x, float* y) {\n"
    "  __shared__ float t[4];\n"
    "  asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: "
    "\"r\"((unsigned)__cvta_generic_to_shared(t)), \"l\"(x) : \"memory\");\n"
    "}\n";

class IsaGate : public ::testing::Test {
 protected:
  void SetUp() override {
    services_.problems = fs::path(SWEEP_SOURCE_DIR) / "tests/data/problems";
    services_.cache = folder_.path() / "cache";
    services_.locks = folder_.path() / "locks";
    services_.program = SWEEP_BINARY;
    // The disassembler runs as another user where this is root.
    fs::permissions(folder_.path(), fs::perms{0755});
    fs::create_directories(folder_.path() / "home/bin");
    fs::create_directory(services_.locks);
    request_.submission = {"mine.cu", kKernel};
    request_.problem = SWEEP_SOURCE_DIR "/tests/data/problems/example/port";
    request_.device = {device::Kind::cuda, 0};
    request_.isa = problem::IsaPolicy::gate;
    request_.allow_unsandboxed = true;
    evaluation_.problem = "example/port";
    evaluation_.compile.emplace().status = "ok";
    evaluation_.check.emplace();
    evaluation_.verdict = evaluate::Verdict::pass_faster;
    evaluation_.device_info.arch = "sm_90a";
    evaluation_.plan.text =
        R"({"schema":1,"shapes":[{"shape":"full","plan":{"steps":[{"launch":"alive"}]}}]})";
    search_ = {folder_.path() / "home", folder_.path() / "none", folder_.path() / "none", false};
  }

  // A listing with the opcode in the kernel of that name.
  void disassembler(const std::string& kernel, const std::string& opcode) const {
    const std::string symbol = kernel == "alive" ? "_Z5alivePKfPf" : "_Z4deadPKfPf";
    util::write_file_atomic(
        folder_.path() / "home/bin/nvdisasm",
        "#!/bin/sh\ncat <<'END'\n\t.section\t.text." + symbol + ",\"ax\",@progbits\n.text." +
            symbol + ":\n        /*0000*/                   " + opcode + " [R2], [R4.64] ;\nEND\n",
        0755);
  }

  // False: this machine cannot compile for a GPU.
  bool judge() {
    judge_isa(request_, services_, evaluation_, search_);
    return evaluation_.isa && evaluation_.isa->not_compiled.find("NVRTC") == std::string::npos;
  }

  util::TempDir folder_{"sweep-isa-test"};
  evaluate::Services services_;
  evaluate::EvaluationRequest request_;
  evaluate::Evaluation evaluation_;
  ToolSearch search_;
};

TEST_F(IsaGate, ALaunchedKernelWithTheInstructionPasses) {
  disassembler("alive", "LDGSTS.E.64");
  if (!judge()) {
    GTEST_SKIP() << evaluation_.isa->not_compiled;
  }
  EXPECT_EQ(evaluation_.verdict, evaluate::Verdict::pass_faster);
  EXPECT_EQ(evaluation_.isa->families.at(0).compiled, 1) << evaluation_.isa->not_compiled;
}

TEST_F(IsaGate, AKernelThatIsNeverLaunchedDoesNotHelp) {
  disassembler("dead", "LDGSTS.E.64");
  if (!judge()) {
    GTEST_SKIP() << evaluation_.isa->not_compiled;
  }
  EXPECT_EQ(evaluation_.verdict, evaluate::Verdict::incorrect_instructions);
  EXPECT_EQ(evaluation_.outcome(), evaluate::Outcome::incorrect);
  EXPECT_THAT(evaluation_.headline,
              HasSubstr("no cp_async instruction is in the compiled code of alive"));
  EXPECT_TRUE(evaluation_.isa->families.at(0).in_text);  // level `text` is satisfied by it
}

TEST_F(IsaGate, WarnNotesTheSameAndChangesNothing) {
  request_.isa.reset();  // the problem's own: warn, from its [translation] evidence
  disassembler("dead", "LDGSTS.E.64");
  if (!judge()) {
    GTEST_SKIP() << evaluation_.isa->not_compiled;
  }
  EXPECT_EQ(evaluation_.verdict, evaluate::Verdict::pass_faster);
  EXPECT_THAT(evaluation_.isa->missing(), ::testing::ElementsAre("cp_async"));
}

TEST_F(IsaGate, WithoutADisassemblerAGateSaysSoAndJudgesNothing) {
  if (!judge() && evaluation_.isa->not_compiled.find("NVRTC") != std::string::npos) {
    GTEST_SKIP() << evaluation_.isa->not_compiled;
  }
  EXPECT_EQ(evaluation_.outcome(), evaluate::Outcome::infra_error);
  EXPECT_THAT(evaluation_.infra, HasSubstr("nvdisasm"));
}

TEST_F(IsaGate, AWrongKernelKeepsItsVerdictAndTheCpuDeviceIsLeftAlone) {
  disassembler("dead", "LDGSTS.E.64");
  evaluation_.verdict = evaluate::Verdict::incorrect_value;
  (void)judge();
  EXPECT_EQ(evaluation_.verdict, evaluate::Verdict::incorrect_value);
  evaluation_.verdict = evaluate::Verdict::pass_inconclusive;
  request_.device = {device::Kind::cpu, 0};
  judge_isa(request_, services_, evaluation_, search_);
  EXPECT_EQ(evaluation_.verdict, evaluate::Verdict::pass_inconclusive);
  EXPECT_THAT(evaluation_.isa->not_compiled, HasSubstr("cpu device"));
  evaluation_.isa.reset();
  request_.isa = problem::IsaPolicy::off;
  judge_isa(request_, services_, evaluation_, search_);
  EXPECT_FALSE(evaluation_.isa);
}

}  // namespace
}  // namespace sweep::profile
