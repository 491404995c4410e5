#include "config/harness.h"

#include "support.h"
#include "util/error.h"

#include <gmock/gmock.h>

namespace sweep::config {
namespace {

using testing::read;
using testing::with;

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Harness harness_of(const std::string& rest, const std::string& run = "") {
  return read(with("slate = \"demo\"\n" + run, rest)).config.agent.harness;
}

std::string refusal_of(const std::string& rest, const std::string& run = "") {
  try {
    (void)harness_of(rest, run);
  } catch (const util::UsageError& error) {
    return error.what();
  }
  return {};
}

TEST(Harness, TheTableHoldsTheSixAndTheirRules) {
  std::vector<std::string> names;
  for (const Harness& one : builtin_harnesses()) {
    names.push_back(one.name);
    EXPECT_TRUE(one.builtin());
    EXPECT_EQ(one.tools.back(), "submit_kernel") << one.name;
  }
  EXPECT_THAT(names,
              ElementsAre("single_turn", "default", "all", "repair", "optimize", "one_shot"));
  EXPECT_EQ(builtin_harness("single_turn").max_turns, 1);
  EXPECT_EQ(builtin_harness("all").tools, all_tools());
  EXPECT_EQ(builtin_harness("repair").max_turns, 5);
  EXPECT_EQ(rules_text(builtin_harness("repair")),
            "each answer is tried until one is correct, feedback sanitised");
  EXPECT_EQ(rules_text(builtin_harness("optimize")),
            "each answer is tried until the turns are used up, feedback timing, the seed is shown");
  EXPECT_EQ(builtin_harness("one_shot").samples, 5);
  EXPECT_THROW((void)builtin_harness("mine"), util::InfraError);
}

TEST(Harness, OnesOwnBeginsAsItsBase) {
  const Harness mine = harness_of(
      "[agent]\nharness = \"quick\"\n[harness.quick]\nbase = \"optimize\"\nmax_turns = 12\n"
      "tools = [\"static_check\"]\nsamples = 3\nwarn_turns_remaining = 1\n");
  EXPECT_EQ(mine.name, "quick");
  EXPECT_EQ(mine.base, "optimize");
  EXPECT_FALSE(mine.builtin());
  EXPECT_EQ(mine.max_turns, 12);
  EXPECT_EQ(mine.max_tool_calls, 12);
  EXPECT_EQ(mine.warn_turns_remaining, 1);
  EXPECT_EQ(mine.stop, Stop::turns);
  EXPECT_EQ(mine.feedback, Feedback::timing);
  EXPECT_TRUE(mine.show_seed);
  EXPECT_THAT(mine.tools, ElementsAre("static_check", "submit_kernel"));
  // Calls follow the turns where versions are tried, and only there; what is given is kept.
  const auto calls = [](const std::string& agent, const std::string& own) {
    return harness_of("[agent]\nharness = \"q\"\n" + agent + "[harness.q]\n" + own).max_tool_calls;
  };
  EXPECT_EQ(calls("", "base = \"repair\"\nmax_turns = 8\n"), 8);
  EXPECT_EQ(calls("max_turns = 9\n", "base = \"repair\"\n"), 9);
  EXPECT_EQ(calls("", "base = \"repair\"\nmax_turns = 2\n"), 5);
  EXPECT_EQ(calls("", "base = \"repair\"\nmax_turns = 8\nmax_tool_calls = 6\n"), 6);
  EXPECT_EQ(calls("", "max_turns = 40\n"), 30);
  // [agent] has the last word on budgets.
  EXPECT_EQ(harness_of("[agent]\nharness = \"q\"\nmax_turns = 3\n[harness.q]\nmax_turns = 12\n")
                .max_turns,
            3);
}

TEST(Harness, SamplesAreTheDefaultOfAttempts) {
  const auto attempts = [](const std::string& run) {
    return read(with("slate = \"demo\"\n" + run, "[agent]\nharness = \"one_shot\""))
        .config.run.attempts_per_problem;
  };
  EXPECT_EQ(attempts(""), 5);
  EXPECT_EQ(attempts("attempts_per_problem = 2"), 2);
}

// Whatever looks at a kernel says more of it than "format error", "compiler error" or "incorrect".
TEST(Harness, SanitisedFeedbackGoesWithNoToolThatTakesAKernel) {
  for (const std::string& tool : all_tools()) {
    const std::string file = "[harness.mine]\nbase = \"repair\"\ntools = [\"" + tool +
                             "\"]\n[agent]\nharness = \"mine\"\n";
    if (tool == "submit_kernel" || tool == "get_gpu_specs" || tool == "ert_roofline")
      EXPECT_EQ(harness_of(file).feedback, Feedback::sanitised) << tool;
    else
      EXPECT_THAT(refusal_of(file), HasSubstr("the tool " + tool + " tells more")) << tool;
  }
  EXPECT_THAT(refusal_of("[harness.mine]\nstop = \"turns\"\nfeedback = \"sanitised\"\n"),
              HasSubstr("the tool compile_kernel tells more; set tools = []"));
  EXPECT_EQ(harness_of("[harness.mine]\nstop = \"turns\"\nfeedback = \"sanitised\"\ntools = []\n"
                       "[agent]\nharness = \"mine\"\n")
                .tools,
            std::vector<std::string>{"submit_kernel"});
}

TEST(Harness, EachMistakeIsNamedWithItsPlace) {
  const std::string all = refusal_of(
      "[agent]\nharness = \"mien\"\n"
      "[harness.mine]\nbase = \"optimise\"\nstop = \"first_corect\"\nmax_turns = 0\nwarm = 1\n"
      "tools = [\"profile\"]\n"
      "[harness.all]\nmax_turns = 3\n"
      "[harness.\"a b\"]\nmax_turns = 3\n"
      "[harness.contrary]\nbase = \"repair\"\ntools = [\"run_correctness\"]\n"
      "[harness.idle]\nfeedback = \"timing\"\n"
      "[harness.stray]\ntemperature = 0.5\n");
  EXPECT_THAT(all, HasSubstr("unknown harness 'mien'; did you mean 'mine'?"));
  EXPECT_THAT(all, HasSubstr(":11:1: unknown base 'optimise'; did you mean 'optimize'?"));
  EXPECT_THAT(all, HasSubstr("unknown stop 'first_corect'; did you mean 'first_correct'?"));
  EXPECT_THAT(all, HasSubstr("max_turns = 0 is out of range"));
  EXPECT_THAT(all, HasSubstr("unknown key 'warm' in [harness.NAME]"));
  EXPECT_THAT(all, HasSubstr("unknown tool 'profile'"));
  EXPECT_THAT(all, HasSubstr("'all' is a built-in harness; choose another name"));
  EXPECT_THAT(all, HasSubstr("'a b' is no name for a harness"));
  EXPECT_THAT(all, HasSubstr("the tool run_correctness tells more; leave run_correctness out"));
  EXPECT_THAT(all, HasSubstr("remove feedback, or set stop"));
  EXPECT_THAT(all, HasSubstr("unknown key 'temperature' in [harness.NAME]; it belongs in"));
  EXPECT_THAT(refusal_of("[agent]\nstop = \"turns\""),
              HasSubstr("unknown key 'stop' in [agent]; it belongs in [harness.NAME]"));
  EXPECT_THAT(refusal_of("[agent]\nharness = \"repair\"", "tools = \"all\""),
              HasSubstr("has its own tools"));
  EXPECT_THAT(refusal_of("[harness]\nbase = \"all\""), HasSubstr("harness.base is no table"));
}

}  // namespace
}  // namespace sweep::config
