#include "../../support/test_name.h"
#include "agent/tools.h"
#include "endpoint/builtin.h"
#include "endpoint/script.h"
#include "fakes.h"
#include "submission/plan.h"

#include <gmock/gmock.h>

#include <tuple>

namespace sweep::agent {
namespace {

using test::World;

const std::filesystem::path kDemo = std::filesystem::path(SWEEP_SOURCE_DIR) / "configs/demo";

TEST(Demo, EveryKernelOfTheScriptsHasASoundPlan) {
  int kernels = 0;
  for (const endpoint::Script& script : endpoint::load_scripts(kDemo))
    for (const endpoint::ScriptConversation& conversation : script.conversations)
      for (const endpoint::ScriptTurn& turn : conversation.turns)
        for (const endpoint::ScriptCall& call : turn.calls) {
          if (!takes_kernel(call.tool))
            continue;
          const auto arguments = endpoint::parse_json(call.arguments);
          ASSERT_TRUE(arguments);
          const auto parsed =
              submission::parse("k.cu", endpoint::text_at(*arguments, "kernel_code"));
          const auto* error = std::get_if<submission::PlanError>(&parsed);
          ASSERT_EQ(error, nullptr) << script.file << ": " << error->what;
          EXPECT_EQ(std::get<submission::Submission>(parsed).plan.problem, conversation.problem);
          ++kernels;
        }
  EXPECT_EQ(kernels, 26);
}

struct Case {
  std::string model;
  endpoint::Api api;
  std::size_t turns;
};

class DemoModels : public testing::TestWithParam<Case> {};

// The real client, server and loop; only the judge is not real.
TEST_P(DemoModels, PlayToTheirEnd) {
  const Case& expected = GetParam();
  for (const auto& [level, problem, stream] : {std::tuple("level1", "3", true),
                                               std::tuple("sci", "heat2d", true),
                                               std::tuple("level1", "3", false)}) {
    const endpoint::ScriptServer server(kDemo);
    World w;
    w.config.models[0].deployment_name = expected.model;
    w.item.level = level;
    w.item.problem = problem;
    w.task.id = std::string(level) + "/" + problem;
    endpoint::Target target;
    target.api = expected.api;
    target.base_url = server.base_url();
    target.model = expected.model;
    target.stream = stream;
    endpoint::Services needs;
    needs.clock = &w.clock;
    const auto endpoint = endpoint::connect(target, {}, needs);
    const Services services{&w.memory, endpoint.get(), &w.judge, &w.clock, false};
    const record::Trajectory t = run(w.config, w.item, w.task, device::Id{}, {}, services);
    EXPECT_EQ(t.stop_reason, "submitted") << t.error;
    EXPECT_EQ(t.turns.size(), expected.turns);
    EXPECT_EQ(t.outcome, "correct");
    EXPECT_EQ(t.turns[0].requests.size(), expected.model == "demo-flaky" ? 3U : 1U);
    // What was recorded gives the same answer again.
    const record::Finished& first = w.memory.requests.at(0);
    const auto again = endpoint->parse(
        {w.memory.artifacts.at(first.input_sha256), w.memory.artifacts.at(first.output_sha256)});
    ASSERT_EQ(again.index(), 0U);
    EXPECT_EQ(std::get<endpoint::Completion>(again).message.text, t.turns[0].text);
  }
}

INSTANTIATE_TEST_SUITE_P(Scripts,
                         DemoModels,
                         testing::Values(Case{"demo-fixer", endpoint::Api::chat, 3},
                                         Case{"demo-fixer", endpoint::Api::responses, 3},
                                         Case{"demo-wrong", endpoint::Api::responses, 2},
                                         Case{"demo-hardcoder", endpoint::Api::chat, 2},
                                         Case{"demo-flaky", endpoint::Api::chat, 1},
                                         Case{"demo-flaky", endpoint::Api::responses, 1}),
                         sweep::test::named([](const Case& c) {
                           return c.model + (c.api == endpoint::Api::chat ? " chat" : " responses");
                         }));

}  // namespace
}  // namespace sweep::agent
