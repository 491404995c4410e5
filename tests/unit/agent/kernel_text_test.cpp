#include "agent/kernel_text.h"

#include "fakes.h"

#include <gmock/gmock.h>

namespace sweep::agent {
namespace {

using testing::HasSubstr;

const std::string kPlain = "__global__ void plain() {}\n";
const std::string kPlanned = "//@ k<<<1, 32>>>(x)\n__global__ void k(float* x) {}\n";

std::string block(const std::string& content, const std::string& fence = "```") {
  return fence + "cuda\n" + content + fence + "\n";
}

TEST(KernelInText, TakesBlocksOfEitherMarkAndAnyLength) {
  for (const char* fence : {"```", "````", "~~~", "~~~~~"})
    EXPECT_EQ(kernel_in_text("Here:\n" + block(kPlain, fence) + "done"), kPlain) << fence;
  EXPECT_EQ(kernel_in_text("~~~\n```\n" + kPlain + "```\n~~~\n"), "```\n" + kPlain + "```\n");
}

TEST(KernelInText, AKernelWithAPlanWinsOverOneWithout) {
  EXPECT_EQ(kernel_in_text(block(kPlanned) + "As before:\n" + block(kPlain)), kPlanned);
  EXPECT_EQ(kernel_in_text(block(kPlain) + block(kPlanned)), kPlanned);
  const std::string other = "/*@ k<<<1, 1>>>(x) */\n" + kPlain;
  EXPECT_EQ(kernel_in_text(block(kPlanned) + block(other) + block("ls -l\n")), other);
  const std::string ptx = "//@ k<<<1, 32>>>(x)\n.version 8.0\n.visible .entry k() {}\n";
  EXPECT_EQ(kernel_in_text(block(ptx, "~~~")), ptx);
  EXPECT_EQ(kernel_in_text(block(kPlain) + block("__global__ void last() {}\n")),
            "__global__ void last() {}\n");
}

TEST(KernelInText, AnOpenBlockCountsUnlessTheAnswerWasCut) {
  const std::string open = "```cuda\n" + kPlanned;
  EXPECT_EQ(kernel_in_text(open), kPlanned);
  EXPECT_EQ(kernel_in_text(open, true), "");
  EXPECT_EQ(kernel_in_text(block(kPlain) + open, true), kPlain);
  EXPECT_EQ(kernel_in_text("no code"), "");
  EXPECT_EQ(kernel_in_text(block("//@ k<<<1, 1>>>(x)\n")), "");
}

TEST(Unfenced, TakesAFenceRoundAllOfIt) {
  for (const char* fence : {"```", "````", "~~~"})
    EXPECT_EQ(unfenced("\n" + block(kPlain, fence)), kPlain) << fence;
  EXPECT_EQ(unfenced("```cuda\nfast```"), "fast");
  EXPECT_EQ(unfenced("```cuda\n" + kPlain + "// end\n"), kPlain + "// end");
  EXPECT_EQ(unfenced("```\n```"), "");
  for (const std::string& other : {kPlain, "x\n" + block(kPlain), block(kPlain) + "text\n"})
    EXPECT_EQ(unfenced(other), other);
}

std::string said(const std::string& arguments) {
  const KernelArgument got = kernel_argument({"c", "compile_kernel", arguments});
  EXPECT_EQ(got.text.empty(), !got.problem.empty());
  return got.text + got.problem;
}

TEST(KernelArgument, SaysWhatWasExpectedAndWhatCame) {
  EXPECT_EQ(said(R"({"kernel_code": "k"})"), "k");
  EXPECT_THAT(said(R"({"kernel_code": ["a", "b"]})"), HasSubstr("must be a string"));
  EXPECT_THAT(said(R"({"kernel_code": ["a", "b"]})"), HasSubstr("and is an array"));
  EXPECT_THAT(said(R"({"kernel_code": {"code": "a"}})"), HasSubstr("and is an object"));
  EXPECT_THAT(said(R"({"kernel_code": 7})"), HasSubstr("and is a number"));
  EXPECT_THAT(said(R"({"kernel_code": true})"), HasSubstr("and is a boolean"));
  EXPECT_THAT(said(R"({"kernel_code": null})"), HasSubstr("and is null"));
  EXPECT_THAT(said(R"({"kernel_code": " \n"})"), HasSubstr("kernel_code is empty"));
  EXPECT_THAT(said("{}"), HasSubstr("is missing; there are no arguments"));
  EXPECT_THAT(said(R"({"code": "k", "x\u001b": 1})"),
              HasSubstr("is missing; the arguments are: code, x\\x1b"));
}

}  // namespace
}  // namespace sweep::agent
