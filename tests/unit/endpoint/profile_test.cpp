#include "endpoint/profile.h"

#include "config/schema.h"
#include "endpoint/json.h"
#include "endpoint/target.h"
#include "util/error.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace sweep::endpoint {
namespace {

using testing::HasSubstr;

Profile named(const char* name) {
  config::EndpointKeys keys;
  keys.profile = name;
  return resolve(keys, "http://127.0.0.1:8000/v1");
}

// What docs/endpoints.md says of each row, from what the servers' own pages and issues say.
TEST(Profiles, EachRowSaysWhatItsServersNeed) {
  for (const char* name : {"azure-v1", "azure-classic", "azure-inference"})
    EXPECT_EQ(named(name).auth, Auth::api_key) << name;
  EXPECT_EQ(named("azure-classic").path, "/openai/deployments/{model}");
  EXPECT_EQ(named("azure-classic").query, "api-version=2024-10-21");
  EXPECT_EQ(named("azure-inference").path, "/models");
  EXPECT_EQ(named("azure-inference").query, "api-version=2024-05-01-preview");
  for (const char* name :
       {"azure-inference", "sglang", "llama.cpp", "ollama", "deepseek", "kimi", "glm", "qwen"})
    EXPECT_EQ(named(name).max_tokens_field, TokenField::max_tokens) << name;
  for (const char* name : {"generic", "openai", "azure-v1", "azure-classic", "xai", "vllm"})
    EXPECT_EQ(named(name).max_tokens_field, TokenField::max_completion_tokens) << name;
  for (const char* name : {"deepseek", "kimi", "glm", "qwen"})
    EXPECT_EQ(named(name).tool_choice, ToolChoice::auto_only) << name;
  for (const char* name : {"openai", "azure-v1", "azure-classic", "xai", "deepseek", "gemini"})
    EXPECT_TRUE(named(name).tool_markup.empty()) << name;
  for (const char* name : {"openai", "xai", "gemini"})
    EXPECT_FALSE(named(name).think_prefilled) << name;
  EXPECT_EQ(named("kimi").tool_markup, std::vector{Markup::kimi});
  EXPECT_EQ(named("glm").tool_markup, std::vector{Markup::glm});
  EXPECT_EQ(named("qwen").tool_markup, (std::vector{Markup::hermes, Markup::qwen3_xml}));
  EXPECT_EQ(named("xai").omit,
            (std::vector<std::string>{"stop", "presence_penalty", "frequency_penalty"}));
  EXPECT_EQ(named("xai").reasoning_summary, "off");
  EXPECT_EQ(named("vllm").reasoning_replay, Replay::both);
  EXPECT_EQ(named("ollama").empty_content, EmptyContent::empty);
  EXPECT_EQ(named("kimi").empty_content, EmptyContent::placeholder);
  EXPECT_EQ(named("kimi").tool_ids, ToolIds::kimi);
  EXPECT_EQ(named("gemini").no_choices, NoChoices::refusal);
  EXPECT_EQ(named("openrouter").effort_field, EffortField::reasoning_object);
  EXPECT_THAT(named("openrouter").body, HasSubstr("allow_fallbacks"));
}

TEST(Profiles, AreChosenByHost) {
  const std::pair<const char*, const char*> places[] = {
      {"https://api.openai.com/v1", "openai"},
      {"https://R.OpenAI.azure.com/openai/v1/", "azure-v1"},
      {"https://r.services.ai.azure.com/openai/v1", "azure-v1"},
      {"https://r.openai.azure.com/models", "azure-inference"},
      {"https://r.services.ai.azure.com/models", "azure-inference"},
      {"https://r.openai.azure.com/openai/deployments/d", "azure-classic"},
      {"https://api.x.ai/v1", "xai"},
      {"https://api.deepseek.com", "deepseek"},
      {"https://api.moonshot.cn/v1", "kimi"},
      {"https://open.bigmodel.cn/api/paas/v4", "glm"},
      {"https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "qwen"},
      {"https://generativelanguage.googleapis.com/v1beta/openai", "gemini"},
      {"https://openrouter.ai/api/v1", "openrouter"},
      {"http://localhost:11434/v1", "ollama"},
      {"http://[::1]:11434/v1", "ollama"},
      {"http://localhost:8000/v1", "generic"},
      {"https://api.openai.com.evil.example/v1", "generic"},
      {"https://evilopenai.azure.com.example", "generic"},
      {"builtin:demo", "generic"},
      {"", "generic"}};
  for (const auto& [url, name] : places)
    EXPECT_EQ(profile_for(url), name) << url;
}

TEST(Profiles, EveryRowResolvesAndIsNamedInTheConfiguration) {
  const config::Key* key = config::find_key_of("models.endpoint", "profile");
  ASSERT_NE(key, nullptr);
  for (const std::string_view name : profile_names()) {
    config::EndpointKeys keys;
    keys.profile = name;
    const Profile profile = resolve(keys, "https://h/v1");
    EXPECT_EQ(profile.name, name);
    EXPECT_EQ(to_json(profile)["name"], name);
    EXPECT_EQ(to_json(profile).size(), profile_keys().size() + 1);
    const std::string toml =
        "[run]\nname = \"r\"\nproblems = [\"a/1\"]\n[[models]]\nname = \"m\"\n"
        "base_url = \"http://localhost:1/v1\"\n[models.endpoint]\nprofile = \"" +
        std::string(name) + "\"\n";
    EXPECT_EQ(config::parse(toml, "x.toml", "/").config.models[0].endpoint.profile, name);
  }
}

TEST(Profiles, TheConfigurationHasTheSameKeys) {
  std::vector<std::string> ours = {"profile"};
  for (const std::string_view key : profile_keys())
    ours.emplace_back(key);
  std::vector<std::string> theirs = config::names_of("models.endpoint");
  std::sort(ours.begin(), ours.end());
  std::sort(theirs.begin(), theirs.end());
  EXPECT_EQ(ours, theirs);
}

// Every value that the configuration lists for a word is one here, and a wrong one is none.
TEST(Profiles, TakeEveryValueThatTheConfigurationTakes) {
  const std::pair<const char*, const char*> values[] = {
      {"auth", "bearer api-key none"},
      {"max_tokens_field", "max_completion_tokens max_tokens"},
      {"tool_choice", "all auto omit"},
      {"effort_field", "reasoning_effort reasoning.effort omit"},
      {"reasoning_summary", "auto concise detailed off"},
      {"reasoning_replay", "same_field both none"},
      {"empty_content", "null empty omit placeholder"},
      {"system_role", "system developer user"},
      {"tool_ids", "as_is kimi"},
      {"tool_markup", "off auto hermes qwen3_xml pythonic kimi glm json fenced"},
      {"json_repair", "safe off"},
      {"require_model_match", "off prefix exact"},
      {"no_choices", "error refusal"},
      {"include_usage", "true false"},
      {"think_prefilled", "true false"},
      {"parallel_tool_calls", "true false"},
      {"strict_params", "true false"}};
  for (const auto& [key, words] : values) {
    std::istringstream list(words);
    for (std::string word; list >> word;) {
      Profile profile;
      EXPECT_TRUE(set(profile, key, word)) << key << " " << word;
    }
    Profile profile;
    EXPECT_FALSE(set(profile, key, "nonsense")) << key;
    // An empty list of formats is none.
    EXPECT_EQ(set(profile, key, ""), key == std::string_view("tool_markup")) << key;
  }
  Profile profile;
  EXPECT_FALSE(set(profile, "body", "[1]"));
  EXPECT_FALSE(set(profile, "nosuch", "x"));
}

TEST(Profiles, KeysChangeTheRow) {
  config::EndpointKeys keys;
  keys.profile = "kimi";
  keys.values = {{"tool_markup", "off"}, {"body", R"({"top_k":20})"}, {"omit", "seed, stop"}};
  const Profile profile = resolve(keys, "");
  EXPECT_TRUE(profile.tool_markup.empty());
  EXPECT_EQ(profile.max_tokens_field, TokenField::max_tokens);
  EXPECT_EQ(profile.omit, (std::vector<std::string>{"seed", "stop"}));
  EXPECT_EQ(to_json(profile)["body"]["top_k"], 20);
  EXPECT_THAT(summary(keys, ""), HasSubstr("kimi, with body = "));
  keys.values["auth"] = "magic";
  EXPECT_THROW((void)resolve(keys, ""), util::UsageError);
  keys = {};
  keys.profile = "nosuch";
  EXPECT_THROW((void)resolve(keys, ""), util::UsageError);
}

TEST(Profiles, TargetsHaveTheirModels) {
  config::Model model;
  model.deployment_name = "grok";
  model.base_url = "https://api.x.ai/v1";
  model.api_kind = config::ApiKind::chat;
  model.request_timeout_s = 30;
  model.stream = false;
  const Target target = target_of(model, model.base_url, Secret("k"));
  EXPECT_EQ(target.profile.name, "xai");
  EXPECT_EQ(target.model, "grok");
  EXPECT_EQ(target.api, Api::chat);
  EXPECT_FALSE(target.stream);
  EXPECT_EQ(target.limits.total, std::chrono::seconds(30));
  EXPECT_LE(target.limits.idle, target.limits.total);
}

// The page's table names every row and every key.
TEST(Profiles, AreInTheDocumentation) {
  std::ifstream file(SWEEP_SOURCE_DIR "/docs/endpoints.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const std::string_view name : profile_names())
    EXPECT_NE(text.str().find("`" + std::string(name) + "`"), std::string::npos) << name;
  for (const std::string_view key : profile_keys())
    EXPECT_NE(text.str().find("`" + std::string(key) + "`"), std::string::npos) << key;
}

}  // namespace
}  // namespace sweep::endpoint
