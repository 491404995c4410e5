#include "../../support/test_name.h"
#include "examples.h"
#include "util/sha256.h"

#include <gmock/gmock.h>

#include <random>

namespace sweep::problem {
namespace {

using examples::kGrouped;
using examples::kHmc;
using examples::replaced;

Loaded read(const std::string& toml) {
  return parse(toml, {{"reference.cu", "x"}});
}

// Code and text of the first mistake.
std::string first(const std::string& toml) {
  const Loaded loaded = read(toml);
  if (loaded.mistakes.empty()) {
    return "no mistake";
  }
  EXPECT_FALSE(loaded.problem.has_value());
  return loaded.mistakes.front().code + " " + loaded.mistakes.front().text();
}

TEST(Reader, ReadsAnExampleWhole) {
  const Problem p = examples::problem(kHmc);
  EXPECT_EQ(p.id, "level2/16");
  ASSERT_EQ(p.dims.size(), 3U);
  EXPECT_EQ(p.dims[0].name, "chains");
  EXPECT_EQ(p.dims[0].max, 1 << 22);
  ASSERT_EQ(p.scalars.size(), 1U);
  EXPECT_EQ(p.scalars[0].type, expr::DType::f32);
  std::vector<std::string> names;
  for (const Tensor& t : p.tensors) {
    names.push_back(t.name);
  }
  EXPECT_THAT(
      names,
      testing::ElementsAre("q", "momentum", "u", "q_next", "accepted", "margin", "alternative"));
  EXPECT_EQ(p.tensor("accepted")->type, expr::DType::boolean);
  EXPECT_EQ(p.tolerance("q_next")->otherwise, "alternative");
  EXPECT_EQ(p.tolerance("accepted")->compare, Tolerance::Compare::bitwise);
  EXPECT_DOUBLE_EQ(p.tolerance("q_next")->floor, 4 * std::ldexp(1.0, -23));
  ASSERT_EQ(p.shapes.size(), 4U);
  EXPECT_EQ(p.shapes[0].name, "tiny");
  EXPECT_TRUE(p.shapes[0].uses.cpu && p.shapes[0].uses.golden && !p.shapes[0].uses.time);
  EXPECT_TRUE(p.shapes[2].uses.check && p.shapes[2].uses.time);
  EXPECT_EQ(p.edges.size(), 1U);
  EXPECT_FALSE(p.work.flops_is_floor);
  EXPECT_EQ(p.toml.hash, util::sha256_hex(kHmc));
}

TEST(Reader, ReadsGroupsBaselinesAndTranslation) {
  const Problem p = examples::problem(kGrouped);
  EXPECT_EQ(p.precision, Precision::tf32);
  EXPECT_EQ(p.groups.at(0).name, "part");
  EXPECT_EQ(p.baselines.at(0).library, "cublas.gemm_grouped");
  EXPECT_THAT(p.translation->evidence, testing::ElementsAre("HGMMA", "UTMALDG"));
  EXPECT_EQ(p.work.unit, Unit::tensor_tf32);
}

TEST(Reader, PolicyNamesFamiliesOfInstructions) {
  const auto with = [](const std::string& policy) {
    return std::string(kHmc) + "\n[policy]\n" + policy;
  };
  const Loaded good = read(with("isa = \"gate\"\nisa_families = [\"wgmma\", \"tma\"]\n"));
  ASSERT_TRUE(good.problem) << good.mistakes.front().text();
  EXPECT_EQ(good.problem->policy.isa, IsaPolicy::gate);
  EXPECT_THAT(good.problem->policy.isa_families, testing::ElementsAre("wgmma", "tma"));
  EXPECT_EQ(read(with("isa_families = [\"mma\"]\n")).problem->policy.isa, IsaPolicy::off);
  EXPECT_THAT(first(with("isa = \"warn\"\n")), testing::HasSubstr("E_PROBLEM_ISA"));
  EXPECT_THAT(first(with("isa_families = [\"wgma\"]\n")),
              testing::HasSubstr("did you mean 'wgmma'"));
  EXPECT_THAT(first(with("isa = \"yes\"\nisa_families = [\"mma\"]\n")),
              testing::HasSubstr("'isa'"));
}

TEST(Reader, EvidenceOfATranslationIsAWishUnlessThePolicySaysMore) {
  EXPECT_EQ(examples::problem(kGrouped).policy.isa, IsaPolicy::warn);
  EXPECT_THAT(examples::problem(kGrouped).policy.isa_families,
              testing::ElementsAre("wgmma", "tma"));
}

TEST(Reader, HashChangesWithEveryText) {
  Problem p = examples::problem(kHmc);
  const std::string before = p.hash();
  p.reference.hash[0] = p.reference.hash[0] == '0' ? '1' : '0';
  EXPECT_NE(p.hash(), before);
}

struct Case {
  const char* from;
  const char* to;
  const char* message;
};

class ReaderMistakes : public testing::TestWithParam<Case> {};

TEST_P(ReaderMistakes, NamesPlaceAndNextStep) {
  const auto& [from, to, message] = GetParam();
  EXPECT_THAT(first(replaced(kHmc, from, to)), testing::StartsWith(message));
}

INSTANTIATE_TEST_SUITE_P(
    All,
    ReaderMistakes,
    testing::Values(
        Case{"schema = 1",
             "schema = 2",
             "E_PROBLEM_SCHEMA problem.toml:1:10: this program reads schema 1"},
        Case{"domain =", "domian =", "E_PROBLEM_MISSING_KEY problem.toml:1:1: 'domain' is missing"},
        Case{"title =",
             "slate = []\ntitle =",
             "E_PROBLEM_UNKNOWN_KEY problem.toml:3:1: unknown key 'slate' in the file; did you "
             "mean 'slates'?"},
        Case{"id = \"level2/16\"", "id = \"16\"", "E_PROBLEM_ID problem.toml:2:6:"},
        Case{"f32[chains] = uniform",
             "f31[chains] = uniform",
             "E_PROBLEM_DTYPE problem.toml:16:13: 'f31' is no element type; did you mean 'f32'?"},
        Case{"\"f32[chains] = uniform(0, 1)\"",
             "\"f32[chain] = uniform(0, 1)\"",
             "E_PROBLEM_UNKNOWN_NAME problem.toml:16:17: unknown name 'chain'; did you mean "
             "'chains'?"},
        Case{"uniform(0, 1)",
             "unifrom(0, 1)",
             "E_PROBLEM_FILL problem.toml:16:27: 'unifrom' is not known here; did you mean "
             "'uniform'?"},
        Case{
            "uniform(0, 1)", "uniform(0)", "E_PROBLEM_FILL problem.toml:16:27: uniform needs 'hi'"},
        Case{"uniform(0, 1)",
             "uniform(0, 1, 2)",
             "E_PROBLEM_FILL problem.toml:16:41: uniform has too many"},
        Case{"uniform(0, 1)",
             "normal(mean=1, men=2)",
             "E_PROBLEM_FILL problem.toml:16:46: normal has no argument 'men'; did you mean "
             "'mean'?"},
        Case{"uniform(0, 1)", "uniform(0, ", "E_EXPR_EXPECTED problem.toml:16:"},
        Case{"free(1, 256)", "free(2, 1)", "E_PROBLEM_DIM problem.toml:9:"},
        Case{"free(1, 256)", "free(1, chains)", "E_EXPR_UNKNOWN_NAME problem.toml:9:"},
        Case{"chains = 8, dim = 5",
             "chains = 8, dmi = 5",
             "E_PROBLEM_SHAPE problem.toml:29:1: no value for dim 'dim'"},
        Case{"chains = 8, dim = 5",
             "chains = 8, dim = 5000",
             "E_PROBLEM_BOUNDS problem.toml:29:33: dim = 5000 is outside free(1, 256)"},
        Case{"\"cpu\"",
             "\"cup\"",
             "E_PROBLEM_CPU_SHAPE problem.toml:28:1: no shape has the use 'cpu'"},
        Case{"steps  = \"uniform(1, 12)\"",
             "",
             "E_PROBLEM_STRESS problem.toml:33:1: no rule for dim 'steps'"},
        Case{"alternative\"\n",
             "alternativ\"\n",
             "E_PROBLEM_TOLERANCE problem.toml:25:10: 'alternativ' does not suit 'else'; did you "
             "mean"},
        Case{"f32[chains, dim]\"\naccepted",
             "f32[chains, dim] = normal()\"\naccepted",
             "E_PROBLEM_FILL problem.toml:18:1: 'q_next' must have no fill"},
        Case{"q_next   = ", "norm     = ", "E_PROBLEM_TOLERANCE"},
        Case{"flops = \"chains*dim",
             "flops = \"chain*dim",
             "E_PROBLEM_UNKNOWN_NAME problem.toml:40:10: unknown name 'chain'; did you mean "
             "'chains'?"},
        Case{"draw(0.15, 0.45)",
             "draw(0.15, 0.45), hiden",
             "E_PROBLEM_SCALAR problem.toml:12:37: 'hiden' is not understood here"},
        Case{"[work]",
             "[policy]\nnan = \"maybe\"\n[work]",
             "E_PROBLEM_VALUE problem.toml:40:7: 'maybe' is no value"},
        Case{"[work]", "[work", "E_PROBLEM_TOML problem.toml:39:"}),
    sweep::test::named(&Case::message));

TEST(Reader, RefusesNamesThatKernelsCannotUse) {
  for (const char* name : {"norm", "float", "threadIdx", "log", "f32", "a__b"}) {
    const std::string toml =
        replaced(replaced(kHmc, "u        = ", std::string(name) + " = "), "x", "x");
    EXPECT_THAT(first(toml), testing::StartsWith("E_PROBLEM_NAME problem.toml:16:1")) << name;
  }
}

TEST(Reader, FindsAllMistakesAtOnce) {
  std::string toml = replaced(kHmc, "domain =", "domian =");
  toml = replaced(toml, "free(1, 64)", "free(9, 1)");
  toml = replaced(toml, "bool[chains]", "bol[chains]");
  EXPECT_GE(read(toml).mistakes.size(), 4U);
}

TEST(Reader, MissingReferenceIsAMistake) {
  const Loaded loaded = parse(kHmc, {});
  ASSERT_EQ(loaded.mistakes.size(), 1U);
  EXPECT_THAT(loaded.mistakes[0].text(), testing::HasSubstr("reference.cu is missing"));
}

TEST(Reader, MadeInputsNeedTheirPlan) {
  const std::string toml = replaced(kHmc, "uniform(0, 1)", "made()");
  EXPECT_THAT(first(toml), testing::HasSubstr("inputs.cu is missing"));
  EXPECT_TRUE(parse(toml, {{"reference.cu", "x"}, {"inputs.cu", "y"}}).problem.has_value());
}

// Any bytes end in a value or in mistakes, never in a crash or an exception.
TEST(Reader, SurvivesMutations) {
  std::mt19937_64 random(7);
  const std::string alphabet = "[]{}()=\"',.#\n0123456789abcxyz_*+-/<>&|? \\\x80\xff";
  for (const std::string& original : {std::string(kHmc), std::string(kGrouped)}) {
    for (int round = 0; round < 1500; ++round) {
      std::string text = original;
      const int edits = 1 + static_cast<int>(random() % 4);
      for (int i = 0; i < edits; ++i) {
        const std::size_t at = random() % text.size();
        const std::size_t length = std::min<std::size_t>(random() % 12, text.size() - at);
        switch (random() % 3) {
          case 0:
            text.erase(at, length);
            break;
          case 1:
            text.insert(at, 1, alphabet[random() % alphabet.size()]);
            break;
          default:
            text.insert(at, original.substr(random() % (original.size() - 12), 12));
        }
      }
      const Loaded loaded = read(text);
      EXPECT_TRUE(loaded.problem.has_value() || !loaded.mistakes.empty());
    }
  }
}

TEST(Reader, SurvivesHostileSizes) {
  EXPECT_FALSE(read(std::string(2 << 20, 'a')).problem);
  EXPECT_FALSE(read("a = " + std::string(5000, '[')).problem);
  EXPECT_FALSE(read(replaced(kHmc, "uniform(0, 1)", std::string(3000, '('))).problem);
  std::string many = "[inputs]\n";
  for (int i = 0; i < 5000; ++i) {
    many += "x" + std::to_string(i) + " = \"f32[1] = normal()\"\n";
  }
  const Loaded loaded = read(replaced(kHmc, "[inputs]\n", many));
  EXPECT_FALSE(loaded.problem);
  EXPECT_LT(loaded.mistakes.size(), 1000U);
}

}  // namespace
}  // namespace sweep::problem
