#include "config/config.h"
#include "util/error.h"

#include <gmock/gmock.h>

namespace sweep::config {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kText = R"(
# KEY=sk-not-here
[run]
name = "r"   # nor here
slate = "slates/gone.toml"
num_correct_trials = 3
[agent]
max_turns = 7
[[models]]
name = "m"
base_url = "http://h/v1"
api_key_env = "H_KEY"
[models.sampling]
temperature = 0.1
)";

TEST(RecordedText, HasNoCommentsAndReadsTheSame) {
  const std::string text = recorded_text(kText, "s.toml");
  EXPECT_THAT(text, Not(HasSubstr("here")));
  EXPECT_EQ(recorded_text(text, "again"), text);
  const SweepConfig config = parse_recorded(text, "s.toml", "/").config;
  EXPECT_EQ(config.agent.harness.max_turns, 7);
  EXPECT_EQ(config.run.correct_trials, 3);
  EXPECT_DOUBLE_EQ(*config.models.at(0).sampling.temperature, 0.1);
  // The slate file need not be there.
  EXPECT_FALSE(config.run.selection.slate);
  EXPECT_THROW((void)parse("[run]\nname = \"r\"\nslate = \"slates/gone.toml\"\n", "s.toml", "/"),
               util::UsageError);
}

}  // namespace
}  // namespace sweep::config
