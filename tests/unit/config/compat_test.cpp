#include "../../support/test_name.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace sweep::config {
namespace {

using namespace testing;

// PopcornBench's own configurations, where somebody has put them: $SWEEP_SHARED or ../shared.
std::filesystem::path folder() {
  const char* set = std::getenv("SWEEP_SHARED");
  const std::filesystem::path shared =
      set != nullptr && *set != '\0' ? std::filesystem::path(set)
                                     : std::filesystem::path(SWEEP_SOURCE_DIR) / ".." / "shared";
  return shared / "compat-configs";
}

struct Upstream {
  const char* file;
  std::size_t items;
  const char* first;
  std::string harness;
};

class Compat : public ::testing::TestWithParam<Upstream> {};

TEST_P(Compat, LoadsUnchangedWithTheSameMatrix) {
  const auto file = folder() / GetParam().file;
  if (!std::filesystem::exists(file)) {
    GTEST_SKIP() << file << " is not there; set SWEEP_SHARED";
  }
  const Loaded loaded = load(file);
  const Matrix matrix = expand(loaded.config, catalogue());
  EXPECT_EQ(matrix.items.size(), GetParam().items);
  EXPECT_EQ(matrix.items[0].id(), GetParam().first);
  EXPECT_EQ(loaded.config.agent.harness.name, GetParam().harness);
  EXPECT_FALSE(loaded.warnings.empty());
  EXPECT_FALSE(preview_cost(loaded.config, matrix.items).usd.has_value());
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Compat,
    ::testing::Values(
        Upstream{"sweep.example.toml", 5 * (100 + 32), "original/gpt-5.4-pro/level1/1", "default"},
        Upstream{"sweep.alphaevolve.toml",
                 3,
                 "original/alphaevolve-gemini-3-mixture/level1/1",
                 "default"},
        Upstream{"sweep.l1234_popcorn2_bench_all.toml",
                 3 * 34,
                 "popcorn2/gpt-5.5-priority/level1/2",
                 "all"},
        Upstream{"sweep.l5_hw_translation_default.toml",
                 4 * 16,
                 "hardware_translation_stub/gpt-5.5-priority/level5/1",
                 "default"}),
    sweep::test::named(&Upstream::file));

TEST(CompatSlate, IsReadBySlatePath) {
  const auto file = folder() / "popcorn2_bench_slate_v1.toml";
  if (!std::filesystem::exists(file)) {
    GTEST_SKIP() << file << " is not there; set SWEEP_SHARED";
  }
  const SweepConfig c =
      parse(with("slate = \"popcorn2_bench_slate_v1.toml\""), "x.toml", folder()).config;
  EXPECT_EQ(expand(c, catalogue()).items.size(), 34U);
}

}  // namespace
}  // namespace sweep::config
