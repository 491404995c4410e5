// Small problems that may be scored and such that must not, each refused by the rule that it
// breaks, and every problem that ships, on the cpu device with real compilers, judges and runners.
#include "admit/admit.h"

#include "../support/every_run.h"
#include "problem/catalog.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <unistd.h>

namespace sweep::admit {
namespace {

using evaluate::admission::Rule;
using evaluate::admission::RuleResult;
using evaluate::admission::State;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;

const std::filesystem::path kSource = SWEEP_SOURCE_DIR;

// With few draws, and locks in `folder`.
AdmitOptions cpu_options(const std::filesystem::path& folder) {
  AdmitOptions options;
  options.services.cache =
      std::filesystem::temp_directory_path() / ("sweep-test-cache-" + std::to_string(::getuid()));
  options.services.program = SWEEP_BINARY;
  options.services.locks = folder / "locks";
  // A judge that root starts runs as another user and makes its lock files there.
  std::filesystem::create_directories(options.services.locks);
  std::filesystem::permissions(options.services.locks, std::filesystem::perms::all);
  options.rules.draws = 3;
  options.rules.heldout_draws = 2;
  return options;
}

// y[r, c] = alpha * x[r, c] + shift[c], or what is written in its place.
struct Texts {
  std::string tolerance;
  std::string reference = "(double)alpha * x[i] + shift[i % cols]";
  std::string seed = "alpha * x[i] + shift[i % cols]";
  std::string golden = "1.75, 2";  // of alpha = 1.5, x = (1, 2), shift = (0.25, -1)
};

class Admit : public ::testing::Test {
 protected:
  static std::string kernel(const std::string& type, const std::string& value) {
    return "//@ problem test/mine\n"
           "//@ k<<<ceildiv(rows*cols, 64), 64>>>(x, shift, y, rows, cols, alpha)\n"
           "__global__ void k(const float* x, const float* shift, " +
           type +
           "* y, int rows, int cols, float alpha) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "  if (i >= rows * cols) return;\n  y[i] = " +
           value + ";\n}\n";
  }

  void write(const Texts& texts) {
    util::write_file_atomic(folder_.path() / "problem.toml",
                            R"toml(schema = 1
id = "test/mine"
title = "Scale and shift"
domain = "linear-algebra"
statement = "s"
[dims]
rows = "free(1, 4096)"
cols = "free(1, 4096)"
[scalars]
alpha = "f32 = draw(0.5, 2)"
[inputs]
x     = "f32[rows, cols] = normal()"
shift = "f32[cols] = uniform(-1, 1)"
[outputs]
y = "f32[rows, cols]"
)toml" + texts.tolerance + R"toml(
[shapes]
small = { rows = 24, cols = 40, use = ["cpu", "check", "time"] }
[stress]
rows = "uniform(1, 40)"
cols = "uniform(1, 40)"
[edges]
list = [{ rows = 1, cols = 1 }]
[work]
flops = "2*rows*cols"
reference_ops = "2*rows*cols"
)toml");
    util::write_file_atomic(folder_.path() / "reference.cu", kernel("double", texts.reference));
    util::write_file_atomic(folder_.path() / "seed.cu", kernel("float", texts.seed));
    if (!texts.golden.empty()) {
      util::write_file_atomic(
          folder_.path() / "golden.json",
          R"({"schema": 1, "problem": "test/mine", "relative_tolerance": 1e-9, "cases": [{)"
          R"("dims": {"rows": 1, "cols": 2}, "scalars": {"alpha": 1.5},)"
          R"("inputs": {"x": [1, 2], "shift": [0.25, -1]}, "expected": {"y": [)" +
              texts.golden + "]}}]}");
    }
  }

  Admission examine(const Texts& texts) {
    write(texts);
    return admit(cpu_options(folder_.path()),
                 problem::require(folder_.path()),
                 [](const std::string&, std::size_t, std::size_t) {});
  }

  // Names of the rules that fail.
  static std::vector<std::string> failed(const Admission& admission) {
    std::vector<std::string> names;
    for (const RuleResult& rule : admission.rules) {
      if (rule.state == State::fails) {
        names.emplace_back(evaluate::admission::info(rule.rule).name);
      }
    }
    return names;
  }

  static const RuleResult& rule(const Admission& admission, Rule wanted) {
    return *std::ranges::find(admission.rules, wanted, &RuleResult::rule);
  }

  util::TempDir folder_;
};

using Names = std::vector<std::string>;

TEST_F(Admit, ASoundProblemIsAdmittedByAllRules) {
  const Admission found = examine({});
  EXPECT_EQ(failed(found), Names{});
  EXPECT_EQ(found.failure, "");
  EXPECT_EQ(found.rules.size(), 7U);
  EXPECT_TRUE(found.admitted());
  EXPECT_EQ(rule(found, Rule::work).state, State::not_measured);
  EXPECT_EQ(rule(found, Rule::draws).state, State::not_measured) << "three draws prove nothing";
  EXPECT_THAT(rule(found, Rule::honest).worst, HasSubstr("the reference in fp32"));
}

// A problem whose shapes are all large was refused, as no input had been seen to matter.
TEST_F(Admit, TheSmallestShapeIsExaminedHoweverLargeItIs) {
  write({});
  AdmitOptions options = cpu_options(folder_.path());
  options.rules.host_bytes = 1;
  const Admission found = admit(options,
                                problem::require(folder_.path()),
                                [](const std::string&, std::size_t, std::size_t) {});
  EXPECT_EQ(failed(found), Names{});
  EXPECT_THAT(rule(found, Rule::influence).worst, HasSubstr("2 of 2 inputs matter"));
}

TEST_F(Admit, ATooWideToleranceLetsNullSolversPass) {
  Texts texts;
  texts.tolerance = "[tolerance.y]\nfloor = 10\nceiling = 100\n";
  const Admission found = examine(texts);
  EXPECT_EQ(failed(found), (Names{"null", "precision"}));
  EXPECT_THAT(rule(found, Rule::nulls).failures,
              testing::AllOf(Contains(HasSubstr("small: y = zeros passes with ")),
                             Contains(HasSubstr("small: other x passes with ")),
                             Contains(HasSubstr("small: wrong alpha passes with "))));
}

TEST_F(Admit, AToleranceMayRefuseNullSolversAndLeaveTf32TooLittleMargin) {
  Texts texts;
  texts.tolerance = "[tolerance.y]\nfloor = 1e-4\nceiling = 1e-4\n";
  const Admission found = examine(texts);
  EXPECT_EQ(failed(found), Names{"precision"});
  EXPECT_THAT(rule(found, Rule::precision).failures,
              Contains(HasSubstr("times what is allowed, not 3 times")));
}

TEST_F(Admit, AnInputThatIsNotReadIsNamed) {
  Texts texts;
  texts.reference = "(double)alpha * x[i]";
  texts.seed = "alpha * x[i]";
  texts.golden = "1.5, 3";
  const Admission found = examine(texts);
  EXPECT_EQ(failed(found), Names{"influence"});
  EXPECT_THAT(rule(found, Rule::influence).failures,
              Contains(HasSubstr("'shift' influences no output")));
}

TEST_F(Admit, AnOutputThatIsConstantIsNamed) {
  Texts texts;
  texts.reference = "3";
  texts.seed = "3";
  texts.golden = "3, 3";
  const Admission found = examine(texts);
  EXPECT_EQ(failed(found), Names{"influence"});
  EXPECT_THAT(rule(found, Rule::influence).failures,
              Contains(HasSubstr("'y' has one and the same value")));
}

TEST_F(Admit, ErrorsOfTheInputsMustNotGrowWithoutBound) {
  Texts texts;
  texts.reference = "sin(1e5 * x[i]) + shift[i % cols]";
  texts.seed = "(float)(sin(1e5 * x[i]) + shift[i % cols])";
  texts.golden = "0.28574879797201652, -1.0714518952125198";
  const Admission found = examine(texts);
  EXPECT_THAT(failed(found), Contains("influence"));
  EXPECT_THAT(rule(found, Rule::influence).failures,
              Contains(HasSubstr("small: an error of the inputs grows ")));
}

TEST_F(Admit, GoldenVectorsMustBeThereAndAgree) {
  Texts texts;
  texts.golden = "";
  const Admission missing = examine(texts);
  EXPECT_EQ(failed(missing), Names{"golden"});
  EXPECT_THAT(rule(missing, Rule::golden).failures, Contains(HasSubstr("golden.json is missing")));
  texts.golden = "1.75, 2.5";
  const Admission wrong = examine(texts);
  EXPECT_EQ(failed(wrong), Names{"golden"});
  EXPECT_THAT(rule(wrong, Rule::golden).failures, Contains(HasSubstr("y[1] = 2, expected 2.5")));
}

TEST_F(Admit, ASeedThatIsWrongIsNoHonestOne) {
  Texts texts;
  texts.seed = "alpha * x[i] + shift[0]";
  const Admission found = examine(texts);
  EXPECT_THAT(failed(found), Contains("honest"));
  EXPECT_THAT(failed(found), Contains("draws"));
  EXPECT_THAT(rule(found, Rule::honest).failures, Contains(HasSubstr("the seed has ")));
}

TEST_F(Admit, AReferenceThatFaultsOnADrawEndsTheExamination) {
  Texts texts;
  texts.reference = "(double)alpha * x[i] + shift[rows > 1 ? i + (1 << 27) : i % cols]";
  const Admission found = examine(texts);
  EXPECT_FALSE(found.admitted());
  EXPECT_THAT(failed(found), AnyOf(Contains("draws"), testing::IsEmpty()));
  EXPECT_TRUE(!found.failure.empty() || rule(found, Rule::draws).state == State::fails);
}

TEST_F(Admit, WhatDoesNotCompileIsNotExamined) {
  Texts texts;
  texts.seed = "alpha * nothing";
  const Admission found = examine(texts);
  EXPECT_TRUE(found.rules.empty());
  EXPECT_THAT(found.failure, HasSubstr("does not compile"));
  EXPECT_FALSE(found.admitted());
}

std::vector<std::string> shipped() {
  std::vector<std::string> ids;
  const problem::Catalog catalog({kSource / "problems"});
  for (const problem::Entry& entry : catalog.entries()) {
    // One with its own seed.cu does not ship: somebody works on it here.
    if (!entry.planned() && !std::filesystem::exists(entry.folder / "seed.cu") &&
        test::in_every_run(entry.folder)) {
      ids.push_back(entry.id);
    }
  }
  return ids;
}

class Shipped : public ::testing::TestWithParam<std::string> {};

TEST_P(Shipped, IsAdmittedOnTheCpu) {
  const util::TempDir folder;
  AdmitOptions options = cpu_options(folder.path());
  options.services.problems = kSource / "problems";
  options.services.seeds = kSource / "seeds";
  options.services.golden = kSource / "tests/golden";
  options.rules.draw_seconds = 1;
  const Admission found = admit(options,
                                problem::Catalog({kSource / "problems"}).open(GetParam()),
                                [](const std::string&, std::size_t, std::size_t) {});
  EXPECT_TRUE(found.admitted()) << found.failure;
  for (const RuleResult& rule : found.rules) {
    for (const std::string& failure : rule.failures) {
      ADD_FAILURE() << evaluate::admission::info(rule.rule).name << ": " << failure;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Problems,
                         Shipped,
                         ::testing::ValuesIn(shipped()),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace sweep::admit
