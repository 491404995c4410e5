#include "evaluate/static_memory.h"

#include "problem/problem.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace sweep::evaluate {
namespace {

using testing::HasSubstr;

// On an H200, for a problem whose limit on scratch is well below a GiB.
std::string over(std::uint64_t static_bytes, std::uint64_t stack_bytes) {
  const problem::Problem problem =
      problem::require(std::filesystem::path(SWEEP_SOURCE_DIR) / "tests/data/problems/test/affine");
  const auto parsed = submission::parse("mine.cu",
                                        "//@ problem test/affine\n//@ scratch f32 t[rows]\n//@ "
                                        "k<<<1, 32>>>(x, shift, y, total, t)\n");
  compile::Result compiled;
  compiled.static_bytes = static_bytes;
  compiled.stack_bytes = stack_bytes;
  return over_memory(problem, std::get<submission::Submission>(parsed), compiled, 132);
}

TEST(StaticMemory, OrdinaryKernelsFit) {
  EXPECT_EQ(over(0, 0), "");
  EXPECT_EQ(over(1 << 16, 4096), "");
}

TEST(StaticMemory, BombsDoNot) {
  EXPECT_THAT(over(std::uint64_t{1} << 36, 0), HasSubstr("65536.0 MiB"));
  EXPECT_THAT(over(0, 500000), HasSubstr("500000 bytes a thread"));
  EXPECT_THAT(over(~std::uint64_t{0}, ~std::uint64_t{0}), HasSubstr("more than"));
}

// 132 multiprocessors of 2048 threads: 16 KiB each are 3 GiB above what is free.
TEST(StaticMemory, LocalMemoryCountsForAllThreads) {
  EXPECT_THAT(over(0, 4096 + 12288), HasSubstr("3168.0 MiB of local memory"));
}

}  // namespace
}  // namespace sweep::evaluate
