#include "evaluate/admission/changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sweep::evaluate::admission {
namespace {

using expr::DType;

constexpr const char* kToml = R"toml(
schema = 1
id = "level1/1"
title = "t"
domain = "d"
statement = "s"
[dims]
rows = "free(1, 100)"
edges = "free(1, 1000)"
steps = "free(1, 64)"
[scalars]
alpha = "f32 = draw(1, 2)"
fixed = "f32 = 3"
count = "i32 = draw(1, 9)"
secret = "f32 = draw(1, 2), hidden"
[groups]
graph = "ragged(parts=rows, total=edges)"
[inputs]
first = "i32[rows+1] = graph.offsets"
x     = "f32[rows, rows] = normal()"
owner = "i32[edges] = graph.owner"
again = "f32[rows, rows] = copy(x)"
table = "f32[rows] = formula(i0+1)"
whole = "i32[rows] = constant(3)"
[outputs]
y = "f32[rows]"
[shapes]
tiny = { rows = 7, edges = 20, steps = 9, use = ["cpu", "golden"] }
full = { rows = 50, edges = 90, steps = 20 }
[stress]
rows = "uniform(1, 9)"
edges = "uniform(1, 9)"
steps = "uniform(1, 9)"
[edges]
list = []
[work]
flops = "rows"
reference_ops = "rows"
)toml";

class Changes : public ::testing::Test {
 protected:
  void SetUp() override {
    const problem::Loaded loaded = problem::parse(kToml, {{"reference.cu", "//@ k<<<1, 1>>>()\n"}});
    ASSERT_TRUE(loaded.problem) << loaded.mistakes.front().text();
    problem_ = *loaded.problem;
    draw_ = problem::visible_draw(
        problem_, problem_.shapes.front(), "default", problem::Key::from_seed(1));
    const problem::FillPlan plan(problem_, draw_);
    for (std::size_t i = 0; i < plan.tensors().size(); ++i) {
      const problem::ConcreteTensor& tensor = plan.tensors()[i].tensor;
      Bytes& values = inputs_[tensor.name];
      values.resize(static_cast<std::size_t>(tensor.bytes));
      plan.fill(i, 0, tensor.count, values);
    }
  }

  [[nodiscard]] Unit unit(const std::string& name) const {
    const std::vector<Unit> all = units(problem_);
    return *std::ranges::find(all, name, &Unit::name);
  }

  problem::Problem problem_;
  problem::Draw draw_;
  HostTensors inputs_;
};

TEST_F(Changes, UnitsAreWhatOnlyMakesSenseTogether) {
  std::vector<std::string> names;
  for (const Unit& one : units(problem_)) {
    names.push_back(one.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"graph", "x", "table", "whole"}));
  EXPECT_EQ(unit("graph").tensors, (std::vector<std::string>{"first", "owner"}));
  EXPECT_EQ(unit("x").tensors, (std::vector<std::string>{"x", "again"}));
}

TEST_F(Changes, AUnitIsReplacedAndNothingElse) {
  const auto changed = replaced(problem_, draw_, unit("x"), inputs_);
  ASSERT_TRUE(changed);
  EXPECT_NE(changed->at("x"), inputs_.at("x"));
  EXPECT_EQ(changed->at("again"), changed->at("x"));
  for (const char* other : {"first", "owner", "table", "whole"}) {
    EXPECT_EQ(changed->at(other), inputs_.at(other)) << other;
  }
}

TEST_F(Changes, OfAGroupEverythingStillAgrees) {
  const auto changed = replaced(problem_, draw_, unit("graph"), inputs_);
  ASSERT_TRUE(changed);
  const std::vector<double> first = reals(DType::i32, changed->at("first"));
  const std::vector<double> owner = reals(DType::i32, changed->at("owner"));
  EXPECT_EQ(first.back(), 20);
  for (std::size_t row = 0; row + 1 < first.size(); ++row) {
    EXPECT_EQ(static_cast<double>(std::ranges::count(owner, static_cast<double>(row))),
              first[row + 1] - first[row]);
  }
}

TEST_F(Changes, WhatNoKeyChangesIsScaledAndIntegersAreLeft) {
  const auto table = replaced(problem_, draw_, unit("table"), inputs_);
  ASSERT_TRUE(table);
  EXPECT_EQ(reals(DType::f32, table->at("table")).at(1), 2 * 1.0625);
  EXPECT_FALSE(replaced(problem_, draw_, unit("whole"), inputs_));
}

TEST_F(Changes, OnlySquareMatricesOfFloatsAreTransposed) {
  problem::ConcreteTensor tensor;
  tensor.type = DType::f32;
  tensor.stacked = {2, 2, 2};
  const std::vector<double> numbers = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto turned = transposed(tensor, packed(DType::f32, numbers));
  ASSERT_TRUE(turned);
  EXPECT_EQ(reals(DType::f32, *turned), (std::vector<double>{1, 3, 2, 4, 5, 7, 6, 8}));
  tensor.stacked = {2, 4};
  EXPECT_FALSE(transposed(tensor, packed(DType::f32, numbers)));
  tensor.stacked = {2, 2, 2};
  tensor.type = DType::i32;
  EXPECT_FALSE(transposed(tensor, packed(DType::i32, numbers)));
}

TEST_F(Changes, NudgesAreSmallAndGoBothWays) {
  const std::vector<double> ones(100, 1.0);
  const Nudged moved = nudged(DType::f32, packed(DType::f32, ones), problem::Key::from_seed(3));
  EXPECT_EQ(moved.size, 0x1p-20);
  const std::vector<double> values = reals(DType::f32, moved.values);
  EXPECT_GT(std::ranges::count(values, 1 + 0x1p-20), 20);
  EXPECT_GT(std::ranges::count(values, 1 - 0x1p-20), 20);
  EXPECT_EQ(nudged(DType::i32, packed(DType::i32, ones), problem::Key::from_seed(3)).size, 0);
}

TEST_F(Changes, ParametersAreEveryScalarArgumentAndHalfOfTheSteps) {
  const std::vector<OtherDraw> others = other_parameters(problem_, draw_);
  std::vector<std::string> names;
  for (const OtherDraw& other : others) {
    names.push_back(other.name);
  }
  EXPECT_EQ(
      names,
      (std::vector<std::string>{"wrong alpha", "wrong fixed", "wrong count", "half of steps"}));
  for (const OtherDraw& other : others) {
    const bool steps = other.name == "half of steps";
    EXPECT_EQ(other.draw.dims.at("steps"), steps ? 4 : 9);
    EXPECT_EQ(other.draw.dims.at("rows"), 7);
    EXPECT_EQ(other.draw.scalars == draw_.scalars, steps) << other.name;
  }
  EXPECT_EQ(std::get<double>(others[1].draw.scalars.at("fixed")), 3 * 1.0625);
}

}  // namespace
}  // namespace sweep::evaluate::admission
