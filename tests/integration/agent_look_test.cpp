// profile_kernel, disassemble_kernel and sanitize_kernel down to the programs that they start: real
// compilation for a GPU, a real disassembler where there is one, scripts in the place of ncu and
// compute-sanitizer. The judge alone is not real, for want of a GPU.
#include "agent/tools.h"
#include "cpu_fixture.h"
#include "profile/tools.h"
#include "util/file.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace sweep::test {
namespace {

namespace fs = std::filesystem;
using agent::ToolOutcome;
using profile::Tool;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kKernel =
    "//@ problem test/affine\n"
    "//@ go<<<rows, 64>>>(x, shift, y, total, cols, alpha)\n"
    "__global__ void go(const float* x, const float* shift, float* y, float* total, int cols,\n"
    "                   float alpha) {\n"
    "  if (threadIdx.x != 0) return;\n"
    "  float s = 0;\n"
    "  for (int c = 0; c < cols; ++c) {\n"
    "    const long long i = (long long)blockIdx.x * cols + c;\n"
    "    y[i] = alpha * x[i] + shift[c];\n"
    "    s += y[i];\n"
    "  }\n"
    "  total[blockIdx.x] = s;\n"
    "}\n";

// A judge that finds every kernel right on an sm_90a, and the real inspect() with the test's tools.
class OnPaper final : public agent::Evaluator {
 public:
  OnPaper(const evaluate::Services& services, profile::ToolSearch search)
      : services_(services), search_(std::move(search)) {}

  evaluate::Evaluation evaluate(const evaluate::EvaluationRequest&) override {
    evaluate::Evaluation out;
    out.verdict = evaluate::Verdict::pass_inconclusive;
    out.device_info.arch = "sm_90a";
    out.device_info.uuid = "GPU-of-this-test";
    out.device_info.sm_count = 132;
    out.device_info.total_bytes = std::size_t{1} << 36U;
    out.screen.emplace();
    out.compile.emplace();
    out.compile->status = "ok";
    out.check.emplace();
    return out;
  }

  profile::Report inspect(const evaluate::EvaluationRequest& request,
                          const evaluate::Evaluation& evaluation,
                          const profile::Wanted& asked) override {
    profile::Wanted wanted = asked;
    wanted.search = search_;
    wanted.checker_seconds = 30;
    wanted.profile_seconds = 30;
    return profile::inspect(request, services_, evaluation, wanted, nullptr);
  }

 private:
  const evaluate::Services& services_;
  profile::ToolSearch search_;
};

class AgentLook : public testing::Test {
 protected:
  AgentLook() {
    fs::permissions(folder_.path(), fs::perms(0755));
    fs::create_directories(folder_.path() / "home/bin");
    services_.problems = SWEEP_SOURCE_DIR "/tests/data/problems";
    services_.cache = shared_cache();
    services_.locks = folder_.path() / "locks";
    services_.program = SWEEP_BINARY;
    fs::create_directory(services_.locks);
    settings_.problem = "test/affine";
    settings_.device = {device::Kind::cuda, 0};
    settings_.allow_unsandboxed = true;
    search_ = {folder_.path() / "home", folder_.path() / "none", folder_.path() / "none", false};
  }

  void SetUp() override {
    std::error_code error;
    if (!fs::exists("/usr/local/cuda/lib64/libnvrtc.so", error)) {
      GTEST_SKIP() << "no NVRTC";
    }
  }

  void tool(Tool which, const std::string& script) const {
    util::write_file_atomic(
        folder_.path() / "home/bin" / name(which), "#!/bin/sh\n" + script, 0755);
  }

  ToolOutcome run(const std::string& tool) {
    OnPaper judge(services_, search_);
    ToolOutcome out = agent::run_tool(tool, kKernel, settings_, judge);
    agent::learn(out, settings_);
    EXPECT_FALSE(out.infra);
    EXPECT_THAT(out.text, StartsWith(tool + (out.success ? " PASSED: " : " FAILED: ")));
    EXPECT_THAT(out.text, Not(HasSubstr(folder_.path().string())));
    return out;
  }

  util::TempDir folder_{"sweep-look-test"};
  evaluate::Services services_;
  agent::ToolSettings settings_;
  profile::ToolSearch search_;
};

constexpr const char* kDone =
    "printf '{\"launches\":1,\"device_seconds\":0.5,\"fault\":null}' > replayed.json\n";

std::string ncu_with(const std::string& duration) {
  return std::string(kDone) +
         "if [ \"$1\" = --import ]; then\n"
         "  printf '\"ID\",\"Kernel Name\",\"Grid "
         "Size\",\"gpu__time_duration.sum\"\\n\"\",\"\",\"\",\"ns\"\\n"
         "\"0\",\"go\",\"(64, 1, 1)\",\"" +
         duration +
         "\"\\n'\n"
         "else\n"
         "  echo report > profile.ncu-rep\n"
         "fi\n";
}

TEST_F(AgentLook, ProfilesAndComparesWithinTheConversation) {
  tool(Tool::ncu, ncu_with("2,000"));
  const ToolOutcome first = run("profile_kernel");
  EXPECT_TRUE(first.success) << first.text;
  EXPECT_THAT(first.text, HasSubstr("2.00 us in 1 profiled launch\n"));
  EXPECT_THAT(first.text, HasSubstr("64 blocks leave 68 of 132 SMs idle"));
  ASSERT_EQ(first.attachments.size(), 1U);
  EXPECT_EQ(first.attachments[0].bytes, "report\n");
  tool(Tool::ncu, ncu_with("1,500"));
  EXPECT_THAT(run("profile_kernel").text, HasSubstr("1.50 us (-25.0% against the last profile)"));
  // Another conversation has no last profile, though the file has the same name.
  settings_.last_profile = nullptr;
  EXPECT_THAT(run("profile_kernel").text, Not(HasSubstr("against the last profile")));
}

TEST_F(AgentLook, AMissingOrRefusedProfilerIsSaid) {
  const ToolOutcome missing = run("profile_kernel");
  EXPECT_THAT(missing.text, HasSubstr("not available here: ncu was not found"));
  EXPECT_TRUE(missing.metadata.contains("unavailable"));
  tool(Tool::ncu, "echo '==ERROR== ERR_NVGPUCTRPERM - no permission'; exit 1\n");
  EXPECT_THAT(run("profile_kernel").text, HasSubstr("NVreg_RestrictProfilingToAdminUsers"));
  settings_.allow_unsandboxed = false;
  EXPECT_THAT(run("profile_kernel").text, HasSubstr("give --allow-unsandboxed"));
}

TEST_F(AgentLook, FindingsOfTheSanitizer) {
  tool(Tool::compute_sanitizer,
       std::string(kDone) +
           "[ \"$2\" = memcheck ] || { echo '========= ERROR SUMMARY: 0 errors'; exit 0; }\n"
           "echo '========= Invalid __global__ write of size 4 bytes'\n"
           "echo '=========     at go(float *)+0x90'\n"
           "echo '=========     by thread (3,0,0) in block (1,0,0)'\n"
           "echo '========= ERROR SUMMARY: 1 error'\n");
  const ToolOutcome out = run("sanitize_kernel");
  EXPECT_FALSE(out.success);
  EXPECT_THAT(out.text, HasSubstr("1 kind of finding"));
  EXPECT_THAT(out.text,
              HasSubstr("Invalid __global__ write of size 4 bytes in go(float *)+0x90, thread "
                        "(3,0,0) of block (1,0,0)"));
  EXPECT_THAT(out.text, HasSubstr("initcheck: nothing found"));
}

TEST_F(AgentLook, DisassemblesWithWhatIsThere) {
  const ToolOutcome missing = run("disassemble_kernel");
  EXPECT_THAT(missing.text, HasSubstr("neither nvdisasm nor cuobjdump was found"));
  search_ = profile::default_search();
  if (std::holds_alternative<profile::Unavailable>(find_tool(Tool::nvdisasm, search_)) &&
      std::holds_alternative<profile::Unavailable>(find_tool(Tool::cuobjdump, search_))) {
    GTEST_SKIP() << "neither nvdisasm nor cuobjdump";
  }
  const ToolOutcome out = run("disassemble_kernel");
  EXPECT_TRUE(out.success) << out.text;
  EXPECT_THAT(out.text, HasSubstr("compiled for sm_90a\nkernel go: "));
  EXPECT_THAT(out.text, HasSubstr(" global"));
  EXPECT_THAT(out.text, HasSubstr("no tensor core instructions"));
  ASSERT_EQ(out.attachments.size(), 1U);
  EXPECT_EQ(out.attachments[0].name, "kernel.sass");
}

}  // namespace
}  // namespace sweep::test
