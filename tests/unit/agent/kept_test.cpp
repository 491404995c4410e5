#include "agent/kept.h"

#include "fakes.h"

#include <gmock/gmock.h>

namespace sweep::agent {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kTask(40'000, 't');
const std::string kLong(40'000, 'k');

endpoint::Conversation conversation() {
  return {{endpoint::Speaker::system, "s"},
          {endpoint::Speaker::user, kTask},
          {endpoint::Speaker::assistant, kLong},
          {endpoint::Speaker::user, "short"}};
}

TEST(Kept, ALongTextStandsInTheTurnThatHasItFirst) {
  KeptMessages kept;
  const auto first = kept.sent(conversation(), 1);
  EXPECT_EQ(first.at(1).at("content"), kTask);
  EXPECT_EQ(first.at(2).at("content"), kLong);
  const auto again = kept.sent(conversation(), 2);
  EXPECT_EQ(again.at(1).at("content"), kTask);  // of a prompt every turn has the whole
  EXPECT_THAT(again.at(2).at("content").get<std::string>(),
              AllOf(HasSubstr("40000 bytes as in turn 2"), HasSubstr(util::sha256_hex(kLong))));
  EXPECT_EQ(again.at(3).at("content"), "short");
}

TEST(Kept, OfATurnThatIsSentTwiceTheLastCounts) {
  KeptMessages kept;
  (void)kept.sent(conversation(), 1);
  EXPECT_EQ(kept.sent(conversation(), 1).at(2).at("content"), kLong);
}

TEST(Kept, AnAnswerIsTheFirstPlaceOfItsText) {
  KeptMessages kept;
  const endpoint::Conversation sent = conversation();
  const auto items = kept.answer(sent.at(2), 0);
  EXPECT_EQ(items.at(0).at("content").at(0).at("text"), kLong);
  EXPECT_THAT(kept.sent(sent, 1).at(2).at("content").get<std::string>(), HasSubstr("as in turn 1"));
}

// Ten turns of long kernels.
TEST(Kept, ATrajectoryOfLongKernelsStaysSmallAndNamesThem) {
  test::World w;
  w.config.agent.harness.max_turns = 10;
  const auto kernel = [](int i) { return "fast " + std::to_string(i) + std::string(300'000, 'x'); };
  for (int i = 0; i < 9; ++i)
    w.model.answers.emplace_back(test::says("", {test::call("run_correctness", kernel(i))}));
  w.model.answers.emplace_back(test::says("", {test::call("submit_kernel", kernel(0))}));
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.outcome, "correct");
  EXPECT_LT(record::to_json(t).dump().size(), std::size_t{2} << 20U);
  for (int i = 0; i < 9; ++i) {
    const record::ToolCall& call = t.turns[static_cast<std::size_t>(i)].tool_calls.at(0);
    EXPECT_EQ(w.memory.artifacts.at(call.kernel_sha256), kernel(i));
    EXPECT_THAT(call.args.at("kernel_code").get<std::string>(), HasSubstr("bytes left out"));
  }
  EXPECT_EQ(w.memory.artifacts.at(t.final_result->kernel_sha256), kernel(0));
  EXPECT_LT(t.turns.back().submitted_kernel->size(), 70'000U);
}

TEST(Kept, AKernelOfUsualLengthStandsWhole) {
  test::World w;
  const std::string kernel = "fast" + std::string(30'000, 'x');
  w.model.answers = {test::says("", {test::call("submit_kernel", kernel)})};
  const record::Trajectory t = w.run();
  EXPECT_EQ(t.turns[0].tool_calls[0].args.at("kernel_code"), kernel);
  EXPECT_EQ(t.turns[0].tool_calls[0].kernel_sha256, "");
  EXPECT_EQ(t.turns[0].submitted_kernel, kernel);
}

}  // namespace
}  // namespace sweep::agent
