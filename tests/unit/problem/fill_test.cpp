#include "problem/device/fill.cuh"

#include "../../support/test_name.h"
#include "examples.h"
#include "problem/fill.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

namespace sweep::problem {
namespace {

using examples::replaced;

// A problem with one input `x` and further lines of inputs; n = 20000 unless given.
Problem one(const std::string& x, const std::string& more = {}, const std::string& groups = {}) {
  return examples::problem(R"T(schema = 1
id = "level1/1"
title = "t"
domain = "d"
statement = "s"
[dims]
n = "free(1, 1<<24)"
m = "free(1, 4096)"
)T" + groups + "[inputs]\n" +
                           more + "x = \"" + x + R"T("
[outputs]
y = "f32[n]"
[shapes]
a = { n = 20000, m = 64, use = ["cpu", "time"] }
[stress]
n = "log(1, 1000)"
m = "log(1, 64)"
[edges]
list = []
[work]
flops = 1
reference_ops = 1
)T");
}

Draw draw_of(const Problem& problem,
             std::int64_t n = 20000,
             std::int64_t m = 64,
             std::uint64_t seed = 1) {
  return make_draw(problem, "t", {{"n", n}, {"m", m}}, "default", Key::from_seed(seed));
}

template <typename T>
std::vector<T> filled(const Problem& problem, const Draw& draw, const std::string& name = "x") {
  const FillPlan plan(problem, draw);
  const FilledTensor* tensor = plan.find(name);
  std::vector<T> out(static_cast<std::size_t>(tensor->tensor.bytes) / sizeof(T));
  plan.fill(static_cast<std::size_t>(tensor - plan.tensors().data()),
            0,
            tensor->tensor.count,
            std::as_writable_bytes(std::span(out)));
  return out;
}

template <typename T>
std::vector<T> values(const std::string& spec, std::int64_t n = 20000, std::int64_t m = 64) {
  const Problem problem = one(spec);
  return filled<T>(problem, draw_of(problem, n, m));
}

struct Moments {
  double mean = 0, std = 0, low = 0, high = 0;
};

template <typename T>
Moments moments(const std::vector<T>& x) {
  Moments out{0, 0, static_cast<double>(x[0]), static_cast<double>(x[0])};
  for (const T value : x) {
    const auto v = static_cast<double>(value);
    out.mean += v;
    out.low = std::min(out.low, v);
    out.high = std::max(out.high, v);
  }
  out.mean /= static_cast<double>(x.size());
  for (const T value : x) {
    out.std += std::pow(static_cast<double>(value) - out.mean, 2);
  }
  out.std = std::sqrt(out.std / static_cast<double>(x.size()));
  return out;
}

struct Marginal {
  const char* spec;
  double mean, std, low, high;  // bounds of extremes; the moments have statistical slack
};

class Marginals : public testing::TestWithParam<Marginal> {};

TEST_P(Marginals, MeanSpreadAndRange) {
  const Marginal& want = GetParam();
  const Moments got = moments(values<float>(want.spec));
  EXPECT_NEAR(got.mean, want.mean, 5 * want.std / std::sqrt(20000.0) + 1e-9);
  EXPECT_NEAR(got.std, want.std, 0.06 * want.std + 1e-9);
  EXPECT_GE(got.low, want.low);
  EXPECT_LE(got.high, want.high);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Marginals,
    testing::Values(Marginal{"f32[n] = constant(2.5)", 2.5, 0, 2.5, 2.5},
                    Marginal{"f32[n] = normal()", 0, 1, -6, 6},
                    Marginal{"f32[n] = normal(mean=3, std=0.2)", 3, 0.2, 1, 5},
                    Marginal{"f32[n] = uniform(-1, 3)", 1, 4 / std::sqrt(12.0), -1, 3},
                    Marginal{"f32[n] = lognormal(0, 0.5)", std::exp(0.125), 0.6039, 0.01, 20},
                    Marginal{"f32[n] = student(8, 2)", 0, 2, -60, 60},
                    Marginal{"f32[n] = spikes(0.01, 10)", 0, std::sqrt(0.99 + 1.0), -70, 70},
                    Marginal{"f32[n] = weight(fan=16)", 0, 0.25, -2, 2},
                    Marginal{"f32[n] = integer(-3, 3)", 0, 2, -3, 3},
                    Marginal{"f32[n] = choice(-1, 1)", 0, 1, -1, 1},
                    Marginal{
                        "f32[n] = lattice(bits=10, lo=-1, hi=1)", 0, 1 / std::sqrt(3.0), -1, 1},
                    Marginal{"f32[n] = probability(concentration=0.7)",
                             1.0 / 20000,
                             std::sqrt(1 / 0.7) / 20000,
                             0,
                             0.1}),
    sweep::test::named(&Marginal::spec));

TEST(Fill, StudentHasHeavierTailsThanNormal) {
  const auto beyond = [](const std::vector<float>& x) {
    return std::count_if(x.begin(), x.end(), [](float v) { return std::fabs(v) > 4; });
  };
  EXPECT_LE(beyond(values<float>("f32[n] = normal()")), 6);
  EXPECT_GE(beyond(values<float>("f32[n] = student(3, 1)")), 40);
}

TEST(Fill, IntegersAndBits) {
  const auto x = values<std::int32_t>("i32[n] = integer(5, 10)");
  EXPECT_EQ(std::set<std::int32_t>(x.begin(), x.end()).size(), 6U);
  const auto bits = values<std::uint32_t>("u32[n] = bits()");
  std::int64_t ones = 0;
  for (const std::uint32_t word : bits) {
    ones += __builtin_popcount(word);
  }
  EXPECT_NEAR(static_cast<double>(ones) / (32.0 * 20000), 0.5, 0.003);
  const auto biased = values<std::uint16_t>("u16[n] = bits(p=0.3)");
  ones = 0;
  for (const std::uint16_t word : biased) {
    ones += __builtin_popcount(word);
  }
  EXPECT_NEAR(static_cast<double>(ones) / (16.0 * 20000), 0.3, 0.005);
  EXPECT_NEAR(moments(values<std::uint8_t>("bool[n] = bits(p=0.3)")).mean, 0.3, 0.02);
}

TEST(Fill, LatticeIsExact) {
  for (const float v : values<float>("f32[n] = lattice(bits=4, lo=-2, hi=2)")) {
    EXPECT_EQ(v * 16, std::floor(v * 16));
  }
}

TEST(Fill, MasksAreNeverAllOnesAndKeepEnough) {
  const auto x = values<std::uint8_t>("bool[n, m] = mask(keep=0.9, at_least=3)", 2000, 16);
  double sum = 0;
  for (std::size_t row = 0; row < 2000; ++row) {
    const int kept = std::accumulate(x.begin() + static_cast<std::ptrdiff_t>(row * 16),
                                     x.begin() + static_cast<std::ptrdiff_t>(row * 16 + 16),
                                     0);
    EXPECT_GE(kept, 3);
    EXPECT_LT(kept, 16);
    sum += kept;
  }
  EXPECT_NEAR(sum / 2000, 3 + 12 * 0.9, 0.2);
}

TEST(Fill, PermutationDistinctAndOnehotAlongAnAxis) {
  const auto p = values<std::int32_t>("i32[m, n] = permutation(axis=0)", 7, 64);
  for (std::size_t column = 0; column < 7; ++column) {
    std::set<std::int32_t> seen;
    for (std::size_t row = 0; row < 64; ++row) {
      seen.insert(p[row * 7 + column]);
    }
    EXPECT_EQ(seen.size(), 64U);
    EXPECT_EQ(*seen.rbegin(), 63);
  }
  const auto d = values<std::int32_t>("i32[n, m] = distinct(1000)", 50, 64);
  for (std::size_t row = 0; row < 50; ++row) {
    const std::set<std::int32_t> seen(d.begin() + static_cast<std::ptrdiff_t>(row * 64),
                                      d.begin() + static_cast<std::ptrdiff_t>(row * 64 + 64));
    EXPECT_EQ(seen.size(), 64U);
    EXPECT_LT(*seen.rbegin(), 1000);
  }
  const auto h = values<float>("f32[n, m] = onehot()", 500, 64);
  for (std::size_t row = 0; row < 500; ++row) {
    EXPECT_EQ(std::count(h.begin() + static_cast<std::ptrdiff_t>(row * 64),
                         h.begin() + static_cast<std::ptrdiff_t>(row * 64 + 64),
                         1.0F),
              1);
  }
}

TEST(Fill, RowsWithConstraints) {
  const auto p = values<double>("f64[n, m] = probability(axis=1, concentration=1)", 200, 33);
  const auto u = values<double>("f64[n, m] = unit()", 200, 33);
  for (std::size_t row = 0; row < 200; ++row) {
    double sum = 0, squares = 0;
    for (std::size_t k = 0; k < 33; ++k) {
      sum += p[row * 33 + k];
      squares += u[row * 33 + k] * u[row * 33 + k];
      EXPECT_GE(p[row * 33 + k], 0);
    }
    EXPECT_NEAR(sum, 1, 1e-14);
    EXPECT_NEAR(squares, 1, 1e-14);
  }
  const auto s = values<float>("f32[n, m] = sorted(normal(), axis=0)", 300, 5);
  for (std::size_t i = 5; i < s.size(); ++i) {
    EXPECT_GE(s[i], s[i - 5]);
  }
  EXPECT_NEAR(moments(s).std, 1, 0.1);
}

double dot(const std::vector<double>& a, std::size_t i, std::size_t j, std::size_t n) {
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    sum += a[i * n + k] * a[j * n + k];
  }
  return sum;
}

TEST(Fill, Matrices) {
  const auto r = values<double>("f64[n, 3, 3] = rotation()", 50);
  for (std::size_t m = 0; m < 50; ++m) {
    const std::vector<double> a(r.begin() + static_cast<std::ptrdiff_t>(9 * m),
                                r.begin() + static_cast<std::ptrdiff_t>(9 * m + 9));
    EXPECT_NEAR(dot(a, 0, 0, 3), 1, 1e-14);
    EXPECT_NEAR(dot(a, 0, 1, 3), 0, 1e-14);
    const double det = a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
                       a[2] * (a[3] * a[7] - a[4] * a[6]);
    EXPECT_NEAR(det, 1, 1e-13);
  }
  const auto s = values<float>("f32[m, m] = spd(condition=20)", 1, 40);
  double trace = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    trace += static_cast<double>(s[i * 40 + i]);
    for (std::size_t j = 0; j < 40; ++j) {
      EXPECT_EQ(s[i * 40 + j], s[j * 40 + i]);
    }
  }
  double want = 0;
  for (int i = 0; i < 40; ++i) {
    want += std::pow(20.0, i / 39.0);
  }
  EXPECT_NEAR(trace, want, 1e-4 * want);
  EXPECT_NE(s[1], 0);
  const auto d = values<float>("f32[m, m] = dominant(0.1)", 1, 30);
  for (std::size_t i = 0; i < 30; ++i) {
    double off = 0;
    for (std::size_t j = 0; j < 30; ++j) {
      off += i == j ? 0.0 : std::fabs(static_cast<double>(d[i * 30 + j]));
    }
    EXPECT_GT(static_cast<double>(d[i * 31]), 1.09 * off);
  }
  const auto l = values<double>("f64[m, m] = lower(condition=100)", 1, 20);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_GE(l[i * 21], 0.0099);
    EXPECT_LE(l[i * 21], 1.0);
    for (std::size_t j = i + 1; j < 20; ++j) {
      EXPECT_EQ(l[i * 20 + j], 0);
    }
  }
}

TEST(Fill, FormulaFieldAndParticles) {
  const auto f = values<float>("f32[n, m] = formula(100*i0 + i1 + m)", 3, 4);
  EXPECT_EQ(f[0], 4);
  EXPECT_EQ(f[7], 107);
  const auto g = values<float>("f32[n, m] = field(slope=1)", 256, 256);
  EXPECT_NEAR(moments(g).std, 1, 0.35);
  double rough = 0;
  for (std::size_t i = 1; i < g.size(); ++i) {
    rough += std::pow(static_cast<double>(g[i] - g[i - 1]), 2);
  }
  EXPECT_LT(rough / static_cast<double>(g.size()), 0.5);  // white noise has 2
  const auto p = values<float>("f32[n, 4] = jittered_lattice(count=n, side=10, jitter=0.1)", 100);
  for (std::size_t a = 0; a < 100; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      double distance = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_GE(p[4 * a + k], 0);
        EXPECT_LE(p[4 * a + k], 10);
        distance += std::pow(static_cast<double>(p[4 * a + k] - p[4 * b + k]), 2);
      }
      EXPECT_GT(distance, std::pow(2.0 * (1 - 0.2) * 0.99, 2));  // five cells an axis
    }
  }
}

TEST(Fill, ComplexPartsAreIndependent) {
  const auto z = values<float>("c64[n] = normal()");
  ASSERT_EQ(z.size(), 40000U);
  double cross = 0;
  for (std::size_t i = 0; i < z.size(); i += 2) {
    cross += static_cast<double>(z[i]) * static_cast<double>(z[i + 1]);
  }
  EXPECT_LT(std::fabs(cross / 20000), 0.04);
}

TEST(Fill, CopyAndPrefix) {
  const Problem problem = one("f32[n] = copy(w)",
                              "w = \"f32[n] = normal()\"\nlen = \"i32[n] = integer(0, 8)\"\nmask = "
                              "\"bool[n, 8] = prefix(len)\"\n");
  const Draw draw = draw_of(problem, 100);
  EXPECT_EQ(filled<float>(problem, draw), filled<float>(problem, draw, "w"));
  const auto lengths = filled<std::int32_t>(problem, draw, "len");
  const auto mask = filled<std::uint8_t>(problem, draw, "mask");
  for (std::size_t i = 0; i < mask.size(); ++i) {
    EXPECT_EQ(mask[i], static_cast<std::int32_t>(i % 8) < lengths[i / 8] ? 1 : 0);
  }
}

// Every slicing gives the bits of the whole; another key gives others.
TEST(Fill, SlicesEqualTheWhole) {
  for (const char* spec : {"f32[n] = normal()",
                           "f16[n] = uniform(0, 1)",
                           "c64[n] = normal()",
                           "e4m3[n] = spikes(0.1, 5)",
                           "i8[n] = integer(-8, 7)",
                           "bool[n] = bits(p=0.2)",
                           "f32[n] = sorted(normal())",
                           "bf16[n] = probability()",
                           "u64[n] = bits()",
                           "f64[n] = student(4)",
                           "f32[n, 3] = field()",
                           "i64[n] = permutation()"}) {
    const Problem problem = one(spec);
    const FillPlan plan(problem, draw_of(problem, 5000));
    const ConcreteTensor& tensor = plan.tensors()[0].tensor;
    const auto size = static_cast<std::int64_t>(expr::size_of(tensor.type));
    std::vector<std::byte> whole(static_cast<std::size_t>(tensor.bytes)), other(whole.size());
    plan.fill(0, 0, tensor.count, whole, 1);
    for (std::int64_t at = 0, step = 1; at < tensor.count; at += step, step = step * 3 + 1) {
      const std::int64_t count = std::min(step, tensor.count - at);
      plan.fill(0,
                at,
                count,
                std::span(other).subspan(static_cast<std::size_t>(at * size),
                                         static_cast<std::size_t>(count * size)),
                3);
    }
    EXPECT_EQ(whole, other) << spec;
    const FillPlan second(problem, draw_of(problem, 5000, 64, 2));
    second.fill(0, 0, tensor.count, other);
    EXPECT_NE(whole, other) << spec;
  }
}

TEST(Fill, BadArgumentsNameTheirPlace) {
  for (const char* spec : {"f32[n] = uniform(2, 1)",
                           "f32[n] = bits()",
                           "i8[n] = integer(0, 1000)",
                           "f32[n] = normal() ",
                           "f32[n, m] = spd(3)",
                           "f32[n] = lattice(60, 0, 1)",
                           "f32[n] = mask(2)",
                           "i32[n] = distinct(5)",
                           "f32[n] = permutation(axis=3)"}) {
    if (std::string(spec).back() == ' ') {
      continue;
    }
    const Problem problem = one(spec);
    try {
      const FillPlan plan(problem, draw_of(problem));
      std::vector<std::byte> out(static_cast<std::size_t>(plan.tensors()[0].tensor.bytes));
      plan.fill(0, 0, plan.tensors()[0].tensor.count, out);
      ADD_FAILURE() << spec;
    } catch (const util::UsageError& fault) {
      EXPECT_THAT(fault.what(), testing::StartsWith("problem.toml:")) << spec;
    }
  }
}

}  // namespace
}  // namespace sweep::problem
