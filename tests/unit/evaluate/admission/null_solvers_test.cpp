#include "evaluate/admission/null_solvers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace sweep::evaluate::admission {
namespace {

using expr::DType;

problem::ConcreteTensor tensor(std::string name, std::vector<std::int64_t> shape, DType type) {
  problem::ConcreteTensor made;
  made.name = std::move(name);
  made.type = type;
  made.shape = shape;
  made.stacked = shape;
  made.count = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  made.bytes = made.count * static_cast<std::int64_t>(expr::size_of(type));
  return made;
}

// Values 1, 2, 3, .. of an f32 output.
class NullSolvers : public ::testing::Test {
 protected:
  void output(const std::vector<std::int64_t>& shape, DType type = DType::f32) {
    right_.tensor = tensor("y", shape, type);
    std::vector<double> numbers(static_cast<std::size_t>(right_.tensor.count));
    std::iota(numbers.begin(), numbers.end(), 1.0);
    set(numbers);
  }

  void set(const std::vector<double>& numbers) {
    values_ = packed(right_.tensor.type, numbers);
    right_.values = &values_;
  }

  void input(std::vector<double> numbers, DType type = DType::f32) {
    input_values_ = packed(type, numbers);
    inputs_ = {{tensor("x", {static_cast<std::int64_t>(numbers.size())}, type), &input_values_}};
  }

  // What the solver writes; nothing if it has no values for this output.
  std::optional<std::vector<double>> made(const std::string& name) const {
    const std::vector<NullSolver> solvers = null_solvers(right_, &stale_, inputs_);
    const auto found = std::ranges::find(solvers, name, &NullSolver::name);
    if (found == solvers.end()) {
      ADD_FAILURE() << "no solver " << name;
      return std::nullopt;
    }
    const Bytes bytes = found->make();
    return bytes.empty() ? std::nullopt : std::optional(reals(right_.tensor.type, bytes));
  }

  HostTensor right_;
  Bytes values_, stale_, input_values_;
  std::vector<HostTensor> inputs_;
};

using Values = std::vector<double>;

TEST_F(NullSolvers, ZerosAndTheDrawBefore) {
  output({2, 2});
  stale_ = packed(DType::f32, Values{9, 8, 7, 6});
  EXPECT_EQ(made("zeros"), (Values{0, 0, 0, 0}));
  EXPECT_EQ(made("the draw before"), (Values{9, 8, 7, 6}));
}

TEST_F(NullSolvers, WithoutADrawBeforeThereIsNoSuchSolver) {
  output({2});
  const auto solvers = null_solvers(right_, nullptr, {});
  EXPECT_TRUE(std::ranges::none_of(
      solvers, [](const NullSolver& solver) { return solver.name == "the draw before"; }));
}

TEST_F(NullSolvers, TheConstantIsTheBestOne) {
  output({4});
  EXPECT_EQ(made("a constant"), (Values{2.5, 2.5, 2.5, 2.5}));
  output({3}, DType::boolean);
  set({1, 0, 1});
  EXPECT_EQ(made("a constant"), (Values{1, 1, 1}));
}

TEST_F(NullSolvers, OnePercentAndOneElementAtLeastIsLeftOut) {
  output({4});
  EXPECT_EQ(std::ranges::count(*made("1% left out"), 0.0), 1);
  output({300});
  EXPECT_EQ(std::ranges::count(*made("1% left out"), 0.0), 3);
  output({1});
  EXPECT_FALSE(made("1% left out"));
}

TEST_F(NullSolvers, WhatIsZeroAnywayIsNotWhatIsLeftOut) {
  output({5});
  set({0, 0, 0, 4, 0});
  EXPECT_EQ(made("1% left out"), (Values{0, 0, 0, 0, 0}));
  output({2, 2});
  set({1, 2, 0, 0});
  EXPECT_EQ(made("half of the rows"), (Values{0, 0, 0, 0}));
}

TEST_F(NullSolvers, RowsGoAlongTheFirstAxisOfMoreThanOne) {
  output({1, 4, 2});
  EXPECT_EQ(made("half of the rows"), (Values{1, 2, 3, 4, 0, 0, 0, 0}));
  EXPECT_EQ(made("the first row repeated"), (Values{1, 2, 1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(made("the first half repeated"), (Values{1, 2, 3, 4, 1, 2, 3, 4}));
  output({3, 1});
  EXPECT_EQ(made("half of the rows"), (Values{1, 2, 0}));
  EXPECT_FALSE(made("the first half repeated"));
}

TEST_F(NullSolvers, ARegionIsASixteenthInOnePiece) {
  output({32});
  const auto values = *made("one region left out");
  EXPECT_EQ(std::ranges::count(values, 0.0), 2);
  EXPECT_EQ(std::ranges::find(values, 0.0) + 1,
            std::find(values.rbegin(), values.rend(), 0.0).base() - 1);
  output({15});
  EXPECT_FALSE(made("one region left out"));
}

TEST_F(NullSolvers, CopiesAreConvertedAndGoRound) {
  output({5});
  input({3, 4});
  EXPECT_EQ(made("copy of x"), (Values{3, 4, 3, 4, 3}));
  input({7, -2, 9}, DType::i32);
  EXPECT_EQ(made("copy of x"), (Values{7, -2, 9, 7, -2}));
  input({});
  EXPECT_FALSE(made("copy of x"));
}

}  // namespace
}  // namespace sweep::evaluate::admission
