#include "evaluate/library_use.h"

#include "wire/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sweep::evaluate {
namespace {

using ::testing::HasSubstr;

problem::Problem product_problem(const std::string& precision, const std::string& args) {
  const std::string text = R"TOML(schema = 1
id = "level1/99"
title = "Product"
domain = "x"
precision = ")TOML" + precision +
                           R"TOML("
statement = "c = a b"
[dims]
m = "free(1, 64)"
k = "free(1, 64)"
[inputs]
a = "f32[m, k] = normal()"
b = "f32[k, 2*m] = normal()"
[outputs]
c = "f32[m, 2*m]"
[aux]
scale = "f64[m]"
[shapes]
tiny = { m = 4, k = 3, use = ["cpu", "golden"] }
full = { m = 64, k = 64 }
[stress]
m = "uniform(1, 8)"
k = "uniform(1, 8)"
[edges]
list = [{ m = 1, k = 1 }]
[work]
flops = "4*m*m*k"
reference_ops = "4*m*m*k"
[[baseline]]
name = "cuBLAS"
library = "cublas.gemm"
args = { )TOML" + args + " }\n";
  problem::Loaded loaded = problem::parse(text, {{"reference.cu", "//@ f<<<1, 1>>>(a)\n"}});
  EXPECT_TRUE(loaded.problem) << (loaded.mistakes.empty() ? "" : loaded.mistakes.front().text());
  return loaded.problem.value_or(problem::Problem{});
}

constexpr const char* kGoodArgs =
    R"(a = "a", b = "b", c = "c", m = "m", n = "2*m", k = "k", batch = 3)";

std::string mistake_with(const std::string& args) {
  const problem::Problem problem = product_problem("fp32", args);
  return problem.baselines.empty() ? "no baseline"
                                   : library_mistake(problem, problem.baselines.front());
}

LibraryUse use_of(const problem::Problem& problem) {
  const problem::Baseline& declared = problem.baselines.at(0);
  return {declared.name, declared.library, "/lib/libcublas.so", declared.args};
}

problem::Draw tiny_draw(const problem::Problem& problem) {
  return problem::visible_draw(
      problem, *problem.shape("tiny"), "default", problem::Key::from_seed(1));
}

std::vector<device::LibraryArgument> bound_arguments(const problem::Problem& problem) {
  const std::vector<NamedBuffer> buffers{{"a", 100}, {"b", 200}, {"c", 300}};
  auto bound = bind_library(use_of(problem), problem, tiny_draw(problem), buffers);
  if (const auto* error = std::get_if<submission::PlanError>(&bound)) {
    ADD_FAILURE() << error->what;
    return {};
  }
  return device::library_arguments(std::get<device::Launch>(bound));
}

TEST(LibraryUse, BindsTensorsByNameAndNumbersByTheDraw) {
  const auto arguments = bound_arguments(product_problem("fp32", kGoodArgs));
  ASSERT_EQ(arguments.size(), 12U);
  EXPECT_EQ(arguments[0].address, 100U);
  EXPECT_EQ(arguments[2].address, 300U);
  EXPECT_EQ(arguments[2].type, expr::DType::f32);
  EXPECT_EQ(arguments[3].number, 4);
  EXPECT_EQ(arguments[4].number, 8);
  EXPECT_EQ(arguments[5].number, 3);
  EXPECT_EQ(arguments[6].number, 3);   // batch
  EXPECT_EQ(arguments[9].number, -1);  // dense
}

TEST(LibraryUse, Tf32FollowsFromThePrecisionAlone) {
  const problem::Problem strict = product_problem("fp32", kGoodArgs);
  const problem::Problem loose = product_problem("tf32", kGoodArgs);
  EXPECT_EQ(bound_arguments(strict).back().number, 0);
  EXPECT_EQ(bound_arguments(loose).back().number, 1);
  EXPECT_EQ(math_of(use_of(strict), strict), "f32, TF32 off");
  EXPECT_EQ(math_of(use_of(loose), loose), "TF32");
  EXPECT_THAT(mistake_with(std::string(kGoodArgs) + ", tf32 = 1"),
              HasSubstr("no parameter 'tf32'"));
}

TEST(LibraryUse, MistakesNameTheProblemAndTheParameter) {
  EXPECT_EQ(mistake_with(kGoodArgs), "");
  const std::string missing = mistake_with(R"(a = "a", b = "b", c = "c", m = "m", n = "m")");
  EXPECT_THAT(missing,
              HasSubstr("level1/99/problem.toml, baseline 'cuBLAS': cublas.gemm needs 'k'"));
  EXPECT_THAT(mistake_with(std::string(kGoodArgs) + ", rows = 1"),
              HasSubstr("there are a, b, c, m, n, k, batch"));
  EXPECT_THAT(mistake_with(R"(a = "m", b = "b", c = "c", m = "m", n = "m", k = "k")"),
              HasSubstr("'a' of cublas.gemm must name an input or output, not 'm'"));
  EXPECT_THAT(mistake_with(R"(a = "scale", b = "b", c = "c", m = "m", n = "m", k = "k")"),
              HasSubstr("not 'scale'"));
  problem::Problem other = product_problem("fp32", kGoodArgs);
  other.baselines[0].library = "cudnn.conv";
  EXPECT_THAT(library_mistake(other, other.baselines[0]), HasSubstr("there are cublas.gemm"));
}

TEST(LibraryUse, WhatCannotBeComputedIsAPlanError) {
  const problem::Problem problem =
      product_problem("fp32", R"(a = "a", b = "b", c = "c", m = "m", n = "width", k = "k/2")");
  const std::vector<NamedBuffer> buffers{{"a", 100}, {"b", 200}, {"c", 300}};
  const auto bound = bind_library(use_of(problem), problem, tiny_draw(problem), buffers);
  ASSERT_TRUE(std::holds_alternative<submission::PlanError>(bound));
  EXPECT_THAT(std::get<submission::PlanError>(bound).what, HasSubstr("n: "));
  const problem::Problem good = product_problem("fp32", kGoodArgs);
  const auto nowhere = bind_library(use_of(good), good, tiny_draw(good), {});
  EXPECT_TRUE(std::holds_alternative<submission::PlanError>(nowhere));
}

TEST(LibraryUse, TravelsToTheJudgeAsCode) {
  const Code code = library_code(use_of(product_problem("fp32", kGoodArgs)));
  const nlohmann::json body = code_to_json(code);
  const Code back = code_from_json(body, {}, {});
  ASSERT_TRUE(back.library);
  EXPECT_EQ(to_json(*back.library), to_json(*code.library));
  EXPECT_EQ(back.digest, code.digest);
  EXPECT_EQ(back.submission.file, "cuBLAS");
  nlohmann::json broken = to_json(*code.library);
  broken["args"][0] = "a";
  EXPECT_THROW((void)library_use_from_json(broken), wire::WireError);
}

}  // namespace
}  // namespace sweep::evaluate
