#include "problem/device/fill.cuh"

#include <gmock/gmock.h>

#include <cmath>
#include <set>
#include <vector>

// Random numbers and conversions as fills use them, the same text on host and device.
namespace sweep::problem {
namespace {

TEST(Random, ElementaryFunctionsMatchTheLibrary) {
  for (double x = 1e-300; x < 1e300; x *= 1.7) {
    EXPECT_NEAR(random::log_of(x), std::log(x), 4e-16 * std::max(1.0, std::fabs(std::log(x))));
  }
  for (double x = -690; x < 690; x += 0.37) {
    EXPECT_NEAR(random::exp_of(x) / std::exp(x), 1.0, 2e-13) << x;
  }
  for (double t = 0; t < 1; t += 0.00037) {
    EXPECT_NEAR(random::cos_turns(t), std::cos(2 * M_PI * t), 2e-15) << t;
  }
}

TEST(Random, PhiloxMatchesPublishedVectors) {
  // Known answers of the Random123 distribution for philox4x32-10.
  const random::Words zero = random::philox(0, 0, 0);
  EXPECT_THAT(zero.w, testing::ElementsAre(0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U));
  const random::Words ones = random::philox(~0ULL, ~0ULL, ~0ULL);
  EXPECT_THAT(ones.w, testing::ElementsAre(0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU));
}

TEST(Random, PermutedIsABijection) {
  for (const random::U64 n : {1U, 2U, 3U, 5U, 64U, 1000U}) {
    std::set<random::U64> seen;
    for (random::U64 i = 0; i < n; ++i) {
      const random::U64 at = random::permuted(99 + n, i, n);
      EXPECT_LT(at, n);
      seen.insert(at);
    }
    EXPECT_EQ(seen.size(), n);
  }
}

// Conversions agree with the arithmetic definition: the nearest of all patterns.
TEST(Convert, RoundsToTheNearestPattern) {
  for (const unsigned type : {kTypeF16, kTypeBf16, kTypeE4m3, kTypeE5m2}) {
    const FloatFormat format = format_of(type);
    std::vector<double> grid;
    for (U32 pattern = 0; pattern <= format.largest; ++pattern) {
      const double value = decode_small(pattern, type);
      grid.push_back(value);
      EXPECT_EQ(encode_small(value, format), pattern);
      EXPECT_TRUE(pattern == 0 || value > grid[pattern - 1]);
      if (pattern > 0) {
        const double middle = (value + grid[pattern - 1]) / 2;
        EXPECT_EQ(encode_small(middle, format), pattern % 2 == 0 ? pattern : pattern - 1);
        EXPECT_EQ(encode_small(std::nextafter(middle, 1e300), format), pattern);
        EXPECT_EQ(encode_small(-std::nextafter(middle, 0.0), format) &
                      ~(~0U << (format.exponent_bits + format.mantissa_bits)),
                  pattern - 1);
      }
    }
  }
  EXPECT_EQ(decode_small(0x7BFF, kTypeF16), 65504.0);
  EXPECT_EQ(decode_small(0x7E, kTypeE4m3), 448.0);
  EXPECT_EQ(decode_small(0x7B, kTypeE5m2), 57344.0);
  EXPECT_EQ(encode_small(1e9, format_of(kTypeE4m3)), 0x7EU);
  EXPECT_EQ(encode_small(1e9, format_of(kTypeF16)), 0x7C00U);
  EXPECT_TRUE(std::isnan(decode_small(0x7F, kTypeE4m3)));
  EXPECT_TRUE(std::isinf(decode_small(0x7C, kTypeE5m2)));
}

}  // namespace
}  // namespace sweep::problem
