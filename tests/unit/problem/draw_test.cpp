#include "problem/draw.h"

#include "examples.h"
#include "problem/fill.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

namespace sweep::problem {
namespace {

using examples::kGrouped;
using examples::kHmc;
using examples::replaced;

TEST(Key, IsDerivedByHmac) {
  const Key a = Key::from_seed(1);
  EXPECT_NE(a, Key::from_seed(2));
  EXPECT_EQ(a.derive("x"), a.derive("x"));
  EXPECT_NE(a.derive("x"), a.derive("y"));
  // RFC 4231, test case 2.
  EXPECT_EQ(Key::from_secret("Jefe", "what do ya want for nothing?").hex(),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Draw, DerivedDimsAndFactors) {
  std::string toml = replaced(
      kHmc, "steps  = \"free(1, 64)\"", "steps  = \"4*free(1, 16)\"\nhalf_steps = \"steps/2\"");
  for (const char* from : {"steps = 10, use = [\"cpu\"",
                           "steps = 10, use = [\"check\"]",
                           "steps = 10 }",
                           "steps = 10 }",
                           "steps = 1 }"}) {
    std::string to = from;
    to.replace(to.find("= 1"), to.find("= 10") == std::string::npos ? 3 : 4, "= 8");
    toml = replaced(toml, from, to);
  }
  const Problem p = examples::problem(toml);
  EXPECT_EQ(complete_dims(p, {{"chains", 3}, {"dim", 2}, {"steps", 12}}).at("half_steps"), 6);
  EXPECT_THROW((void)complete_dims(p, {{"chains", 3}, {"dim", 2}, {"steps", 13}}),
               util::UsageError);
  EXPECT_THROW((void)complete_dims(p, {{"chains", 3}, {"dim", 2}}), util::UsageError);
  EXPECT_THROW(
      (void)complete_dims(p, {{"chains", 3}, {"dim", 2}, {"steps", 12}, {"half_steps", 6}}),
      util::UsageError);
  for (const Draw& draw : stress_draws(p, Key::from_seed(3), 0, 50, {})) {
    EXPECT_EQ(draw.dims.at("steps") % 4, 0);
  }
}

TEST(Draw, ScalarsAreRoundedToTheirTypeAndRedrawn) {
  const Problem p = examples::problem(kHmc);
  std::set<double> seen;
  for (int replicate = 0; replicate < 20; ++replicate) {
    const Draw draw = visible_draw(p, p.shapes[0], "default", Key::from_seed(1), replicate);
    const double step = std::get<double>(draw.scalars.at("step_size"));
    EXPECT_EQ(step, static_cast<double>(static_cast<float>(step)));
    EXPECT_GE(step, 0.1499);
    EXPECT_LE(step, 0.4501);
    seen.insert(step);
  }
  EXPECT_EQ(seen.size(), 20U);
}

TEST(Draw, ScalarKinds) {
  const Problem p = examples::problem(replaced(
      kHmc,
      "[scalars]\n",
      "[scalars]\nk = \"i32 = draw(3, 5)\"\nw = \"u8 = bits()\"\nc = \"f64 = draw(1, 2, 4)\"\n"
      "d = \"f32 = k / 2, hidden\"\n"));
  std::set<std::int64_t> ks;
  for (int i = 0; i < 60; ++i) {
    const Draw draw = visible_draw(p, p.shapes[0], "default", Key::from_seed(1), i);
    ks.insert(std::get<std::int64_t>(draw.scalars.at("k")));
    EXPECT_LT(std::get<std::int64_t>(draw.scalars.at("w")), 256);
    EXPECT_THAT(std::get<double>(draw.scalars.at("c")), testing::AnyOf(1.0, 2.0, 4.0));
    EXPECT_EQ(std::get<double>(draw.scalars.at("d")),
              static_cast<double>(std::get<std::int64_t>(draw.scalars.at("k"))) / 2);
  }
  EXPECT_THAT(ks, testing::ElementsAre(3, 4, 5));
  EXPECT_EQ(p.arguments().size(), 4U);
}

TEST(Draw, StressKeepsBoundsConstraintsAndCosts) {
  const Problem p = examples::problem(replaced(
      kHmc,
      "[scalars]",
      "[constraints]\nall = [\"chains * dim <= 200000\", \"chains % 2 == 0\"]\n[scalars]"));
  Machine cpu;
  cpu.cpu = true;
  cpu.cpu_ops = 1e6;
  std::set<std::int64_t> chains;
  for (const Draw& draw : stress_draws(p, Key::from_seed(9), 0, 100, cpu)) {
    EXPECT_LE(draw.dims.at("chains") * draw.dims.at("dim"), 200000);
    EXPECT_EQ(draw.dims.at("chains") % 2, 0);
    EXPECT_LE(draw.dims.at("dim"), 130);
    EXPECT_LE(sizes_of(p, draw).reference_ops, 1e6);
    chains.insert(draw.dims.at("chains"));
  }
  EXPECT_GT(chains.size(), 40U);
}

TEST(Draw, StressIsReproducibleAndSplittable) {
  const Problem p = examples::problem(kGrouped);
  const auto all = stress_draws(p, Key::from_seed(5), 0, 10, {});
  const auto tail = stress_draws(p, Key::from_seed(5), 7, 3, {});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all[7 + i].dims, tail[i].dims);
    EXPECT_EQ(all[7 + i].key, tail[i].key);
    EXPECT_EQ(all[7 + i].shape, tail[i].shape);
  }
  EXPECT_NE(stress_draws(p, Key::from_seed(6), 0, 1, {})[0].dims, all[0].dims);
}

TEST(Draw, ImpossibleRulesAreNamed) {
  const Problem p = examples::problem(
      replaced(kHmc, "[scalars]", "[constraints]\nall = [\"chains < 0\"]\n[scalars]"));
  try {
    (void)stress_draws(p, Key::from_seed(1), 0, 1, {});
    ADD_FAILURE();
  } catch (const util::InfraError& fault) {
    EXPECT_EQ(fault.code(), "E_DRAW_EXHAUSTED");
    EXPECT_THAT(fault.what(), testing::HasSubstr("chains < 0"));
  }
}

TEST(Draw, EdgesHoldListedAndAutomaticShapes) {
  const Problem p = examples::problem(kGrouped);
  const auto draws = edge_draws(p, Key::from_seed(1), {});
  EXPECT_EQ(draws[0].dims, complete_dims(p, p.edges[0]));
  std::set<std::int64_t> rows;
  for (const Draw& draw : draws) {
    rows.insert(draw.dims.at("rows"));
  }
  for (const std::int64_t value : {0, 1, 31, 33, 127, 129, 257}) {
    EXPECT_TRUE(rows.contains(value)) << value;
  }
  std::set<expr::IntEnv> shapes;
  for (const Draw& draw : draws) {
    EXPECT_TRUE(shapes.insert(draw.dims).second);
  }
}

TEST(Draw, HeldOutDependsOnSaltEpochAndProblem) {
  const Problem p = examples::problem(kHmc);
  const auto a = HeldOut("salt", 0, p).checked(p, {});
  EXPECT_EQ(a.size(), 20U);
  EXPECT_EQ(HeldOut("salt", 0, p).checked(p, {})[5].dims, a[5].dims);
  EXPECT_NE(HeldOut("tlas", 0, p).checked(p, {})[5].key, a[5].key);
  EXPECT_NE(HeldOut("salt", 1, p).checked(p, {})[5].key, a[5].key);
  Problem other = p;
  other.id = "level2/17";
  EXPECT_NE(HeldOut("salt", 0, other).checked(other, {})[5].key, a[5].key);
}

TEST(Draw, TimedHeldOutStaysNearTheShapes) {
  const Problem p = examples::problem(kHmc);
  const auto timed = HeldOut("salt", 0, p).timed(p, {});
  ASSERT_EQ(timed.size(), 3U);
  for (const Draw& draw : timed) {
    EXPECT_GE(nominal_seconds(p, work_of(p, draw)), 3e-6);
  }
  EXPECT_GE(timed[0].dims.at("dim"), 48);
  EXPECT_LE(timed[0].dims.at("dim"), 128);
}

TEST(Draw, CustomShapesAndContents) {
  const Problem p = examples::problem(kHmc);
  const Draw draw = custom_draw(p, *p.shape("tiny"), {{"dim", 7}}, "default", Key::from_seed(1));
  EXPECT_EQ(draw.dims.at("dim"), 7);
  EXPECT_EQ(draw.dims.at("chains"), 8);
  EXPECT_THROW((void)custom_draw(p, *p.shape("tiny"), {{"dmi", 7}}, "default", Key{}),
               util::UsageError);
  EXPECT_THROW((void)custom_draw(p, *p.shape("tiny"), {{"dim", 0}}, "default", Key{}),
               util::UsageError);
  EXPECT_THROW((void)visible_draw(p, p.shapes[0], "ties", Key{}), util::UsageError);
}

TEST(Draw, WorkUsesStatisticsOfGroups) {
  const Problem p = examples::problem(kGrouped);
  const Draw draw = visible_draw(p, *p.shape("published"), "default", Key::from_seed(1));
  const FillPlan plan(p, draw);
  const double nonempty = plan.statistics().at("part.nonempty");
  EXPECT_GT(nonempty, 0);
  EXPECT_LE(nonempty, 15);
  EXPECT_DOUBLE_EQ(work_of(p, draw, plan.statistics()).bytes,
                   4 * (3840.0 * 512 + nonempty * 65536));
  EXPECT_DOUBLE_EQ(scratch_limit(p, draw), 4 * (4.0 * (3840 * 512 + 15 * 65536 + 16)) + (1 << 26));
}

}  // namespace
}  // namespace sweep::problem
