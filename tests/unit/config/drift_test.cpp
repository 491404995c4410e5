#include "config/drift.h"

#include "../../support/test_name.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::config {
namespace {

using namespace testing;

struct Edit {
  const char* from;
  const char* to;
  const char* path;  // empty: no change at all
  bool refuses;
};

constexpr const char* kBase = R"([run]
name = "r"
slate = "demo"
attempts_per_problem = 1
[agent]
max_turns = 10
[parallelism]
agents_per_gpu = 2
[[models]]
name = "m"
base_url = "http://localhost/v1"
rpm = 10
[models.sampling]
temperature = 0.5
)";

class Drift : public ::testing::TestWithParam<Edit> {};

TEST_P(Drift, IsJudged) {
  std::string text = kBase;
  text.replace(text.find(GetParam().from), std::string(GetParam().from).size(), GetParam().to);
  const Conditions conditions{{"gpu", "H200"}};
  const auto changes = drift(identity_json(read(kBase).config, conditions),
                             identity_json(read(text).config, conditions));
  if (*GetParam().path == '\0') {
    EXPECT_TRUE(changes.empty());
    return;
  }
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].path, GetParam().path);
  EXPECT_EQ(changes[0].kind == Change::Kind::refuses, GetParam().refuses);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Drift,
    ::testing::Values(
        Edit{"max_turns = 10", "max_turns = 15", "agent.max_turns", true},
        Edit{"max_turns = 10", "max_turns = 10 # same", "", false},
        Edit{"rpm = 10", "rpm = 10\npriority = 2", "models.m.priority", false},
        Edit{"rpm = 10", "rpm = 10\npriority = 0", "", false},
        Edit{"max_turns = 10", "", "", false},
        Edit{"[agent]", "[agent]\nptx_hub = \"auto\"", "agent.ptx_hub", true},
        Edit{"[agent]", "[agent]\nptx_hub = \"off\"", "", false},
        Edit{"[run]", "[run]\nisa_policy = \"gate\"", "run.isa_policy", true},
        Edit{"[run]", "[run]\nisa_policy = \"problem\"", "", false},
        Edit{"[run]",
             "[run]\nsource_hardware_gpu_name = \"A100\"",
             "run.source_hardware_gpu_name",
             true},
        Edit{"temperature = 0.5", "temperature = 0.6", "models.m.sampling.temperature", true},
        Edit{"localhost/v1", "localhost/v2", "models.m.base_url", true},
        Edit{"[run]", "[run]\nseed = 4", "run.seed", true},
        Edit{"problem = 1", "problem = 3", "run.attempts_per_problem", false},
        Edit{"rpm = 10", "rpm = 20", "models.m.rpm", false},
        Edit{"rpm = 10", "rpm = 10\nstream = false", "models.m.stream", false},
        Edit{"agents_per_gpu = 2", "agents_per_gpu = 3", "parallelism.agents_per_gpu", false},
        Edit{"[[models]]",
             "[[models]]\nname = \"n\"\nbase_url = \"http://localhost/v1\"\n[[models]]",
             "models.n",
             false},
        Edit{"slate = \"demo\"",
             "slate = \"demo\"\nproblems = [\"level1/1\"]",
             "run.selection.problems",
             false}),
    sweep::test::named(&Edit::to));

TEST(DriftConditions, ChangesRefuseAndAdditionsDoNot) {
  const SweepConfig c = read(kBase).config;
  const auto kinds = [&](const Conditions& before, const Conditions& after) {
    std::string out;
    for (const Change& change : drift(identity_json(c, before), identity_json(c, after))) {
      out += change.path + (change.kind == Change::Kind::refuses ? "! " : " ");
    }
    return out;
  };
  EXPECT_EQ(kinds({{"gpu", "H200"}}, {{"gpu", "H100"}}), "conditions.gpu! ");
  EXPECT_EQ(kinds({{"judge", "1"}}, {{"judge", "2"}}), "conditions.judge! ");
  EXPECT_EQ(kinds({{"seed:level1/3", "a"}}, {{"seed:level1/3", "b"}}),
            "conditions.seed:level1/3! ");
  EXPECT_EQ(kinds({}, {{"seed:level1/3", "b"}}), "conditions.seed:level1/3 ");
  EXPECT_EQ(kinds({{"seed:level1/3", "a"}}, {}), "conditions.seed:level1/3 ");
  EXPECT_EQ(kinds({{"gpu", "H200"}}, {}), "conditions.gpu! ");
}

TEST(DriftConditions, RefusesWhatIsNoIdentity) {
  const std::string good = identity_json(read(kBase).config, {});
  for (const char* bad : {"", "[]", "{}", "{\"config\":1,\"conditions\":{}}", "{\"config\":{}"}) {
    EXPECT_THROW(static_cast<void>(drift(bad, good)), util::UsageError) << bad;
  }
}

TEST(Identity, HoldsNoAbsolutePathAndIsStable) {
  SweepConfig c = read(kBase).config;
  const std::string text = identity_json(c, {});
  c.root = "/elsewhere";
  c.run.runs_dir = "/elsewhere/runs";
  c.file = "/elsewhere/x.toml";
  EXPECT_EQ(identity_json(c, {}), text);
}

TEST(DriftHarness, EveryRuleOfOnesOwnIsHeldAgainstTheRun) {
  const auto identity = [](const std::string& agent) {
    std::string text = kBase;
    text.replace(text.find("max_turns = 10"), 14, agent);
    return identity_json(read(text).config, {});
  };
  const auto paths = [&](const std::string& before, const std::string& after) {
    std::vector<std::string> out;
    for (const Change& change : drift(identity(before), identity(after))) {
      EXPECT_EQ(change.kind, Change::Kind::refuses) << change.path;
      out.push_back(change.path);
    }
    return out;
  };
  const std::string mine = "harness = \"mine\"\n[harness.mine]\nbase = \"optimize\"\n";
  EXPECT_THAT(paths("harness = \"all\"", "harness = \"default\""),
              ::testing::UnorderedElementsAre("agent.harness", "agent.tools"));
  EXPECT_THAT(paths(mine, mine + "feedback = \"check\""),
              ::testing::ElementsAre("agent.harness_rules.feedback"));
  EXPECT_THAT(paths(mine, mine + "show_seed = false"),
              ::testing::ElementsAre("agent.harness_rules.show_seed"));
  EXPECT_THAT(paths(mine, mine + "stop = \"first_correct\""),
              ::testing::ElementsAre("agent.harness_rules.stop"));
  EXPECT_THAT(paths(mine, mine + "max_turns = 3"), ::testing::ElementsAre("agent.max_turns"));
  // A table that the run does not use decides nothing.
  EXPECT_THAT(paths("harness = \"all\"", "harness = \"all\"\n[harness.other]\nmax_turns = 3"),
              ::testing::IsEmpty());
}

}  // namespace
}  // namespace sweep::config
