#include "program.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kProblem = SWEEP_SOURCE_DIR "/tests/data/problems/test/affine";

std::string seed() {
  return std::string(kProblem) + "/seed.cu";
}

std::vector<std::string> eval_with(const std::vector<std::string>& flags) {
  std::vector<std::string> all = {
      "eval", seed(), "--problem", kProblem, "--device", "cpu", "--only", "compile"};
  all.insert(all.end(), flags.begin(), flags.end());
  return all;
}

// Whether CUDA C++ can be compiled here.
bool has_nvrtc() {
  std::error_code error;
  return fs::exists("/usr/local/cuda/lib64/libnvrtc.so", error);
}

TEST(Profile, DumpWritesAndListsEverything) {
  const Workspace here;
  const Outcome outcome = here.sweep(eval_with({"--dump", "look"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* file : {"source.cu",
                           "plan_small.json",
                           "plan_wide.json",
                           "inputs.json",
                           "compile.log",
                           "result.json"}) {
    EXPECT_THAT(outcome.out, HasSubstr(file));
    EXPECT_TRUE(fs::is_regular_file(here.folder() / "look" / file)) << file;
  }
  EXPECT_EQ(util::read_file(here.folder() / "look/source.cu", 1 << 20),
            util::read_file(seed(), 1 << 20));
  const auto plan =
      nlohmann::json::parse(util::read_file(here.folder() / "look/plan_small.json", 1 << 20));
  EXPECT_EQ(plan.at("dims").at("rows"), 24);
  EXPECT_TRUE(plan.contains("plan"));
  const auto result =
      nlohmann::json::parse(util::read_file(here.folder() / "look/result.json", 1 << 24));
  EXPECT_TRUE(result.at("tools").contains("dump"));
  if (has_nvrtc()) {
    EXPECT_THAT(util::read_file(here.folder() / "look/kernel.ptx", 1 << 24), HasSubstr(".entry"));
    EXPECT_THAT(util::read_file(here.folder() / "look/kernel.cubin", 1 << 24), HasSubstr("ELF"));
  }
}

TEST(Profile, DumpTakesNoFolderWithSomethingInIt) {
  const Workspace here;
  here.write("look/mine.txt", "mine");
  const Outcome outcome = here.sweep(eval_with({"--dump", "look"}));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("is not empty"));
  EXPECT_EQ(util::read_file(here.folder() / "look/mine.txt", 100), "mine");
}

TEST(Profile, DumpKeepsABrokenKernel) {
  const Workspace here;
  const fs::path file = here.write("mine.cu", "//@ problem test/affine\n//@ go<<<1>>>(x)\n");
  const Outcome outcome = here.sweep({"eval",
                                      file.string(),
                                      "--problem",
                                      kProblem,
                                      "--device",
                                      "cpu",
                                      "--dump",
                                      "look",
                                      "--sass"});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_TRUE(fs::exists(here.folder() / "look/source.cu"));
  EXPECT_TRUE(fs::exists(here.folder() / "look/result.json"));
  EXPECT_THAT(outcome.out, HasSubstr("the plan has an error"));
}

TEST(Profile, ToolsThatNeedAGpuSayItInOneLine) {
  const Workspace here;
  const Outcome outcome = here.sweep(eval_with({"--sanitize", "--profile"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("compute-sanitizer watches kernels on a GPU; give --device cuda"));
  EXPECT_THAT(outcome.out, HasSubstr("ncu watches kernels on a GPU; give --device cuda"));
}

TEST(Profile, SassOfAFakeToolkit) {
  if (!has_nvrtc()) {
    GTEST_SKIP() << "no NVRTC";
  }
  const Workspace here;
  fs::permissions(here.folder(), fs::perms(0755));
  const fs::path tool =
      here.write("cuda/bin/nvdisasm",
                 "#!/bin/sh\n"
                 "[ -s kernel.cubin ] || exit 1\n"
                 "echo '\t\tFunction : helper'\n"
                 "echo '  /*0000*/  HGMMA.64x64x16.F32.BF16 R24, gdesc[UR8] ;'\n");
  for (const char* folder : {"cuda", "cuda/bin"}) {
    fs::permissions(here.folder() / folder, fs::perms(0755));
  }
  fs::permissions(tool, fs::perms(0755));
  const Outcome outcome = here.sweep(eval_with({"--sass", "--arch", "sm_90a"}),
                                     {"CUDA_HOME=" + (here.folder() / "cuda").string()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("function helper: 1 instructions"));
  EXPECT_THAT(outcome.out, HasSubstr("1 wgmma"));
  EXPECT_THAT(outcome.out, HasSubstr("registers, "));
}

TEST(Profile, AnUnknownArchitectureIsRefused) {
  const Workspace here;
  for (const char* arch : {"hopper", "sm_", "sm_90a; rm", "sm_9x"}) {
    EXPECT_EQ(here.sweep(eval_with({"--sass", "--arch", arch})).code, 2) << arch;
  }
}

TEST(Profile, JsonHasWhatWasAskedForOnly) {
  const Workspace here;
  const auto without = here.sweep_json(eval_with({}));
  EXPECT_FALSE(without.contains("tools"));
  const auto with = here.sweep_json(eval_with({"--profile"}));
  EXPECT_TRUE(with.at("tools").at("profile").contains("unavailable"));
  EXPECT_FALSE(with.at("tools").contains("sass"));
}

}  // namespace
}  // namespace sweep::e2e
