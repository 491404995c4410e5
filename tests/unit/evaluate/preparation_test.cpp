#include "evaluate/preparation.h"

#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace sweep::evaluate {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A built-in problem level1/3_x with a seed, and a folder of the same name outside.
class SeedFile : public ::testing::Test {
 protected:
  SeedFile() {
    services_.problems = dir_.path() / "problems";
    services_.seeds = dir_.path() / "seeds";
    built_in_.id = outside_.id = "level1/3";
    built_in_.folder = services_.problems / "level1/3_x";
    outside_.folder = dir_.path() / "mine/level1/3_x";
    fs::create_directories(built_in_.folder);
    fs::create_directories(outside_.folder);
    fs::create_directories(services_.seeds / "level1");
    std::ofstream(services_.seeds / "level1/3_x.cu") << "listed";
  }

  util::TempDir dir_;
  Services services_;
  problem::Problem built_in_;
  problem::Problem outside_;
};

TEST_F(SeedFile, ABuiltInProblemHasItAmongTheSeeds) {
  EXPECT_EQ(find_seed(services_, built_in_).text, "listed");
}

TEST_F(SeedFile, AFolderOfTheSameNameOutsideIsNotJudgedAgainstIt) {
  try {
    (void)find_seed(services_, outside_);
    FAIL() << "a built-in seed was taken";
  } catch (const util::UsageError& error) {
    EXPECT_EQ(error.code(), "E_SEED_MISSING");
    EXPECT_THAT(error.message().next, HasSubstr((outside_.folder / "seed.cu").string()));
  }
}

TEST_F(SeedFile, TheOneBesideTheProblemComesFirst) {
  std::ofstream(outside_.folder / "seed.cu") << "beside";
  EXPECT_EQ(find_seed(services_, outside_).text, "beside");
}

TEST_F(SeedFile, ADetourToTheBuiltInFolderIsTheBuiltInFolder) {
  built_in_.folder = services_.problems / "level1/../level1/3_x";
  EXPECT_EQ(find_seed(services_, built_in_).text, "listed");
}

std::vector<std::string> screened(const problem::Problem& problem,
                                  const std::string& plan,
                                  device::Kind kind) {
  const auto parsed = submission::parse("k.cu", plan);
  const auto* good = std::get_if<submission::Submission>(&parsed);
  if (good == nullptr) {
    return {"not parsed"};
  }
  std::vector<std::string> codes;
  for (const auto& error : screen(problem, *good, kind).errors) {
    codes.push_back(error.code);
  }
  return codes;
}

std::vector<std::string> screened(const std::string& plan) {
  problem::Problem problem;
  problem.id = "level1/3";
  return screened(problem, plan, device::Kind::cpu);
}

TEST(Screen, TheProblemAndItsPolicyHaveTheLastWord) {
  EXPECT_THAT(screened("//@ problem level1/4\n//@ k<<<1, 1>>>()\n"),
              ::testing::ElementsAre("E_PLAN_PROBLEM"));
  EXPECT_THAT(screened("//@ flags fast_math\n//@ k<<<1, 1>>>()\n"),
              ::testing::ElementsAre("E_PLAN_FAST_MATH"));
  EXPECT_TRUE(screened("//@ problem level1/3\n//@ k<<<1, 1>>>()\n").empty());
}

TEST(Screen, TheCpuDeviceSaysWhatItDoesNotHave) {
  const problem::Problem problem =
      problem::require(fs::path(SWEEP_SOURCE_DIR) / "tests/data/problems/test/affine");
  for (const std::string plan :
       {"//@ k<<<2, 1, cluster(2)>>>()\n",
        "//@ k<<<1, 1, cooperative>>>()\n",
        "//@ k<<<1, 1, 64, pdl>>>()\n",
        "//@ scratch f32 s[64]\n//@ tensormap t = tile(s, box(64))\n//@ k<<<1, 1>>>(t)\n"}) {
    EXPECT_THAT(screened(problem, plan, device::Kind::cpu),
                ::testing::ElementsAre("E_PLAN_UNSUPPORTED"))
        << plan;
    EXPECT_TRUE(screened(problem, plan, device::Kind::cuda).empty()) << plan;
  }
  // How many blocks are resident at once is not known before a device is opened.
  EXPECT_TRUE(
      screened(problem, "//@ k<<<100000, 1024, cooperative>>>()\n", device::Kind::cuda).empty());
}

CanonicalPlan plan_of(const std::string& text) {
  const problem::Problem problem =
      problem::require(fs::path(SWEEP_SOURCE_DIR) / "tests/data/problems/test/affine");
  const auto parsed = submission::parse("k.cu", text);
  CanonicalPlan plan;
  (void)screen(problem, std::get<submission::Submission>(parsed), device::Kind::cuda, &plan);
  return plan;
}

TEST(Screen, ThePlanOfEveryVisibleShapeIsKeptAndHashed) {
  const CanonicalPlan plan = plan_of("//@ k<<<rows, 32>>>(x)\n");
  const auto body = nlohmann::json::parse(plan.text);
  ASSERT_EQ(body.at("shapes").size(), 2U);
  EXPECT_EQ(body["shapes"][1]["shape"], "wide");
  EXPECT_EQ(body["shapes"][1]["plan"]["steps"][0]["grid"][0], 8);
  EXPECT_EQ(body.dump(), plan.text) << "not canonical";
  EXPECT_EQ(plan.sha256, util::sha256_hex(plan.text));
  EXPECT_EQ(plan.text, plan_of("//@ k<<<rows,  32>>>( x )  // the same\n").text);
  EXPECT_NE(plan.sha256, plan_of("//@ k<<<rows, 64>>>(x)\n").sha256);
}

TEST(Screen, ALongPlanIsHashedOnlyAndAWrongOneNeither) {
  const CanonicalPlan many =
      plan_of("//@ for (i = 0; i < 5000; ++i) {\n//@ k<<<rows, 32>>>(x)\n//@ }\n");
  EXPECT_EQ(many.text, "");
  EXPECT_EQ(many.sha256.size(), 64U);
  EXPECT_EQ(plan_of("//@ k<<<rows, 32>>>(nothing)\n").sha256, "");
}

TEST(CompilerUsed, IsTheOneThatTheRequestGoesTo) {
  compile::Toolchain tools;
  tools.gxx = "g++ 12";
  tools.nvrtc = "NVRTC 13.0";
  tools.nvcc = "nvcc 13.0";
  tools.ptxas = "ptxas 13.0";
  compile::Request request;
  EXPECT_EQ(compiler_used(request, tools), "g++ 12");
  request.target.kind = device::Kind::cuda;
  EXPECT_EQ(compiler_used(request, tools), "NVRTC 13.0");
  request.nvcc = true;
  EXPECT_EQ(compiler_used(request, tools), "nvcc 13.0");
  request.language = submission::Language::ptx;
  EXPECT_EQ(compiler_used(request, tools), "ptxas 13.0");
  EXPECT_EQ(describe({}, "NVRTC 13.0").compiler, "NVRTC 13.0");
}

}  // namespace
}  // namespace sweep::evaluate
