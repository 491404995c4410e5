#include "config/drift.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::config {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

std::string endpoint(const std::string& lines) {
  return with("problems = [\"sci/heat2d\"]", "[models.endpoint]\n" + lines);
}

TEST(EndpointKeys, AreKeptAsText) {
  const Loaded loaded = read(endpoint(R"(profile = "vllm"
include_usage = false
omit = ["stop", "seed"]
tool_markup = "hermes"
query = "api-version=preview"
body = { thinking = { type = "disabled" }, top_k = 20 }
)"));
  const EndpointKeys& keys = loaded.config.models.at(0).endpoint;
  EXPECT_EQ(keys.profile, "vllm");
  ASSERT_EQ(keys.values.size(), 5U);
  EXPECT_EQ(keys.values.at("include_usage"), "false");
  EXPECT_EQ(keys.values.at("omit"), "stop,seed");
  EXPECT_EQ(keys.values.at("tool_markup"), "hermes");
  EXPECT_EQ(keys.values.at("query"), "api-version=preview");
  EXPECT_EQ(keys.values.at("body"), R"({"thinking":{"type":"disabled"},"top_k":20})");
  EXPECT_THAT(canonical_json(loaded.config), HasSubstr("\"profile\":\"vllm\""));
}

TEST(EndpointKeys, AreLeftOutOfTheIdentityWhereNothingIsSaid) {
  const Loaded loaded = read(with("problems = [\"sci/heat2d\"]"));
  EXPECT_EQ(loaded.config.models.at(0).endpoint.profile, "auto");
  EXPECT_THAT(canonical_json(loaded.config), Not(HasSubstr("endpoint")));
}

TEST(EndpointKeys, MistakesSayWhatIsTaken) {
  EXPECT_THAT(errors_of(endpoint("profile = \"vlm\"")),
              AllOf(HasSubstr("x.toml:8:1"), HasSubstr("'vlm' is unknown"), HasSubstr("sglang")));
  EXPECT_THAT(errors_of(endpoint("profile = \"vlm\"")), HasSubstr("did you mean \"vllm\"?"));
  EXPECT_THAT(errors_of(endpoint("tool_markup = [\"herms\"]")),
              HasSubstr("did you mean \"hermes\"?"));
  EXPECT_THAT(errors_of(endpoint("auth = \"basic\"")), HasSubstr("bearer api-key none"));
  EXPECT_THAT(errors_of(endpoint("auth = \"bearer api-key\"")), HasSubstr("unknown"));
  EXPECT_THAT(errors_of(endpoint("include_usage = \"yes\"")), HasSubstr("include_usage"));
  EXPECT_THAT(errors_of(endpoint("tool_markup = [\"off\", \"glm\"]")), HasSubstr("mixes"));
  EXPECT_THAT(errors_of(endpoint("body = 3")), HasSubstr("a table"));
  EXPECT_THAT(errors_of(endpoint("omit = [\"a,b\"]")), HasSubstr("comma"));
  EXPECT_THAT(errors_of(endpoint("tool_markups = \"off\"")), HasSubstr("tool_markup"));
}

}  // namespace
}  // namespace sweep::config
