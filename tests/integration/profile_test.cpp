// Profiling tools with fakes in their place, and the replay that they watch. What needs a cubin
// needs the CUDA toolkit; nothing here needs a GPU.

#include "cpu_fixture.h"
#include "evaluate/preparation.h"
#include "evaluate/signature.h"
#include "profile/disassemble.h"
#include "profile/ncu.h"
#include "profile/replay.h"
#include "profile/sanitizer.h"
#include "profile/watched.h"
#include "util/error.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace sweep::test {
namespace {

namespace fs = std::filesystem;
using profile::Result;
using profile::Tool;
using profile::Unavailable;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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

constexpr const char* kDone =
    "printf '{\"launches\":1,\"device_seconds\":0.5,\"fault\":null}' > replayed.json\n";

// A toolkit of scripts, and a request that the tools take.
class Profile : public testing::Test {
 protected:
  Profile() {
    fs::permissions(folder_.path(), fs::perms(0755));
    fs::create_directories(folder_.path() / "home/bin");
    services_.problems = SWEEP_SOURCE_DIR "/tests/data/problems";
    services_.cache = folder_.path() / "cache";
    services_.locks = folder_.path() / "locks";
    services_.program = SWEEP_BINARY;
    fs::create_directory(services_.locks);
    request_.submission = {"mine.cu", kKernel};
    request_.problem = SWEEP_SOURCE_DIR "/tests/data/problems/test/affine";
    request_.device = {device::Kind::cuda, 0};
    request_.allow_unsandboxed = true;
    evaluation_.device_info.uuid = "GPU-of-this-test";
    evaluation_.device_info.total_bytes = std::size_t{1} << 36U;
    wanted_.search = {
        folder_.path() / "home", folder_.path() / "none", folder_.path() / "none", false};
    wanted_.checker_seconds = 30;
    wanted_.profile_seconds = 30;
  }

  void tool(Tool which, const std::string& script) const {
    util::write_file_atomic(
        folder_.path() / "home/bin" / name(which), "#!/bin/sh\n" + script, 0755);
  }

  // Nothing where this machine has no NVRTC.
  std::optional<profile::Subject> subject() {
    auto made = profile::compile_subject(request_, services_, "sm_90a");
    auto* ready = std::get_if<profile::Subject>(&made);
    if (ready == nullptr || ready->uncompiled) {
      return std::nullopt;
    }
    return std::move(*ready);
  }

  template <class T>
  static std::string why(const Result<T>& result) {
    const auto* missing = std::get_if<Unavailable>(&result);
    return missing == nullptr ? "" : missing->text();
  }

  util::TempDir folder_{"sweep-profile-test"};
  evaluate::Services services_;
  evaluate::EvaluationRequest request_;
  evaluate::Evaluation evaluation_;
  profile::Wanted wanted_;
};

// Disassembling.

class Disassemble : public Profile {
 protected:
  [[nodiscard]] Result<profile::Disassembly> run(double seconds = 30) const {
    const std::string cubin =
        "\x7f"
        "ELF, perhaps";
    profile::DisassembleOptions options;
    options.search = wanted_.search;
    options.seconds = seconds;
    return profile::disassemble(std::as_bytes(std::span(cubin)), options);
  }
};

TEST_F(Disassemble, HandsTheCubinOverAndTakesTheText) {
  tool(Tool::nvdisasm, "echo \"args $*\"; cat kernel.cubin\n");
  const auto result = run();
  ASSERT_EQ(why(result), "");
  EXPECT_THAT(std::get<0>(result).text,
              HasSubstr("args -c kernel.cubin\n\x7f"
                        "ELF, perhaps"));
  EXPECT_TRUE(std::get<0>(result).complete);
}

TEST_F(Disassemble, FallsBackToCuobjdump) {
  tool(Tool::nvdisasm, "echo 'nvdisasm fatal : unknown cubin' >&2; exit 1\n");
  EXPECT_THAT(why(run()), HasSubstr("unknown cubin"));
  tool(Tool::cuobjdump, "echo \"$*\"\n");
  const auto result = run();
  ASSERT_EQ(why(result), "");
  EXPECT_EQ(std::get<0>(result).text, "--dump-sass kernel.cubin\n");
}

TEST_F(Disassemble, CannotReachTheNetworkOrOtherFiles) {
  util::write_file_atomic(folder_.path() / "secret", "mine", 0644);
  tool(Tool::nvdisasm,
       "cat '" + (folder_.path() / "secret").string() +
           "' 2>/dev/null; cat /etc/passwd 2>/dev/null; ls /proc/1/root 2>/dev/null; echo end\n");
  const auto result = run();
  ASSERT_EQ(why(result), "");
  EXPECT_EQ(std::get<0>(result).text, "end\n");
}

TEST_F(Disassemble, AHangEndsAtTheDeadline) {
  tool(Tool::nvdisasm, "sleep 1000\n");
  EXPECT_THAT(why(run(1)), HasSubstr("deadline"));
}

TEST_F(Disassemble, AFloodIsCut) {
  tool(Tool::nvdisasm, "echo head; head -c 1073741824 /dev/zero | tr '\\0' 'x'; echo tail\n");
  const auto result = run(120);
  ASSERT_EQ(why(result), "");
  EXPECT_LE(std::get<0>(result).text.size(), profile::kMostSassBytes);
  EXPECT_FALSE(std::get<0>(result).complete);
}

TEST_F(Disassemble, SaysWhatIsMissing) {
  EXPECT_THAT(why(run()), HasSubstr("install the CUDA toolkit"));
}

// What a real disassembler prints, where there is one.
TEST_F(Disassemble, ReadsARealCubin) {
  profile::DisassembleOptions options;
  options.search = profile::default_search();
  const auto real = profile::find_tool(Tool::nvdisasm, options.search);
  const auto other = profile::find_tool(Tool::cuobjdump, options.search);
  const auto made = subject();
  if (!made || (!why(real).empty() && !why(other).empty())) {
    GTEST_SKIP() << (made ? "neither nvdisasm nor cuobjdump" : "no NVRTC");
  }
  const auto result = profile::disassemble(made->compiled.image.bytes, options);
  ASSERT_EQ(why(result), "");
  const profile::SassListing listing = profile::parse_sass(std::get<0>(result).text);
  ASSERT_THAT(listing.functions, SizeIs(1));
  EXPECT_EQ(listing.functions[0].symbol, made->compiled.kernels[0].lowered);
  EXPECT_GT(listing.functions[0].mix.at(profile::SassClass::global), 0);
  EXPECT_EQ(listing.functions[0].mix.count(profile::SassClass::other), 0U);
}

// compute-sanitizer.

TEST_F(Profile, TheSanitizersFindingsAreParsed) {
  const auto made = subject();
  if (!made) {
    GTEST_SKIP() << "no NVRTC";
  }
  tool(Tool::compute_sanitizer,
       std::string(kDone) +
           "[ \"$2\" = memcheck ] || { echo '========= ERROR SUMMARY: 0 errors'; exit 0; }\n"
           "echo '========= Invalid __global__ write of size 4 bytes'\n"
           "echo '=========     at go(float *)+0x90'\n"
           "echo '========= ERROR SUMMARY: 1 error'\n");
  const auto result = profile::sanitize(request_, services_, evaluation_, *made, wanted_);
  ASSERT_EQ(why(result), "");
  const auto& report = std::get<0>(result);
  ASSERT_THAT(report.checkers, SizeIs(4));
  ASSERT_EQ(why(report.checkers[0].log), "");
  EXPECT_THAT(std::get<0>(report.checkers[0].log).findings, SizeIs(1));
  for (std::size_t i = 1; i < 4; ++i) {
    ASSERT_EQ(why(report.checkers[i].log), "") << report.checkers[i].checker;
    EXPECT_THAT(std::get<0>(report.checkers[i].log).findings, IsEmpty());
  }
}

// The tool is started as NVIDIA's would be: it runs what stands behind its own options.
TEST_F(Profile, TheToolIsGivenAProgramThatReplays) {
  const auto made = subject();
  if (!made || fs::exists("/dev/nvidiactl")) {
    GTEST_SKIP() << "no NVRTC, or a GPU";
  }
  tool(Tool::compute_sanitizer, "while [ \"$1\" != '" SWEEP_BINARY "' ]; do shift; done\n\"$@\"\n");
  const auto result = profile::sanitize(request_, services_, evaluation_, *made, wanted_);
  ASSERT_EQ(why(result), "");
  // It got as far as the driver, which is not here.
  EXPECT_THAT(why(std::get<0>(result).checkers[0].log), HasSubstr("did not work"));
  const profile::Watched watched(
      request_,
      services_,
      *made,
      profile::smallest(profile::visible_shapes(made->problem, request_)));
  const util::Captured run =
      watched.run(SWEEP_BINARY, {"__replay", "."}, wanted_.checker_seconds, 65536);
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(why(profile::read_replayed(watched.folder())), HasSubstr("libcuda"));
}

TEST_F(Profile, AHangingCheckerIsOneLineAndTheOthersRun) {
  const auto made = subject();
  if (!made) {
    GTEST_SKIP() << "no NVRTC";
  }
  wanted_.checker_seconds = 3;
  tool(Tool::compute_sanitizer,
       std::string(kDone) + "[ \"$2\" != racecheck ] || sleep 1000\n" +
           "echo '========= ERROR SUMMARY: 0 errors'\n");
  const auto result = profile::sanitize(request_, services_, evaluation_, *made, wanted_);
  ASSERT_EQ(why(result), "");
  EXPECT_THAT(why(std::get<0>(result).checkers[1].log), HasSubstr("deadline"));
  EXPECT_EQ(why(std::get<0>(result).checkers[3].log), "");
}

TEST_F(Profile, ToolsNeedConsentAGpuAndToBeThere) {
  const auto made = subject();
  if (!made) {
    GTEST_SKIP() << "no NVRTC";
  }
  EXPECT_THAT(why(profile::sanitize(request_, services_, evaluation_, *made, wanted_)),
              HasSubstr("compute-sanitizer was not found"));
  EXPECT_THAT(why(profile::profile(request_, services_, evaluation_, *made, wanted_)),
              HasSubstr("ncu was not found"));
  request_.allow_unsandboxed = false;
  EXPECT_THAT(why(profile::sanitize(request_, services_, evaluation_, *made, wanted_)),
              HasSubstr("--allow-unsandboxed"));
  request_.device = {device::Kind::cpu, 0};
  EXPECT_THAT(why(profile::profile(request_, services_, evaluation_, *made, wanted_)),
              HasSubstr("--device cuda"));
}

// Nsight Compute.

constexpr const char* kNcu =
    "if [ \"$1\" = --import ]; then\n"
    "  printf '\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\\n\"\",\"\",\"ns\"\\n"
    "\"0\",\"go\",\"DURATION\"\\n'\n"
    "else\n"
    "  echo report > profile.ncu-rep\n"
    "fi\n";

std::string ncu_with(const std::string& duration) {
  std::string script = std::string(kDone) + kNcu;
  return script.replace(script.find("DURATION"), 8, duration);
}

TEST_F(Profile, NcusSummaryKeepsTheReportAndComparesWithTheLastOne) {
  const auto made = subject();
  if (!made) {
    GTEST_SKIP() << "no NVRTC";
  }
  tool(Tool::ncu, ncu_with("2,000"));
  auto result = profile::profile(request_, services_, evaluation_, *made, wanted_);
  ASSERT_EQ(why(result), "");
  EXPECT_EQ(std::get<0>(result).report, "report\n");
  EXPECT_EQ(std::get<0>(result).launches, 1);
  EXPECT_FALSE(std::get<0>(result).compared);
  ASSERT_THAT(std::get<0>(result).kernels, SizeIs(1));
  EXPECT_DOUBLE_EQ(*std::get<0>(result).kernels[0].metric("duration_seconds")->value, 2e-6);
  tool(Tool::ncu, ncu_with("1,500"));
  result = profile::profile(request_, services_, evaluation_, *made, wanted_);
  ASSERT_EQ(why(result), "");
  EXPECT_TRUE(std::get<0>(result).compared);
  EXPECT_DOUBLE_EQ(*std::get<0>(result).kernels[0].metric("duration_seconds")->before, 2e-6);
  // A damaged one is none.
  for (const auto& entry : fs::directory_iterator(services_.cache / "profiles")) {
    util::write_file_atomic(entry.path(), "{\"schema\": 1, \"kernels\": [7, {}]}");
  }
  result = profile::profile(request_, services_, evaluation_, *made, wanted_);
  ASSERT_EQ(why(result), "");
  EXPECT_FALSE(std::get<0>(result).compared);
}

TEST_F(Profile, NcusRefusalIsSaidWithItsCure) {
  const auto made = subject();
  if (!made) {
    GTEST_SKIP() << "no NVRTC";
  }
  tool(Tool::ncu, "echo '==ERROR== ERR_NVGPUCTRPERM - no permission'; exit 1\n");
  EXPECT_THAT(why(profile::profile(request_, services_, evaluation_, *made, wanted_)),
              HasSubstr("NVreg_RestrictProfilingToAdminUsers"));
  tool(Tool::ncu, "exit 3\n");
  EXPECT_THAT(why(profile::profile(request_, services_, evaluation_, *made, wanted_)),
              HasSubstr("exit code 3"));
  std::string linked = ncu_with("1");
  const std::string honest = "echo report > profile.ncu-rep";
  linked.replace(linked.find(honest), honest.size(), "ln -s /etc/passwd profile.ncu-rep");
  tool(Tool::ncu, linked);
  EXPECT_THROW((void)profile::profile(request_, services_, evaluation_, *made, wanted_),
               util::UsageError);
}

TEST_F(Profile, AHangOrAFloodOfNcuEnds) {
  const auto made = subject();
  if (!made) {
    GTEST_SKIP() << "no NVRTC";
  }
  wanted_.profile_seconds = 2;
  tool(Tool::ncu, "sleep 1000\n");
  EXPECT_THAT(why(profile::profile(request_, services_, evaluation_, *made, wanted_)),
              HasSubstr("deadline"));
  wanted_.profile_seconds = 60;
  tool(Tool::ncu, "echo x > profile.ncu-rep\nhead -c 1073741824 /dev/zero | tr '\\0' ','\n");
  EXPECT_THAT(why(profile::profile(request_, services_, evaluation_, *made, wanted_)),
              HasSubstr("larger than"));
}

// The replay.

TEST_F(Profile, AReplayRunsThePlanOnce) {
  request_.device = {device::Kind::cpu, 0};
  auto parsed = submission::parse("mine.cu", kKernel);
  auto& text = std::get<submission::Submission>(parsed);
  const compile::Result compiled =
      compiler().compile(evaluate::compile_request(text, {device::Kind::cpu, ""}, false));
  ASSERT_EQ(compiled.status, compile::Result::Status::ok) << compiled.log;
  const problem::Problem problem = evaluate::find_problem(services_, request_.problem);
  const evaluate::Code code =
      evaluate::make_code(std::move(text), {}, evaluate::candidate_signature(problem), compiled);
  const auto shapes = profile::visible_shapes(problem, request_);
  const auto device = device::open(request_.device);
  const profile::Replayed result =
      profile::replay(*device, request_.device, problem, code, profile::smallest(shapes).draw);
  EXPECT_EQ(result.fault.value_or(""), "");
  EXPECT_EQ(result.launches, 1);
}

TEST_F(Profile, TheRoleRefusesHostCode) {
  const auto made = subject();
  if (!made) {
    GTEST_SKIP() << "no NVRTC";
  }
  const util::TempDir work;
  profile::write_replay(work.path(),
                        {device::Kind::cpu, 0},
                        *made,
                        profile::smallest(profile::visible_shapes(made->problem, request_)),
                        1);
  EXPECT_EQ(profile::replay_main({work.path().string()}), 1);
  EXPECT_THAT(why(profile::read_replayed(work.path())), HasSubstr("needs a GPU"));
}

}  // namespace
}  // namespace sweep::test
