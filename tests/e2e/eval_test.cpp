// The options of `sweep eval` beside the verdict: --require.
#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;

// A workspace with mine.cu, the starter of level1/3: right, with one constant, ROWS.
class EvalFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const Outcome starter = here_.sweep({"new", "level1/3"});
    ASSERT_EQ(starter.code, 0) << starter.err;
    good_ = starter.out;
    here_.write("mine.cu", good_);
  }

  [[nodiscard]] Outcome eval(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"eval", "mine.cu", "--device", "cpu"});
    return here_.sweep(arguments);
  }

  // The starter with its sum spoilt.
  [[nodiscard]] std::string wrong() const {
    std::string text = good_;
    const std::size_t at = text.find("float sum = 0");
    EXPECT_NE(at, std::string::npos) << text;
    return text.replace(at, 13, "float sum = 1");
  }

  Workspace here_;
  std::string good_;
};

TEST_F(EvalFile, BadOptionsAreOneLineAndCodeTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--require", "fastr"}, "column 1: unknown word 'fastr'; did you mean 'faster'?"},
      {{"--require", "speedup>=x"}, "--require 'speedup>=x': column 10: a number must stand here"},
      {{"--require", "faster", "--only", "check"}, "--only check does not time the kernel"},
      {{"--require", "correct", "--only", "compile"}, "--only compile does not run the kernel"},
      {{"-D", "ROWS=x"}, "-D: 'ROWS=x' is not NAME=INTEGER; write e.g. -D TILE=64"},
  };
  for (const auto& [arguments, words] : cases) {
    const Outcome outcome = eval(arguments);
    EXPECT_EQ(outcome.code, 2) << words << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, "") << words;
    EXPECT_TRUE(outcome.err.starts_with("sweep: ")) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(words));
  }
}

TEST_F(EvalFile, ARequirementThatIsMetExitsWithZero) {
  const Outcome met = eval({"--only", "check", "--require", "correct"});
  EXPECT_EQ(met.code, 0) << met.out << met.err;
  EXPECT_THAT(met.out, HasSubstr(" required correct: met; found PASS_INCONCLUSIVE\n"));
}

// The cpu device never says FASTER, so that this holds however fast the machine is.
TEST_F(EvalFile, ACorrectKernelThatIsLessThanRequiredExitsWithFour) {
  const Outcome slow = eval({"--fast", "--require", "correct", "--require", "faster"});
  EXPECT_EQ(slow.code, 4) << slow.out << slow.err;
  EXPECT_THAT(slow.out, HasSubstr(" required correct: met; found "));
  EXPECT_THAT(slow.out, HasSubstr(" required faster: not met; found "));
}

TEST_F(EvalFile, AWrongKernelExitsWithOneWhateverIsRequired) {
  here_.write("mine.cu", wrong());
  const Outcome outcome = eval({"--only", "check", "--require", "correct", "--json"});
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  const nlohmann::json json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(json.contains("requirements")) << outcome.out;
  EXPECT_EQ(
      json["requirements"],
      (nlohmann::json{{{"requirement", "correct"}, {"met", false}, {"found", "INCORRECT_VALUE"}}}));
}

}  // namespace
}  // namespace sweep::e2e
