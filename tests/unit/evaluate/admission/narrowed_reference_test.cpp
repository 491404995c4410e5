#include "evaluate/admission/narrowed_reference.h"

#include "submission/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sweep::evaluate::admission {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kReference =
    "//@ scratch f64 part[n]\n"
    "//@ k<<<1, 1>>>(x, y, margin, part, n)\n"
    "__global__ void k(const float* x, double* y, double* margin, double* part, int n) {\n"
    "  double doubled = 2.0 * (double)x[0];\n"
    "}\n";

problem::Problem parsed(const std::string& output, const std::string& precision) {
  const std::string toml =
      "schema = 1\nid = \"level1/1\"\ntitle = \"t\"\ndomain = \"d\"\n"
      "statement = \"s\"\nprecision = \"" +
      precision +
      "\"\n[dims]\nn = \"free(1, 100)\"\n[inputs]\nx = \"f32[n] = normal()\"\n"
      "[outputs]\ny = \"" +
      output +
      "[n]\"\n[aux]\nmargin = \"f64[n]\"\n[shapes]\n"
      "tiny = { n = 7, use = [\"cpu\"] }\nfull = { n = 50 }\n[stress]\n"
      "n = \"uniform(1, 9)\"\n[edges]\nlist = []\n[work]\nflops = \"n\"\n"
      "reference_ops = \"n\"\n";
  const problem::Loaded loaded = problem::parse(toml, {{"reference.cu", kReference}});
  EXPECT_TRUE(loaded.problem);
  return loaded.problem.value_or(problem::Problem{});
}

TEST(NarrowedReference, ComputesInFloatWithAuxAsScratch) {
  const NarrowedReference made = narrowed_reference(parsed("f32", "fp32"));
  EXPECT_THAT(made.text, HasSubstr("//@ scratch f32 margin[n]\n"));
  EXPECT_THAT(made.text, HasSubstr("//@ scratch f32 part[n]\n"));
  EXPECT_THAT(made.text, HasSubstr("float doubled = 2.0 * (float)x[0];"));
  EXPECT_THAT(made.text, Not(HasSubstr("double*")));
  EXPECT_TRUE(std::holds_alternative<submission::Submission>(
      submission::parse("reference in fp32", made.text)));
}

TEST(NarrowedReference, IsNoneWhereFloatIsNotTheOutputsType) {
  EXPECT_EQ(narrowed_reference(parsed("bf16", "bf16")).text, "");
  EXPECT_THAT(narrowed_reference(parsed("bf16", "bf16")).reason, HasSubstr("output 'y' is bf16"));
  EXPECT_THAT(narrowed_reference(parsed("f64", "fp64")).reason, HasSubstr("fp64"));
}

// Its plan is written for the tensors of all ranks at once.
TEST(NarrowedReference, IsNoneWhereThereAreRanks) {
  problem::Problem ranks = parsed("f32", "fp32");
  ranks.dims.front().kind = problem::Dim::Kind::ranks;
  EXPECT_EQ(narrowed_reference(ranks).text, "");
  EXPECT_THAT(narrowed_reference(ranks).reason, HasSubstr("all ranks"));
}

TEST(NarrowedReference, TakesIntegerOutputs) {
  EXPECT_NE(narrowed_reference(parsed("i32", "fp32")).text, "");
}

}  // namespace
}  // namespace sweep::evaluate::admission
