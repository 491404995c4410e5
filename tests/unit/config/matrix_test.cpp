#include "config/matrix.h"

#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace sweep::config {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> ids(const std::string& run, const std::string& rest = {}) {
  std::vector<std::string> out;
  for (const WorkItem& item : expand(read(with(run, rest)).config, catalogue()).items) {
    out.push_back(item.id());
  }
  return out;
}

TEST(Matrix, ListsInPopcornBenchsOrder) {
  const std::string text = with(
                               "variants = [\"popcorn2\", \"popcorn\"]\nlevels = [2, "
                               "1]\nproblem_subset = [3, 1]\nattempts_per_problem = 2") +
                           "[[models]]\nname = \"n\"\nbase_url = \"http://localhost/v1\"\n";
  const Matrix matrix = expand(read(text).config, catalogue());
  ASSERT_EQ(matrix.items.size(), 2U * 2 * 2 * 2 * 2);
  EXPECT_EQ(matrix.items[0].id(), "popcorn2/m/level1/1");
  EXPECT_EQ(matrix.items[1].id(), "popcorn2/m/level1/1#2");
  EXPECT_EQ(matrix.items[2].id(), "popcorn2/m/level1/3");
  EXPECT_EQ(matrix.items[4].id(), "popcorn2/n/level1/1");
  EXPECT_EQ(matrix.items[8].id(), "popcorn2/m/level2/1");
  EXPECT_EQ(matrix.items[16].id(), "popcorn/m/level1/1");
  std::set<std::string> unique;
  for (const WorkItem& item : matrix.items) {
    unique.insert(item.id());
  }
  EXPECT_EQ(unique.size(), matrix.items.size());
}

TEST(Matrix, TheMostParticularSubsetCounts) {
  const std::string lists =
      "problem_subset = [1]\nproblem_subset_by_level = { \"1\" = [2] "
      "}\n[run.problem_subset_by_variant_level.popcorn2]\n1 = [3]\n";
  EXPECT_THAT(ids("variants = [\"popcorn\", \"popcorn2\"]\nlevels = [1, 3]\n" + lists),
              ElementsAre("popcorn/m/level1/2",
                          "popcorn/m/level3/1",
                          "popcorn2/m/level1/3",
                          "popcorn2/m/level3/1"));
}

TEST(Matrix, MultiGpuProblemsAreLeftOutUnlessAskedFor) {
  EXPECT_EQ(ids("variant = \"popcorn\"\nlevels = [2]").size(), 44U);
  EXPECT_EQ(ids("variant = \"popcorn2\"\nlevels = [2]").size(), 50U);
  EXPECT_EQ(ids("variant = \"popcorn\"\nlevels = [2]", "[parallelism]\nmulti_gpu = true").size(),
            6U);
  EXPECT_THAT(
      expand(read(with("variant = \"popcorn\"\nlevels = [2]")).config, catalogue()).notes.back(),
      HasSubstr("6 problems need several GPUs"));
}

TEST(Matrix, SaysWhatIsNotShippedOrPlanned) {
  const Matrix matrix = expand(
      read(with("variants = [\"original\", \"popcorn\"]\nlevels = [1]")).config, catalogue());
  EXPECT_EQ(matrix.items.size(), 132U);
  EXPECT_EQ(matrix.ready(), 1U);
  EXPECT_THAT(matrix.notes,
              ElementsAre(HasSubstr("original level 1: 0 of 100 available; 100 are not shipped"),
                          HasSubstr("popcorn level 1: 1 of 32 available; 31 are planned")));
}

TEST(Matrix, FindsProblemsByIdNameAndGlob) {
  EXPECT_THAT(ids("problems = [\"level1/3\"]"), ElementsAre("custom/m/level1/3"));
  EXPECT_THAT(ids("problems = [\"l1/3\", \"p1_3\", \"level1/3_p1_3\"]"),
              ElementsAre("custom/m/level1/3"));
  EXPECT_THAT(ids("problems = [\"sci/*\"]"),
              ElementsAre("custom/m/sci/heat2d", "custom/m/sci/nbody"));
  EXPECT_THAT(
      ids("problems = [\"level3/1?\"]"),
      ElementsAre(
          "custom/m/level3/10", "custom/m/level3/11", "custom/m/level3/12", "custom/m/level3/13"));
  EXPECT_THAT(ids("slate = \"demo\""),
              ElementsAre("demo/m/level1/3", "demo/m/level2/40", "demo/m/sci/heat2d"));
}

TEST(Matrix, StartOrderIsFixedAndAPermutation) {
  const auto items =
      expand(read(with("variant = \"popcorn\"\nlevels = [1, 2, 3]")).config, catalogue()).items;
  const auto once = start_order(items);
  EXPECT_EQ(start_order(items), once);
  EXPECT_NE(once, items);
  EXPECT_EQ(std::set<WorkItem>(once.begin(), once.end()),
            std::set<WorkItem>(items.begin(), items.end()));
  // Made by an independent program from MT19937-64 with the same seed.
  std::string order;
  for (const WorkItem& item : start_order({items.begin(), items.begin() + 7})) {
    order += item.problem;
  }
  EXPECT_EQ(order, "6714532");
}

TEST(Matrix, StressGatesByVariant) {
  config::Run run;
  EXPECT_TRUE(stress_gates(run, "popcorn2"));
  EXPECT_TRUE(stress_gates(run, "custom"));
  EXPECT_FALSE(stress_gates(run, "popcorn"));
  run.stress = true;
  EXPECT_TRUE(stress_gates(run, "popcorn"));
}

// A plain recursive definition to compare with.
bool slow_match(std::string_view p, std::string_view t) {
  if (p.empty()) {
    return t.empty();
  }
  if (p.starts_with("**")) {
    return slow_match(p.substr(2), t) || (!t.empty() && slow_match(p, t.substr(1)));
  }
  if (p[0] == '*') {
    return slow_match(p.substr(1), t) || (!t.empty() && t[0] != '/' && slow_match(p, t.substr(1)));
  }
  return !t.empty() && (p[0] == t[0] || (p[0] == '?' && t[0] != '/')) &&
         slow_match(p.substr(1), t.substr(1));
}

TEST(Glob, AgreesWithTheDefinition) {
  std::mt19937 random(3);
  int matches = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string pattern;
    std::string text;
    for (auto k = random() % 6; k > 0; --k) {
      pattern += "ab/*?"[random() % 5];
    }
    for (auto k = random() % 6; k > 0; --k) {
      text += "ab/"[random() % 3];
    }
    const bool expected = slow_match(pattern, text);
    matches += expected ? 1 : 0;
    ASSERT_EQ(glob_match(pattern, text), expected) << pattern << " " << text;
  }
  EXPECT_GT(matches, 500);
  EXPECT_TRUE(glob_match(std::string(2000, '*'), std::string(2000, 'a')));
}

TEST(Cost, IsAnUpperBoundAndUnknownWithoutAPrice) {
  const std::string rest =
      "[models.sampling]\nmax_tokens = 1000\n[models.price]\ninput = 2\noutput = "
      "10\n[agent]\nmax_turns = 2\nmax_tool_calls = 2\ntool_output_context_max_chars = 4000\n";
  const SweepConfig priced = read(with("slate = \"demo\"", rest)).config;
  const auto items = expand(priced, catalogue()).items;
  const CostPreview preview = preview_cost(priced, items, 500);
  ASSERT_EQ(items.size(), 3U);
  // Turn 0 sends 500, turn 1 sends 500 + 1000 reply + 1000 tool result.
  EXPECT_DOUBLE_EQ(preview.input_tokens, 3 * (500 + 2500));
  EXPECT_DOUBLE_EQ(preview.output_tokens, 3 * 2000);
  EXPECT_DOUBLE_EQ(*preview.usd, (9000 * 2 + 6000 * 10) / 1e6);
  const SweepConfig unpriced = read(with("slate = \"demo\"")).config;
  EXPECT_FALSE(preview_cost(unpriced, items).usd.has_value());
  EXPECT_EQ(preview.scripted, 0U);
  SweepConfig played = priced;
  played.models.front().base_url = "builtin:demo";
  EXPECT_EQ(preview_cost(played, items).scripted, items.size());
}

}  // namespace
}  // namespace sweep::config
