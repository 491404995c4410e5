#include "compare_case.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>

namespace sweep::problem {
namespace {

using testing_case::Case;
using testing_case::close_f32;

// The rule written a second time, straight from its text, in long double.
struct Naive {
  bool pass = true;
  std::int64_t bad = 0, bad_rows = 0;
  long double e_max = 0, e_rms = 0, worst = 0;
};

long double naive_ulp(double r) {
  int exponent = 0;
  std::frexp(r, &exponent);
  return std::ldexp(1.0L, std::max(r == 0 ? -200 : exponent - 1, -126) - 23);
}

Naive naive(const Case& c, const CompareParameters& p) {
  Naive out;
  const auto columns = static_cast<std::size_t>(c.columns);
  std::vector<long double> scale(c.r.size());
  long double all = 0;
  for (const double r : c.r) {
    all += static_cast<long double>(r) * r;
  }
  for (std::size_t i = 0; i < c.r.size(); ++i) {
    long double row = 0;
    for (std::size_t k = i / columns * columns; k < (i / columns + 1) * columns; ++k) {
      row += static_cast<long double>(c.r[k]) * c.r[k];
    }
    scale[i] = p.scale == kScaleElement
                   ? std::fabs(static_cast<long double>(c.r[i]))
                   : std::sqrt(p.scale == kScaleRow ? row / static_cast<long double>(columns)
                                                    : all / static_cast<long double>(c.r.size()));
  }
  const auto clamp = [&](long double e) {
    return std::min<long double>(std::max<long double>(e, p.floor), p.ceiling);
  };
  const auto rms = [&](const std::vector<float>& y, std::size_t from, std::size_t to) {
    long double sum = 0;
    for (std::size_t i = from; i < to; ++i) {
      const long double e = (static_cast<long double>(y[i]) - c.r[i]) / scale[i];
      sum += e * e;
    }
    return std::sqrt(sum / static_cast<long double>(to - from));
  };
  const auto ulps = [&](std::size_t from, std::size_t to) {
    long double sum = 0;
    for (std::size_t i = from; i < to; ++i) {
      sum += std::pow(naive_ulp(c.r[i]) / scale[i], 2.0L);
    }
    return std::sqrt(sum / static_cast<long double>(to - from));
  };
  for (std::size_t i = 0; i < c.r.size(); ++i) {
    out.e_max =
        std::max(out.e_max, std::fabs(static_cast<long double>(c.s[i]) - c.r[i]) / scale[i]);
  }
  out.e_max = clamp(out.e_max);
  out.e_rms = clamp(rms(c.s, 0, c.r.size()));
  for (std::size_t i = 0; i < c.r.size(); ++i) {
    const long double allowed =
        std::max(p.ulps * naive_ulp(c.r[i]), p.c_max * out.e_max * scale[i]);
    const long double share = std::fabs(static_cast<long double>(c.y[i]) - c.r[i]) / allowed;
    out.worst = std::max(out.worst, share);
    out.bad += share > 1 ? 1 : 0;
  }
  const auto c_rms = [&](std::size_t n) {
    return p.c_rms * (1 + 5 / std::sqrt(static_cast<long double>(n)));
  };
  long double mean = 0;
  for (std::size_t from = 0; from < c.r.size(); from += columns) {
    mean += std::min<long double>(rms(c.s, from, from + columns), p.ceiling) *
            static_cast<long double>(columns) / static_cast<long double>(c.r.size());
  }
  for (std::size_t from = 0; from < c.r.size(); from += columns) {
    long double e = std::max(clamp(rms(c.s, from, from + columns)), clamp(2 * mean));
    e = columns < 64 ? std::max(e, out.e_rms) : e;
    const long double allowed = std::max(p.ulps * ulps(from, from + columns), c_rms(columns) * e);
    out.bad_rows += rms(c.y, from, from + columns) > allowed ? 1 : 0;
  }
  const bool tensor = rms(c.y, 0, c.r.size()) >
                      std::max(p.ulps * ulps(0, c.r.size()), c_rms(c.r.size()) * out.e_rms);
  out.pass = out.bad == 0 && out.bad_rows == 0 && !tensor;
  return out;
}

TEST(Compare, SharedTextEqualsTheRuleWrittenTwice) {
  std::mt19937_64 engine(11);
  int failing = 0;
  for (int round = 0; round < 300; ++round) {
    const auto columns = static_cast<std::int64_t>(16 + engine() % 120),
               rows = static_cast<std::int64_t>(1 + engine() % 40);
    Case c(rows, columns, 1 + static_cast<double>(engine() % 8), engine());
    for (std::uint64_t k = engine() % 4; k > 0; --k) {
      c.y[engine() % c.y.size()] += static_cast<float>(engine() % 100) * 1e-5F;
    }
    CompareParameters p = close_f32(rows, columns);
    p.scale = std::array{kScaleRow, kScaleTensor, kScaleElement}[engine() % 3];
    const Comparison got =
        compare(p, {rows, columns}, c.inputs(), 1 + static_cast<int>(engine() % 3));
    const Naive want = naive(c, p);
    EXPECT_EQ(got.bad, want.bad);
    EXPECT_EQ(got.bad_rows, want.bad_rows);
    EXPECT_EQ(got.pass, want.pass);
    EXPECT_NEAR(got.e_max, static_cast<double>(want.e_max), 1e-12 * got.e_max);
    EXPECT_NEAR(got.e_rms, static_cast<double>(want.e_rms), 1e-10 * got.e_rms);
    EXPECT_NEAR(got.worst, static_cast<double>(want.worst), 1e-9 * got.worst);
    failing += want.pass ? 0 : 1;
  }
  EXPECT_GT(failing, 50);
  EXPECT_LT(failing, 290);
}

}  // namespace
}  // namespace sweep::problem
