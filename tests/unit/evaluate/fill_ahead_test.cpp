#include "evaluate/fill_ahead.h"

#include "problem/problem.h"
#include "util/error.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace sweep::evaluate {
namespace {

problem::Problem edge_softmax() {
  return problem::require(
      (std::filesystem::path(SWEEP_SOURCE_DIR) / "problems/level1/2_edge_softmax").string());
}

std::vector<problem::Draw> draws_of(const problem::Problem& problem, int count) {
  std::vector<problem::Draw> draws;
  for (int i = 0; i < count; ++i) {
    draws.push_back(problem::make_draw(problem,
                                       "t",
                                       {{"rows", 100 + i}, {"edges", 3000}},
                                       "default",
                                       problem::Key::from_seed(static_cast<std::uint64_t>(i))));
  }
  return draws;
}

std::vector<std::byte> first_tensor(const problem::FillPlan& plan) {
  const problem::ConcreteTensor& tensor = plan.tensors().front().tensor;
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.bytes));
  plan.fill(0, 0, tensor.count, bytes);
  return bytes;
}

// However many threads make them: the same contents in the same order.
TEST(FillAhead, GivesTheDrawsInOrderWithTheirOwnContents) {
  const problem::Problem problem = edge_softmax();
  const std::vector<problem::Draw> draws = draws_of(problem, 40);
  for (const int threads : {0, 1, 7, 100}) {
    FillAhead ahead(problem, draws, threads);
    for (const problem::Draw& draw : draws) {
      const FillAhead::Content content = ahead.next();
      EXPECT_EQ(content.draw.key, draw.key);
      EXPECT_EQ(first_tensor(content.plan), first_tensor(problem::FillPlan(problem, draw)));
    }
    EXPECT_THROW(static_cast<void>(ahead.next()), util::InfraError);
  }
}

TEST(FillAhead, MayEndBeforeItsLastDraw) {
  const problem::Problem problem = edge_softmax();
  FillAhead ahead(problem, draws_of(problem, 12), 4);
  EXPECT_EQ(ahead.next().draw.dims.at("rows"), 100);
}

TEST(FillAhead, HandsOnWhatADrawFailsOf) {
  const problem::Problem problem = edge_softmax();
  std::vector<problem::Draw> draws = draws_of(problem, 3);
  draws[1].dims["edges"] = 3001;
  draws[1].dims["rows"] = 0;  // no part for the edges
  for (const int threads : {0, 3}) {
    FillAhead ahead(problem, draws, threads);
    static_cast<void>(ahead.next());
    EXPECT_THROW(static_cast<void>(ahead.next()), util::UsageError);
  }
}

}  // namespace
}  // namespace sweep::evaluate
