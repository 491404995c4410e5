#include "evaluate/probe.h"

#include "problem/fill.h"
#include "problem/problem.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sweep::evaluate {
namespace {

constexpr const char* kHead = R"toml(
schema = 1
id = "level1/1"
title = "t"
domain = "d"
statement = "s"
[dims]
n = "free(1, 100)"
[inputs]
)toml";

constexpr const char* kTail = R"toml(
[outputs]
y = "f32[n]"
[shapes]
tiny = { n = 7, use = ["cpu", "golden"] }
full = { n = 50 }
[stress]
n = "uniform(1, 9)"
[edges]
list = []
[work]
flops = "n"
reference_ops = "n"
)toml";

problem::Problem parsed(const std::string& inputs) {
  problem::Loaded loaded = problem::parse(kHead + inputs + kTail, {{"reference.cu", "//"}});
  for (const problem::Mistake& mistake : loaded.mistakes) {
    EXPECT_TRUE(mistake.warning) << mistake.text();
  }
  return std::move(loaded.problem.value());
}

std::vector<Perturbation> of(const problem::Problem& problem,
                             std::uint64_t seed,
                             std::size_t most) {
  const problem::Key key = problem::Key::from_seed(seed);
  const problem::Draw draw = problem::visible_draw(problem, problem.shapes.front(), "default", key);
  return perturbations(problem, draw, key, most);
}

TEST(Probe, ChangesOneElementOfEachIndependentRealInput) {
  const problem::Problem problem = parsed(R"toml(
a = "f32[n] = normal()"
b = "bf16[n, n] = uniform(0, 1)"
i = "i32[n] = integer(0, 5)"
p = "f32[n] = probability()"
c = "f32[1] = normal()"
d = "f32[n] = student(3)"
e = "f32[n] = copy(d)")toml");
  std::set<std::int64_t> places;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto found = of(problem, seed, 9);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].tensor, "a");
    EXPECT_EQ(found[1].tensor, "b");
    for (const Perturbation& change : found) {
      const std::int64_t count = change.tensor == "a" ? 7 : 49;
      EXPECT_NE(change.to, change.from);
      EXPECT_TRUE(change.to >= 0 && change.to < count && change.from >= 0 && change.from < count);
    }
    places.insert(found[0].to);
  }
  EXPECT_EQ(places.size(), 7U) << "every element has its turn";
  EXPECT_EQ(of(problem, 3, 1).size(), 1U);
}

TEST(Probe, SaysWhatItChanged) {
  EXPECT_EQ((Perturbation{"x", 17, 4}).text(), "x[17] = x[4]");
}

}  // namespace
}  // namespace sweep::evaluate
