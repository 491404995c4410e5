#include "problem/compare.h"

#include "compare_case.h"
#include "examples.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace sweep::problem {
namespace {

using testing_case::Case;
using testing_case::close_f32;
using testing_case::kEps;

TEST(Compare, HonestErrorsPass) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Comparison c = Case(64, 128, 3, seed).run();
    EXPECT_TRUE(c.pass) << c.text("y");
    EXPECT_GT(c.worst, 0);
    EXPECT_LT(c.worst, 1);
  }
}

TEST(Compare, FindsOneWrongElement) {
  Case c(64, 128);
  c.y[17 * 128 + 5] += 0.01F;
  const Comparison out = c.run();
  EXPECT_FALSE(out.pass);
  EXPECT_EQ(out.bad, 1);
  EXPECT_THAT(out.first_bad, testing::ElementsAre(17, 5));
  EXPECT_NEAR(out.got - out.expected, 0.01, 1e-4);
  EXPECT_GT(out.worst, 10);
  EXPECT_THAT(out.text("y"), testing::StartsWith("y[17, 5]: expected "));
}

TEST(Compare, NamesThePattern) {
  const auto pattern = [](const std::function<bool(std::int64_t, std::int64_t)>& wrong) {
    Case c(64, 128);
    for (std::int64_t i = 0; i < 64 * 128; ++i) {
      if (wrong(i / 128, i % 128)) {
        c.y[static_cast<std::size_t>(i)] += 1.0F;
      }
    }
    return c.run().pattern;
  };
  EXPECT_EQ(pattern([](auto, auto) { return true; }), "all");
  EXPECT_EQ(pattern([](auto r, auto) { return r >= 3 && r < 8; }), "rows 3..7");
  EXPECT_EQ(pattern([](auto r, auto) { return r == 63; }), "rows 63 (tail)");
  EXPECT_EQ(pattern([](auto, auto c) { return c >= 96; }), "columns 96..127 (tail)");
  EXPECT_EQ(pattern([](auto r, auto c) { return r >= 32 && c >= 64 && c < 96; }),
            "tile 32 x 32 at (32, 64)");
  EXPECT_EQ(pattern([](auto r, auto c) { return r * 128 + c >= 63 * 128 + 100; }),
            "tile 1 x 28 at (63, 100)");
  EXPECT_EQ(pattern([](auto r, auto c) { return r * 128 + c >= 62 * 128 + 100; }),
            "within rows 62..63 (tail)");
  EXPECT_EQ(pattern([](auto r, auto c) { return (r * 131 + c * 17) % 97 == 0; }), "scattered");
}

TEST(Compare, NanAndPoison) {
  Case c(8, 32);
  c.y[40] = std::nanf("");
  Comparison out = c.run();
  EXPECT_FALSE(out.pass);
  EXPECT_EQ(out.nan, 1);
  EXPECT_TRUE(std::isinf(out.worst));

  Case d(8, 32);
  const std::uint32_t poison = 0x7FC12345U;
  for (std::size_t i = 200; i < 256; ++i) {
    std::memcpy(&d.y[i], &poison, 4);
  }
  CompareInputs inputs = d.inputs();
  inputs.poison = poison;
  out = compare(close_f32(8, 32), {8, 32}, inputs);
  EXPECT_EQ(out.unwritten, 56);
  EXPECT_EQ(out.bad, 56);
}

TEST(Compare, PolicyAllowsEqualMasksOfNanAndInfinity) {
  Case c(4, 32);
  CompareParameters p = close_f32(4, 32);
  p.allow_nan = p.allow_infinity = 1;
  c.r[3] = std::nan("");
  c.r[70] = -1e300;  // beyond fp32
  c.y[3] = std::nanf("");
  c.y[70] = -std::numeric_limits<float>::infinity();
  EXPECT_TRUE(compare(p, {4, 32}, c.inputs()).pass);
  c.y[70] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(compare(p, {4, 32}, c.inputs()).pass);
  c.y[70] = -std::numeric_limits<float>::infinity();
  c.y[5] = std::nanf("");
  EXPECT_FALSE(compare(p, {4, 32}, c.inputs()).pass);
}

// A matrix product whose factors were cut to 10 mantissa bits must not pass as fp32.
TEST(Compare, LowerPrecisionFails) {
  constexpr std::int64_t n = 48, k = 256;
  std::mt19937_64 engine(5);
  std::normal_distribution<float> normal;
  std::vector<float> a(n * k), b(k * n);
  for (float& x : a) {
    x = normal(engine);
  }
  for (float& x : b) {
    x = normal(engine);
  }
  const auto product = [&](auto cut, auto zero, bool backwards) {
    std::vector<decltype(zero)> out;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        auto sum = zero;
        for (std::int64_t q = 0; q < k; ++q) {
          const std::int64_t at = backwards ? k - 1 - q : q;
          sum += static_cast<decltype(zero)>(cut(a[static_cast<std::size_t>(i * k + at)])) *
                 static_cast<decltype(zero)>(cut(b[static_cast<std::size_t>(at * n + j)]));
        }
        out.push_back(sum);
      }
    }
    return out;
  };
  const auto whole = [](float x) { return x; };
  const auto tf32 = [](float x) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &x, 4);
    bits = (bits + 0x1000U) & ~0x1FFFU;
    std::memcpy(&x, &bits, 4);
    return x;
  };
  const std::vector<double> r = product(whole, 0.0, false);
  const std::vector<float> s = product(whole, 0.0F, false), other = product(whole, 0.0F, true),
                           low = product(tf32, 0.0F, false);
  CompareInputs inputs;
  inputs.oracle = std::as_bytes(std::span(r));
  inputs.seed = std::as_bytes(std::span(s));
  inputs.got = std::as_bytes(std::span(other));
  EXPECT_TRUE(compare(close_f32(n, n), {n, n}, inputs).pass);
  inputs.got = std::as_bytes(std::span(low));
  const Comparison out = compare(close_f32(n, n), {n, n}, inputs);
  EXPECT_FALSE(out.pass);
  EXPECT_GT(std::max(out.worst, out.worst_rms), 3);
}

// An error too small for the element rule, but everywhere: the rms rule sees it.
TEST(Compare, RmsRuleSeesSystematicErrors) {
  Case c(64, 128, 3);
  const CompareParameters p = close_f32(64, 128);
  const double e_rms = c.run().e_rms;
  for (std::int64_t row = 10; row < 12; ++row) {
    for (std::int64_t k = 0; k < 128; ++k) {
      const auto i = static_cast<std::size_t>(row * 128 + k);
      c.y[i] = static_cast<float>(c.r[i] + (k % 2 == 0 ? 1 : -1) * 15 * 7 * e_rms);
    }
  }
  const Comparison out = compare(p, {64, 128}, c.inputs());
  EXPECT_EQ(out.bad, 0);
  EXPECT_EQ(out.bad_rows, 2);
  EXPECT_FALSE(out.pass);
}

// Rows that share one rounding, as by their mean: the seed's is small by luck in some.
TEST(Compare, ASharedErrorIsNotHeldToTheSeedsLuck) {
  constexpr std::int64_t kRows = 2000, kColumns = 100;
  Case c(kRows, kColumns, 3);
  std::mt19937_64 engine(5);
  std::normal_distribution<double> draw(0, 1e-4);
  const auto shift = [&](std::vector<float>& values) {
    for (std::int64_t row = 0; row < kRows; ++row) {
      const double error = draw(engine);
      for (std::int64_t k = 0; k < kColumns; ++k) {
        const auto i = static_cast<std::size_t>(row * kColumns + k);
        values[i] = static_cast<float>(c.r[i] + error);
      }
    }
  };
  shift(c.s);
  shift(c.y);
  const CompareParameters p = close_f32(kRows, kColumns);
  EXPECT_TRUE(compare(p, {kRows, kColumns}, c.inputs()).pass);
  // Twenty times as much in one row is no luck.
  for (std::int64_t k = 0; k < kColumns; ++k) {
    const auto i = static_cast<std::size_t>(7 * kColumns + k);
    c.y[i] = static_cast<float>(c.r[i] + 2e-3);
  }
  const Comparison out = compare(p, {kRows, kColumns}, c.inputs());
  EXPECT_EQ(out.bad_rows, 1);
}

// One row of 1,000 in which the seed is lost lets no other row be of low precision.
TEST(Compare, ARowInWhichTheSeedIsLostOpensNoOther) {
  constexpr std::int64_t kRows = 1000, kColumns = 128;
  Case c(kRows, kColumns, 3);
  for (std::int64_t k = 0; k < kColumns; ++k) {
    c.s[static_cast<std::size_t>(k)] += 1000;
  }
  for (std::size_t i = kColumns; i < c.y.size(); ++i) {
    std::uint32_t bits = 0;
    const auto right = static_cast<float>(c.r[i]);
    std::memcpy(&bits, &right, 4);
    bits = (bits + 0x1000U) & ~0x1FFFU;  // tf32
    std::memcpy(&c.y[i], &bits, 4);
  }
  const Comparison out = compare(close_f32(kRows, kColumns), {kRows, kColumns}, c.inputs());
  EXPECT_EQ(out.bad_rows, kRows - 1);
}

TEST(Compare, CeilingLimitsASloppySeed) {
  Case c(64, 128, 3);
  for (float& s : c.s) {
    s += 5.0F;
  }
  for (float& y : c.y) {
    y += 1.0F;
  }
  const Comparison out = c.run();
  EXPECT_DOUBLE_EQ(out.e_max, 4096 * kEps);
  EXPECT_FALSE(out.pass);
}

TEST(Compare, BaseMeasuresTheStep) {
  // y = base + tiny step: without `base` the step drowns in the scale.
  Case c(16, 64, 0);
  std::vector<float> base(c.y.size());
  for (std::size_t i = 0; i < base.size(); ++i) {
    base[i] = static_cast<float>(c.r[i]);
    c.r[i] = static_cast<double>(base[i]) + 1e-5 * std::sin(static_cast<double>(i));
    c.s[i] = static_cast<float>(c.r[i]);
    c.y[i] = base[i];  // no step at all
  }
  CompareInputs inputs = c.inputs();
  EXPECT_TRUE(compare(close_f32(16, 64), {16, 64}, inputs).pass);
  inputs.base = std::as_bytes(std::span(base));
  EXPECT_FALSE(compare(close_f32(16, 64), {16, 64}, inputs).pass);
}

TEST(Compare, UnlessAndElse) {
  Case c(64, 16);
  std::vector<std::uint8_t> unless(64, 0);
  std::vector<double> otherwise(c.r.size());
  unless[9] = 1;
  for (std::size_t i = 0; i < otherwise.size(); ++i) {
    otherwise[i] = -c.r[i];
  }
  for (std::size_t i = 9 * 16; i < 10 * 16; ++i) {
    c.y[i] = static_cast<float>(otherwise[i]);
  }
  CompareInputs inputs = c.inputs();
  EXPECT_FALSE(compare(close_f32(64, 16), {64, 16}, inputs).pass);
  inputs.unless = unless;
  inputs.otherwise = otherwise;
  Comparison out = compare(close_f32(64, 16), {64, 16}, inputs);
  EXPECT_TRUE(out.pass) << out.text("y");
  EXPECT_EQ(out.ambiguous, 16);
  c.y[9 * 16] += 1.0F;  // neither branch
  EXPECT_FALSE(compare(close_f32(64, 16), {64, 16}, inputs).pass);
  c.y[9 * 16] -= 1.0F;
  unless[20] = 1;  // two rows take the other branch: more than one in a thousand
  for (std::size_t i = 20 * 16; i < 21 * 16; ++i) {
    c.y[i] = static_cast<float>(otherwise[i]);
  }
  out = compare(close_f32(64, 16), {64, 16}, inputs);
  EXPECT_TRUE(out.too_ambiguous);
  EXPECT_FALSE(out.pass);
}

TEST(Compare, IntegersAndBoolsAreExact) {
  CompareParameters p;
  p.type = kTypeBool;
  p.bitwise = 1;
  p.count = 4;
  p.row_length = p.columns = 4;
  const std::vector<std::uint8_t> r{0, 1, 1, 0};
  std::vector<std::uint8_t> y = r;
  const auto run = [&] {
    CompareInputs inputs;
    inputs.got = std::as_bytes(std::span(y));
    inputs.oracle = std::as_bytes(std::span(r));
    return compare(p, {4}, inputs);
  };
  EXPECT_TRUE(run().pass);
  y[2] = 2;
  EXPECT_FALSE(run().pass);
  y[2] = 0;
  EXPECT_THAT(run().first_bad, testing::ElementsAre(2));
}

TEST(Compare, CopiedFloatsBitwise) {
  CompareParameters p = close_f32(1, 3);
  p.bitwise = 1;
  const std::vector<double> r{1.0, 0.1, std::nan("")};
  std::vector<float> y{1.0F, 0.1F, std::nanf("")};
  CompareInputs inputs;
  inputs.got = std::as_bytes(std::span(y));
  inputs.oracle = std::as_bytes(std::span(r));
  EXPECT_TRUE(compare(p, {3}, inputs).pass);
  y[1] = std::nextafter(0.1F, 1.0F);
  EXPECT_EQ(compare(p, {3}, inputs).bad, 1);
}

TEST(Compare, SeedAloneBoundsTimedCalls) {
  Case c(64, 128, 3);
  const Comparison checked = c.run();
  const CompareParameters p = seed_rule(close_f32(64, 128), checked.e_max);
  CompareInputs inputs;
  inputs.got = std::as_bytes(std::span(c.y));
  inputs.oracle = std::as_bytes(std::span(c.s));
  Comparison out = compare(p, {64, 128}, inputs);
  EXPECT_TRUE(out.pass) << out.text("y");
  EXPECT_EQ(out.e_max, checked.e_max);
  c.y[777] += 0.01F;
  out = compare(p, {64, 128}, inputs);
  EXPECT_FALSE(out.pass);
  EXPECT_EQ(out.bad, 1);
}

// (c_max + 1) e_max scale, no less and no more: the seed's own error and the candidate's allowance.
TEST(Compare, SeedRuleAllowsOneMoreThanTheOracleRule) {
  CompareParameters p = close_f32(1, 64);
  p.scale = kScaleElement;
  p.ulps = 0;
  p.c_max = 8;
  const double e_max = 1e-3;
  const std::vector<float> s(64, 1.0F);
  for (const double error : {8.9e-3, 9.1e-3}) {
    std::vector<float> y = s;
    y[5] += static_cast<float>(error);
    CompareInputs inputs;
    inputs.got = std::as_bytes(std::span(y));
    inputs.oracle = std::as_bytes(std::span(s));
    EXPECT_EQ(compare(seed_rule(p, e_max), {1, 64}, inputs).pass, error < 9e-3) << error;
  }
}

TEST(Compare, CheckErrorsAboveOneFail) {
  const std::vector<double> good{0, 0.5, 1.0}, bad{0, 1.5, std::nan("")};
  EXPECT_TRUE(compare_errors({3}, good).pass);
  const Comparison out = compare_errors({3}, bad);
  EXPECT_EQ(out.bad, 2);
  EXPECT_EQ(out.nan, 1);
  EXPECT_THAT(out.first_bad, testing::ElementsAre(1));
}

TEST(Compare, UnlessIsEvaluatedOverAux) {
  const Problem problem = examples::problem(examples::kHmc);
  const Draw draw =
      make_draw(problem, "t", {{"chains", 4}, {"dim", 2}, {"steps", 1}}, "default", Key{});
  const std::vector<double> margin{1, 5e-5, -5e-5, std::nan("")};
  EXPECT_THAT(
      evaluate_unless(*problem.tolerance("q_next")->unless, problem, draw, {{"margin", margin}}),
      testing::ElementsAre(0, 1, 1, 0));
}

TEST(Compare, ParametersFollowTheProblem) {
  const Problem problem = examples::problem(examples::kHmc);
  const Draw draw =
      make_draw(problem, "t", {{"chains", 100}, {"dim", 64}, {"steps", 1}}, "default", Key{});
  CompareParameters p =
      compare_parameters(problem, concrete(problem, *problem.tensor("q_next"), draw));
  EXPECT_EQ(p.row_length, 64);
  EXPECT_EQ(p.bitwise, 0U);
  p = compare_parameters(problem, concrete(problem, *problem.tensor("accepted"), draw));
  EXPECT_EQ(p.bitwise, 1U);
  // Rows of five elements are joined until they have sixteen.
  const Draw narrow =
      make_draw(problem, "t", {{"chains", 100}, {"dim", 5}, {"steps", 1}}, "default", Key{});
  p = compare_parameters(problem, concrete(problem, *problem.tensor("q_next"), narrow));
  EXPECT_EQ(p.row_length, 500);
  const Draw tiny =
      make_draw(problem, "t", {{"chains", 3}, {"dim", 5}, {"steps", 1}}, "default", Key{});
  p = compare_parameters(problem, concrete(problem, *problem.tensor("q_next"), tiny));
  EXPECT_EQ(p.scale, kScaleElement);
}

TEST(Compare, ThreadsDoNotChangeAnything) {
  Case c(7, 9001, 3);
  c.y[5000] += 1.0F;
  const Comparison a = c.run(1), b = c.run(3);
  EXPECT_EQ(a.worst, b.worst);
  EXPECT_EQ(a.worst_rms, b.worst_rms);
  EXPECT_EQ(a.e_rms, b.e_rms);
  EXPECT_EQ(a.first_bad, b.first_bad);
}

}  // namespace
}  // namespace sweep::problem
