#include "evaluate/admission/values.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace sweep::evaluate::admission {
namespace {

using expr::DType;
using problem::Precision;

TEST(AdmissionValues, EveryTypeKeepsNumbersThatItHolds) {
  const std::vector<double> numbers = {1, 0, 0.5, 1};
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::e4m3}) {
    EXPECT_EQ(reals(type, packed(type, numbers)), numbers) << expr::name(type);
  }
  const std::vector<double> whole = {1, 0, 1, 1};
  for (const DType type : {DType::i64, DType::i8, DType::u64, DType::u32, DType::boolean}) {
    EXPECT_EQ(reals(type, packed(type, whole)), whole) << expr::name(type);
  }
}

TEST(AdmissionValues, IntegersAreCutToTheirRange) {
  const std::array values = {300.0, -5.0};
  EXPECT_EQ(reals(DType::i8, packed(DType::i8, values)), (std::vector<double>{127, -5}));
  EXPECT_EQ(reals(DType::boolean, packed(DType::boolean, values)), (std::vector<double>{1, 0}));
}

TEST(AdmissionValues, NarrowedRoundsWhatTheOracleHasInDouble) {
  const std::array third = {1.0 / 3};
  const Bytes wide = packed(DType::f64, third);
  EXPECT_EQ(reals(DType::f32, narrowed(DType::f32, wide)),
            (std::vector<double>{static_cast<double>(1.0F / 3)}));
  const std::array<double, 1> seven = {7};
  const Bytes whole = packed(DType::i32, seven);
  EXPECT_EQ(narrowed(DType::i32, whole), whole);
}

TEST(AdmissionValues, ClassesKeepTheirBits) {
  EXPECT_EQ(rounded(1 + 0x1p-10, Precision::tf32), 1 + 0x1p-10);
  EXPECT_EQ(rounded(1 + 0x1p-11, Precision::tf32), 1);  // half, to even
  EXPECT_EQ(rounded(1 + 0x1.8p-11, Precision::tf32), 1 + 0x1p-10);
  EXPECT_EQ(rounded(1e30 * (1 + 0x1p-20), Precision::tf32), rounded(1e30, Precision::tf32));
  EXPECT_EQ(rounded(-(1 + 0x1p-8), Precision::bf16), -1);
  EXPECT_EQ(rounded(1.1, Precision::e4m3), 1.125);
  EXPECT_EQ(rounded(1e4, Precision::fp8), 448);
  EXPECT_EQ(rounded(1 + 0x1p-30, Precision::fp32), 1);
  EXPECT_EQ(rounded(1.1, Precision::fp64), 1.1);
  EXPECT_EQ(rounded(0, Precision::bf16), 0);
}

TEST(AdmissionValues, RoundingTensorsLeavesIntegersAlone) {
  const std::array values = {1001.0, 3.0};
  const Bytes whole = packed(DType::i32, values);
  EXPECT_EQ(rounded(DType::i32, whole, Precision::bf16), whole);
  EXPECT_EQ(reals(DType::f32, rounded(DType::f32, packed(DType::f32, values), Precision::bf16)),
            (std::vector<double>{1000, 3}));
}

}  // namespace
}  // namespace sweep::evaluate::admission
