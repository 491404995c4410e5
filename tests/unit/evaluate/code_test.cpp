#include "evaluate/code.h"

#include <gmock/gmock.h>

namespace sweep::evaluate {
namespace {

using submission::PlanError;
using testing::HasSubstr;

// A plan that launches "k(x, n)" on one input and a dim, and the code it was compiled to.
Code code_of(const std::string& lowered) {
  auto parsed = submission::parse(
      "mine.cu", "//@ problem test/x\n//@ k<<<1, 32>>>(x, n)\n__global__ void k() {}\n");
  Code code;
  code.submission = std::get<submission::Submission>(std::move(parsed));
  code.signature.problem = "test/x";
  code.signature.dims = {"n"};
  code.signature.tensors = {{"x", expr::DType::f32, submission::Role::output, {}}};
  compile::CompiledKernel kernel;
  kernel.name = "k";
  kernel.lowered = lowered;
  kernel.parameters = submission::parameters_of(lowered);
  code.kernels = {kernel};
  return code;
}

std::variant<std::vector<device::Step>, PlanError> bound(const Code& code,
                                                         std::vector<std::size_t> sizes) {
  submission::Binding binding;
  binding.dims = {{"n", 7}};
  const auto expansion = submission::expand(code.submission, code.signature, binding);
  device::FunctionFacts facts;
  facts.parameter_bytes = std::move(sizes);
  return bind_steps(code, std::get<submission::Expansion>(expansion), {{"k", facts}}, {4096});
}

TEST(BindSteps, TypesOfTheNameAndSizesOfTheDeviceAgree) {
  EXPECT_TRUE(std::holds_alternative<std::vector<device::Step>>(bound(code_of("_Z1kPfi"), {8, 4})));
  EXPECT_TRUE(std::holds_alternative<std::vector<device::Step>>(bound(code_of("_Z1kPfi"), {})));
}

TEST(BindSteps, ADisagreementNamesBoth) {
  auto found = bound(code_of("_Z1kPfi"), {8, 8});
  ASSERT_TRUE(std::holds_alternative<PlanError>(found));
  PlanError error = std::get<PlanError>(found);
  EXPECT_EQ(error.code, "E_PLAN_ARGUMENT_TYPE");
  EXPECT_EQ(error.line, 2);
  EXPECT_THAT(error.what, HasSubstr("parameter 2 as 'int' of 4 bytes"));
  EXPECT_THAT(error.what, HasSubstr("finds 8 bytes"));
  found = bound(code_of("_Z1kPfi"), {8});
  ASSERT_TRUE(std::holds_alternative<PlanError>(found));
  error = std::get<PlanError>(found);
  EXPECT_THAT(error.what, HasSubstr("declares 2 parameters, the device finds 1"));
}

TEST(BindSteps, PlainNamesTakeTheSizesOfTheDevice) {
  const auto found = bound(code_of("k"), {8, 2});
  ASSERT_TRUE(std::holds_alternative<std::vector<device::Step>>(found));
  const auto& launch = std::get<device::Launch>(std::get<0>(found).at(0));
  EXPECT_EQ(launch.arguments.at(0).size(), 8U);
  EXPECT_EQ(launch.arguments.at(1).size(), 2U);
  const auto unknown = bound(code_of("k"), {});
  ASSERT_TRUE(std::holds_alternative<PlanError>(unknown));
  EXPECT_EQ(std::get<PlanError>(unknown).code, "E_PLAN_UNTYPED_KERNEL");
}

}  // namespace
}  // namespace sweep::evaluate
