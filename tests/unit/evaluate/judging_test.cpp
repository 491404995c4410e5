#include "evaluate/judging.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace sweep::evaluate {
namespace {

using device::Fault;

problem::Problem fp32() {
  problem::Problem problem;
  problem.precision = problem::Precision::fp32;
  return problem;
}

TEST(Classify, MostlyUnwrittenIsUnwritten) {
  problem::Comparison comparison;
  comparison.count = 1000;
  comparison.bad = 100;
  comparison.unwritten = 60;
  EXPECT_EQ(classify(fp32(), comparison), Verdict::incorrect_unwritten);
  comparison.unwritten = 40;
  comparison.worst = 1e12;
  EXPECT_EQ(classify(fp32(), comparison), Verdict::incorrect_value);
}

TEST(Classify, SmallErrorsEverywhereAreAMatterOfPrecision) {
  problem::Comparison comparison;
  comparison.count = 1000;
  comparison.bad = 400;
  comparison.worst = 50;
  EXPECT_EQ(classify(fp32(), comparison), Verdict::incorrect_precision);
  comparison.worst = 1e9;
  EXPECT_EQ(classify(fp32(), comparison), Verdict::incorrect_value);
  comparison.worst = 50;
  comparison.bad = 1;
  EXPECT_EQ(classify(fp32(), comparison), Verdict::incorrect_value);
  comparison.bad = 0;
  comparison.tensor_rms_bad = true;
  EXPECT_EQ(classify(fp32(), comparison), Verdict::incorrect_precision);
}

TEST(FaultVerdict, FollowsKindAndPlace) {
  EXPECT_EQ(verdict_of({Fault::Kind::launch, ""}, false, false), Verdict::launch_error);
  EXPECT_EQ(verdict_of({Fault::Kind::timeout, ""}, false, false), Verdict::timeout);
  EXPECT_EQ(verdict_of({Fault::Kind::out_of_memory, ""}, false, false), Verdict::out_of_memory);
  EXPECT_EQ(verdict_of({Fault::Kind::other, ""}, true, true), Verdict::runtime_fault);
  EXPECT_EQ(verdict_of({Fault::Kind::memory, ""}, true, false), Verdict::incorrect_input_mutated);
  EXPECT_EQ(verdict_of({Fault::Kind::memory, ""}, false, true), Verdict::incorrect_out_of_bounds);
  EXPECT_EQ(verdict_of({Fault::Kind::memory, ""}, false, false), Verdict::runtime_fault);
}

TEST(Poison, IsNoValueThatAKernelMeans) {
  for (std::uint64_t n = 0; n < 20000; ++n) {
    const std::uint32_t word = poison_word(n);
    for (int byte = 0; byte < 4; ++byte) {
      EXPECT_GE((word >> (8 * byte)) & 0xffU, 2U);
    }
    // Both halves are NaN as f16: exponent all ones, mantissa not zero.
    for (const std::uint32_t half : {word & 0xffffU, word >> 16U}) {
      EXPECT_EQ(half & 0x7c00U, 0x7c00U);
      EXPECT_NE(half & 0x03ffU, 0U);
    }
    EXPECT_GT(std::abs(std::bit_cast<float>(word)), 1e36F);
    EXPECT_GT(std::abs(std::bit_cast<double>((std::uint64_t{word} << 32U) | word)), 1e290);
  }
  EXPECT_NE(poison_word(1), poison_word(2));
}

template <class T>
std::vector<std::byte> bytes_of(std::initializer_list<T> values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), std::data(values), bytes.size());
  return bytes;
}

std::vector<double> reals(const std::vector<std::byte>& bytes) {
  std::vector<double> values(bytes.size() / sizeof(double));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(Widen, GivesTheExactValue) {
  EXPECT_EQ(reals(widen(expr::DType::f32, bytes_of<float>({1.5F, -0.1F}))),
            (std::vector<double>{1.5, double{-0.1F}}));
  EXPECT_EQ(
      reals(widen(expr::DType::f16, bytes_of<std::uint16_t>({0x3c00, 0xc000, 0x0001, 0x7bff}))),
      (std::vector<double>{1, -2, std::ldexp(1.0, -24), 65504}));
  EXPECT_EQ(reals(widen(expr::DType::bf16, bytes_of<std::uint16_t>({0x3f80, 0xc040}))),
            (std::vector<double>{1, -3}));
  EXPECT_EQ(reals(widen(expr::DType::e4m3, bytes_of<std::uint8_t>({0x38, 0x7e, 0x01}))),
            (std::vector<double>{1, 448, std::ldexp(1.0, -9)}));
  EXPECT_EQ(reals(widen(expr::DType::e5m2, bytes_of<std::uint8_t>({0x3c, 0x7b}))),
            (std::vector<double>{1, 57344}));
  EXPECT_TRUE(std::isnan(reals(widen(expr::DType::e4m3, bytes_of<std::uint8_t>({0x7f})))[0]));
  EXPECT_TRUE(std::isinf(reals(widen(expr::DType::f16, bytes_of<std::uint16_t>({0x7c00})))[0]));
  const auto integers = bytes_of<std::int32_t>({1, -7});
  EXPECT_EQ(widen(expr::DType::i32, integers), integers);
}

}  // namespace
}  // namespace sweep::evaluate
