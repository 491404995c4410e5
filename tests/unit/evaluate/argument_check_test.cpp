#include "evaluate/argument_check.h"

#include "evaluate/signature.h"

#include <gmock/gmock.h>

namespace sweep::evaluate {
namespace {

using testing::HasSubstr;

constexpr const char* kWithTwoShapes = R"T(schema = 1
id = "level1/1"
title = "t"
domain = "d"
statement = "s"
[dims]
n = "free(1, 1<<34)"
[inputs]
x = "i8[n] = constant(2)"
[outputs]
y = "i8[n]"
[shapes]
small = { n = 1000, use = ["cpu", "check"] }
large = { n = 6000000000, use = ["check", "time"] }
[stress]
n = "log(1, 1000)"
[edges]
list = []
[work]
flops = 1
reference_ops = 1
)T";

// What is said of "//@ k<<<1, 32>>>(ARGUMENTS)" where k's symbol is `lowered`.
std::string said_of(const std::string& arguments, const std::string& lowered) {
  problem::Loaded loaded = problem::parse(kWithTwoShapes, {{"reference.cu", "//@ nothing\n"}});
  if (!loaded.problem) {
    return loaded.mistakes.at(0).text();
  }
  auto parsed = submission::parse(
      "mine.cu",
      "//@ scratch i8 t[n]\n//@ k<<<1, 32>>>(" + arguments + ")\n" + "__global__ void k() {}\n");
  Code code;
  code.submission = std::get<submission::Submission>(std::move(parsed));
  code.signature = candidate_signature(*loaded.problem);
  compile::CompiledKernel kernel;
  kernel.name = "k";
  kernel.lowered = lowered;
  kernel.parameters = submission::parameters_of(lowered);
  code.kernels = {kernel};
  const auto error = argument_error(code, *loaded.problem, 132);
  return error ? error->text("") : "";
}

TEST(ArgumentCheck, WhatFitsIsFine) {
  EXPECT_EQ(said_of("x, t, y, n", "_Z1kPKaPaS1_l"), "");
}

TEST(ArgumentCheck, CountConstAndWidthAreSaidWithTheirPlace) {
  EXPECT_THAT(
      said_of("x, t, y", "_Z1kPKaPaS1_l"),
      testing::AllOf(HasSubstr("mine.cu:2:"), HasSubstr("takes 4 arguments, plan passes 3")));
  EXPECT_THAT(said_of("x, t, y, n", "_Z1kPaS_S_l"), HasSubstr("x"));
  // Only the larger shape's n does not fit into an int.
  EXPECT_THAT(said_of("x, t, y, n", "_Z1kPKaPaS1_i"), HasSubstr("6000000000"));
}

TEST(ArgumentCheck, WhatOnlyTheDeviceKnowsIsLeftToIt) {
  EXPECT_EQ(said_of("x, t", "k"), "");
}

}  // namespace
}  // namespace sweep::evaluate
