#include "cli/problem_json.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace sweep::cli {
namespace {

nlohmann::json shown(const char* folder) {
  return problem_json(
      problem::require(std::filesystem::path(SWEEP_SOURCE_DIR) / "problems" / folder));
}

TEST(ProblemJson, HasEachShapeWithAllDimsAndExtentsAsNumbers) {
  const nlohmann::json problem = shown("level1/20_rotary_embedding");
  const nlohmann::json& tiny = problem.at("cases").at(0);
  EXPECT_EQ(tiny.at("name"), "tiny");
  EXPECT_EQ(tiny.at("uses"), (nlohmann::json{"cpu", "golden"}));
  EXPECT_EQ(tiny.at("dims").at("dim"), 6) << "2*pairs";
  EXPECT_EQ(tiny.at("tensors").at("q"), (nlohmann::json{2, 2, 5, 6}));
  EXPECT_EQ(tiny.at("tensors").at("k_out"), (nlohmann::json{2, 2, 5, 6}));
  EXPECT_TRUE(tiny.at("scalars").at("start").is_number_integer());
  EXPECT_EQ(problem.at("dims").back(),
            (nlohmann::json{{"name", "dim"}, {"kind", "derived"}, {"rule", "2*pairs"}}));
  EXPECT_EQ(problem.at("cases").size(), problem.at("shapes").size());
  EXPECT_EQ(problem.at("cases").back().at("uses"), (nlohmann::json{"check", "time"}));
  EXPECT_GT(problem.at("cases").back().at("floor_seconds"), 1e-5);
}

TEST(ProblemJson, HasRolesFillsGroupsAndBaselinesAsTheyAreWritten) {
  const nlohmann::json problem = shown("level1/3_csr_spmm");
  const nlohmann::json& tensor = problem.at("tensors").at(0);
  EXPECT_EQ(tensor.at("name"), "row_ptr");
  EXPECT_EQ(tensor.at("role"), "input");
  EXPECT_EQ(tensor.at("element"), "i32");
  EXPECT_EQ(tensor.at("shape"), nlohmann::json::array({"rows+1"}));
  EXPECT_EQ(tensor.at("fill"), "graph.offsets");
  EXPECT_EQ(problem.at("groups").at("graph"),
            "csr(rows=rows, cols=cols, nnz=nnz, skew=0.6, empty=0.05)");
  EXPECT_EQ(problem.at("tensors").back().at("role"), "output");
  EXPECT_FALSE(problem.at("tensors").back().contains("fill"));
  EXPECT_EQ(problem.at("baselines").at(0), "cuSPARSE");
}

TEST(ProblemJson, LeavesOutWhatOnlyTheJudgeSees) {
  const nlohmann::json problem = shown("level2/9_metropolis_step");  // outlives what is taken of it
  for (const nlohmann::json& tensor : problem.at("tensors")) {
    EXPECT_NE(tensor.at("role"), "aux");
  }
}

}  // namespace
}  // namespace sweep::cli
