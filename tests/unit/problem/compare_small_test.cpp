// Outputs of few elements, whose errors scatter.
#include "compare_case.h"
#include "problem/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace sweep::problem {
namespace {

using testing_case::Case;
using testing_case::close_f32;

// Eight outputs, as of a reduction: float sums of blocks added in any order, beside a seed that
// adds in pairs. The rms of eight errors scatters; none of these may fail by chance.
TEST(Compare, HonestSumsOfFewOutputsPass) {
  constexpr std::int64_t kOutputs = 8;
  constexpr std::size_t kBlocks = 64;
  constexpr std::size_t kLength = 64;
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<float> uniform(-0.2F, 1);
  for (int round = 0; round < 500; ++round) {
    Case c(1, kOutputs, 0, 1);
    for (std::size_t k = 0; k < kOutputs; ++k) {
      std::vector<float> sums(kBlocks, 0);
      double exact = 0;
      for (float& sum : sums) {
        for (std::size_t i = 0; i < kLength; ++i) {
          const float x = uniform(engine);
          sum += x;
          exact += static_cast<double>(x);
        }
      }
      c.r[k] = exact;
      std::vector<float> pairs = sums;
      for (std::size_t n = kBlocks / 2; n > 0; n /= 2) {
        for (std::size_t i = 0; i < n; ++i) {
          pairs[i] += pairs[i + n];
        }
      }
      c.s[k] = pairs[0];
      std::shuffle(sums.begin(), sums.end(), engine);
      c.y[k] = std::accumulate(sums.begin(), sums.end(), 0.0F);
    }
    CompareParameters p = close_f32(1, kOutputs);
    p.scale = kScaleElement;
    const Comparison out = compare(p, {kOutputs}, c.inputs());
    EXPECT_TRUE(out.pass) << round << ": " << out.text("y");
    EXPECT_LT(out.worst_rms, 0.9);
  }
}

// The same with sums of mean zero: some of them are near zero, and no more accurate for it. By its
// own size alone one of the eight fails in a part of the rounds.
TEST(Compare, HonestSumsThatCancelPass) {
  constexpr std::int64_t kOutputs = 8;
  constexpr std::size_t kBlocks = 64;
  constexpr std::size_t kLength = 64;
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  int alone = 0;
  for (int round = 0; round < 500; ++round) {
    Case c(1, kOutputs, 0, 1);
    for (std::size_t k = 0; k < kOutputs; ++k) {
      std::vector<float> sums(kBlocks, 0);
      double exact = 0;
      for (float& sum : sums) {
        for (std::size_t i = 0; i < kLength; ++i) {
          const float x = uniform(engine);
          sum += x;
          exact += static_cast<double>(x);
        }
      }
      c.r[k] = exact;
      std::vector<float> pairs = sums;
      for (std::size_t n = kBlocks / 2; n > 0; n /= 2) {
        for (std::size_t i = 0; i < n; ++i) {
          pairs[i] += pairs[i + n];
        }
      }
      c.s[k] = pairs[0];
      std::shuffle(sums.begin(), sums.end(), engine);
      c.y[k] = std::accumulate(sums.begin(), sums.end(), 0.0F);
    }
    CompareParameters p = close_f32(1, kOutputs);
    p.scale = kScaleElement;
    p.least_scale = 0.577 * 64;  // of 4096 terms
    const Comparison out = compare(p, {kOutputs}, c.inputs());
    p.least_scale = 0;
    alone += compare(p, {kOutputs}, c.inputs()).pass ? 0 : 1;
    EXPECT_TRUE(out.pass) << round << ": " << out.text("y");
    EXPECT_LT(out.worst_rms, 0.9);
  }
  EXPECT_GT(alone, 0);
}

}  // namespace
}  // namespace sweep::problem
