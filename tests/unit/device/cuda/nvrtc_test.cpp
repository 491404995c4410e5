#include "device/cuda/nvrtc.h"

#include "device/cuda/cuda_device.h"
#include "util/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <optional>

namespace sweep::device::cuda {
namespace {

using ::testing::HasSubstr;

std::optional<Nvrtc> nvrtc() {
  try {
    return Nvrtc::load();
  } catch (const util::UsageError&) {
    return std::nullopt;
  }
}

bool is_elf(const Image& image) {
  return image.bytes.size() > 64 && std::memcmp(image.bytes.data(),
                                                "\x7f"
                                                "ELF",
                                                4) == 0;
}

TEST(Nvrtc, MissingLibraryNamesWhatToInstall) {
  const std::array<std::filesystem::path, 1> candidates{"/nonexistent/libnvrtc.so"};
  try {
    const Nvrtc loaded = Nvrtc::load(candidates);
    FAIL() << loaded.library();
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_NVRTC_MISSING");
    EXPECT_THAT(error.what(), HasSubstr("libnvrtc.so not found"));
    EXPECT_THAT(error.what(), HasSubstr("/nonexistent/libnvrtc.so"));
    EXPECT_THAT(error.message().next, HasSubstr("CUDA_HOME"));
  }
}

TEST(Nvrtc, LibraryWithoutTheFunctionsIsRefused) {
  const std::array<std::filesystem::path, 1> candidates{"libc.so.6"};
  try {
    const Nvrtc loaded = Nvrtc::load(candidates);
    FAIL() << loaded.library();
  } catch (const util::UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nvrtcGetErrorString"));
  }
}

TEST(Nvrtc, SearchEndsWithTheLoadersOwnPath) {
  const auto path = Nvrtc::search_path();
  ASSERT_GE(path.size(), 3U);
  EXPECT_EQ(path[path.size() - 3], "libnvrtc.so");
}

TEST(Nvrtc, CompilesATemplateAndLowersItsName) {
  const auto loaded = nvrtc();
  if (!loaded) {
    GTEST_SKIP() << "no libnvrtc.so on this machine";
  }
  const Compiled compiled = loaded->compile(
      {"a.cu",
       "#include \"own.h\"\ntemplate <int N> __global__ void add(float* x) { x[0] += N * OWN; }",
       {"-arch=sm_90a"},
       {"add<3>"},
       {{"own.h", "#define OWN 7\n"}}});
  ASSERT_TRUE(compiled.ok) << compiled.log;
  EXPECT_TRUE(is_elf(compiled.image));
  ASSERT_EQ(compiled.image.kernels.size(), 1U);
  EXPECT_EQ(compiled.image.kernels[0].name, "add<3>");
  EXPECT_EQ(compiled.image.kernels[0].lowered, "_Z3addILi3EEvPf");
  EXPECT_THAT(compiled.ptx, HasSubstr(".entry _Z3addILi3EEvPf"));
}

TEST(Nvrtc, CompileErrorIsDataWithTheFilesOwnLine) {
  const auto loaded = nvrtc();
  if (!loaded) {
    GTEST_SKIP() << "no libnvrtc.so on this machine";
  }
  const Compiled compiled = loaded->compile(
      {"mine.cu", "\n__global__ void f() { nothing(); }", {"-arch=sm_90a"}, {}, {}});
  EXPECT_FALSE(compiled.ok);
  EXPECT_EQ(compiled.error, "NVRTC_ERROR_COMPILATION");
  EXPECT_THAT(compiled.log, HasSubstr("mine.cu(2)"));
}

TEST(Nvrtc, UnknownNameExpressionIsData) {
  const auto loaded = nvrtc();
  if (!loaded) {
    GTEST_SKIP() << "no libnvrtc.so on this machine";
  }
  for (const char* name : {"missing", "f<", "", "f); int x("}) {
    const Compiled compiled =
        loaded->compile({"mine.cu", "__global__ void f() {}", {"-arch=sm_90a"}, {name}, {}});
    EXPECT_FALSE(compiled.ok) << name;
    EXPECT_FALSE(compiled.error.empty()) << name;
  }
}

TEST(Nvrtc, UnknownOptionIsData) {
  const auto loaded = nvrtc();
  if (!loaded) {
    GTEST_SKIP() << "no libnvrtc.so on this machine";
  }
  const Compiled compiled = loaded->compile({"mine.cu", "", {"--no-such-option"}, {}, {}});
  EXPECT_FALSE(compiled.ok);
  EXPECT_EQ(compiled.error, "NVRTC_ERROR_INVALID_OPTION");
}

TEST(HarnessImage, CompilesForHopperWithAllItsKernels) {
  if (!nvrtc()) {
    GTEST_SKIP() << "no libnvrtc.so on this machine";
  }
  const Image image = harness_image("sm_90a");
  EXPECT_TRUE(is_elf(image));
  EXPECT_EQ(image.kernels.size(), 14U);
  for (const Kernel& kernel : image.kernels) {
    EXPECT_FALSE(kernel.lowered.empty()) << kernel.name;
  }
}

TEST(HarnessImage, UnknownArchitectureSaysSo) {
  if (!nvrtc()) {
    GTEST_SKIP() << "no libnvrtc.so on this machine";
  }
  try {
    static_cast<void>(harness_image("sm_12345"));
    FAIL();
  } catch (const util::InfraError& error) {
    EXPECT_EQ(error.code(), "E_HARNESS_KERNELS");
    EXPECT_THAT(error.what(), HasSubstr("sm_12345"));
  }
}

}  // namespace
}  // namespace sweep::device::cuda
