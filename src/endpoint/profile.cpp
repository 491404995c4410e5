#include "endpoint/profile.h"

#include "endpoint/json.h"
#include "http/client.h"
#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <type_traits>

namespace sweep::endpoint {
namespace {

using Words = std::array<std::string_view, 8>;  // empty: past the last

// In the order of the enumerations.
constexpr Words kAuth = {"bearer", "api-key", "none"};
constexpr Words kTokenField = {"max_completion_tokens", "max_tokens"};
constexpr Words kToolChoice = {"all", "auto", "omit"};
constexpr Words kEffort = {"reasoning_effort", "reasoning.effort", "omit"};
constexpr Words kReplay = {"same_field", "both", "none"};
constexpr Words kEmpty = {"null", "empty", "omit", "placeholder"};
constexpr Words kRole = {"system", "developer", "user"};
constexpr Words kIds = {"as_is", "kimi"};
constexpr Words kRepair = {"safe", "off"};
constexpr Words kMatch = {"off", "prefix", "exact"};
constexpr Words kNoChoices = {"error", "refusal"};
constexpr Words kMarkup = {"hermes", "qwen3_xml", "pythonic", "kimi", "glm", "json", "fenced"};
constexpr Words kParallel = {"unset", "true", "false"};
constexpr Words kSummary = {"auto", "concise", "detailed", "off"};

// Index of a word, or -1.
int index_of(const Words& words, std::string_view word) {
  const auto* const found = std::find(words.begin(), words.end(), word);
  return word.empty() || found == words.end() ? -1 : static_cast<int>(found - words.begin());
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (const std::string_view one = util::trim(text.substr(0, comma)); !one.empty())
      out.emplace_back(one);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

template <auto Member>
using TypeOf = std::remove_reference_t<decltype(std::declval<Profile&>().*Member)>;

struct Field {
  std::string_view key;
  bool (*set)(Profile&, std::string_view);
  Json (*get)(const Profile&);
};

// A member whose values are words: an enumeration, or the word itself.
template <auto Member, const Words& List>
constexpr Field word(std::string_view key) {
  return {key,
          [](Profile& profile, std::string_view value) {
            const int index = index_of(List, value);
            if (index < 0)
              return false;
            if constexpr (std::is_enum_v<TypeOf<Member>>)
              profile.*Member = static_cast<TypeOf<Member>>(index);
            else
              profile.*Member = value;
            return true;
          },
          [](const Profile& profile) -> Json {
            if constexpr (std::is_enum_v<TypeOf<Member>>)
              return List.at(static_cast<std::size_t>(profile.*Member));
            else
              return profile.*Member;
          }};
}

template <auto Member>
constexpr Field flag(std::string_view key) {
  return {key,
          [](Profile& profile, std::string_view value) {
            profile.*Member = value == "true";
            return value == "true" || value == "false";
          },
          [](const Profile& profile) -> Json { return profile.*Member; }};
}

template <auto Member>
constexpr Field text(std::string_view key) {
  return {key,
          [](Profile& profile, std::string_view value) {
            profile.*Member = value;
            return true;
          },
          [](const Profile& profile) -> Json { return profile.*Member; }};
}

template <auto Member>
constexpr Field texts(std::string_view key) {
  return {key,
          [](Profile& profile, std::string_view value) {
            profile.*Member = split(value);
            return true;
          },
          [](const Profile& profile) -> Json { return profile.*Member; }};
}

bool set_markup(Profile& profile, std::string_view value) {
  if (value == "auto") {
    profile.tool_markup = Profile().tool_markup;
    return true;
  }
  std::vector<Markup> all;
  for (const std::string& one : split(value == "off" ? "" : value)) {
    const int index = index_of(kMarkup, one);
    if (index < 0)
      return false;
    all.push_back(static_cast<Markup>(index));
  }
  profile.tool_markup = std::move(all);
  return true;
}

Json get_markup(const Profile& profile) {
  Json out = Json::array();
  for (const Markup one : profile.tool_markup)
    out.push_back(name(one));
  return out;
}

bool set_body(Profile& profile, std::string_view value) {
  const auto json = parse_json(value.empty() ? "{}" : value);
  if (!json || !json->is_object())
    return false;
  profile.body = json->empty() ? std::string() : dump(*json);
  return true;
}

Json get_body(const Profile& profile) {
  return parse_json(profile.body.empty() ? "{}" : profile.body).value_or(Json::object());
}

constexpr std::array kFields = {
    word<&Profile::auth, kAuth>("auth"),
    text<&Profile::query>("query"),
    text<&Profile::path>("path"),
    word<&Profile::max_tokens_field, kTokenField>("max_tokens_field"),
    flag<&Profile::include_usage>("include_usage"),
    texts<&Profile::omit>("omit"),
    Field{"body", set_body, get_body},
    word<&Profile::parallel_tool_calls, kParallel>("parallel_tool_calls"),
    word<&Profile::tool_choice, kToolChoice>("tool_choice"),
    word<&Profile::effort_field, kEffort>("effort_field"),
    word<&Profile::reasoning_summary, kSummary>("reasoning_summary"),
    texts<&Profile::reasoning_read>("reasoning_read"),
    word<&Profile::reasoning_replay, kReplay>("reasoning_replay"),
    flag<&Profile::think_prefilled>("think_prefilled"),
    word<&Profile::empty_content, kEmpty>("empty_content"),
    word<&Profile::system_role, kRole>("system_role"),
    word<&Profile::tool_ids, kIds>("tool_ids"),
    Field{"tool_markup", set_markup, get_markup},
    word<&Profile::json_repair, kRepair>("json_repair"),
    word<&Profile::require_model_match, kMatch>("require_model_match"),
    word<&Profile::no_choices, kNoChoices>("no_choices"),
    flag<&Profile::strict_params>("strict_params"),
};

struct Setting {
  std::string_view profile;
  std::string_view key;
  std::string_view value;
};

// Rows of the table: what differs from "generic".
constexpr std::array kSettings = {
    Setting{"openai", "tool_markup", "off"},
    Setting{"openai", "think_prefilled", "false"},
    Setting{"azure-v1", "auth", "api-key"},
    Setting{"azure-v1", "tool_markup", "off"},
    Setting{"azure-v1", "think_prefilled", "false"},
    Setting{"azure-classic", "auth", "api-key"},
    Setting{"azure-classic", "query", "api-version=2024-10-21"},
    Setting{"azure-classic", "path", "/openai/deployments/{model}"},
    Setting{"azure-classic", "tool_markup", "off"},
    Setting{"azure-classic", "think_prefilled", "false"},
    Setting{"azure-inference", "auth", "api-key"},
    Setting{"azure-inference", "query", "api-version=2024-05-01-preview"},
    Setting{"azure-inference", "path", "/models"},
    Setting{"azure-inference", "max_tokens_field", "max_tokens"},
    Setting{"xai", "omit", "stop,presence_penalty,frequency_penalty"},
    Setting{"xai", "reasoning_summary", "off"},
    Setting{"xai", "tool_markup", "off"},
    Setting{"xai", "think_prefilled", "false"},
    Setting{"vllm", "reasoning_replay", "both"},
    Setting{"sglang", "max_tokens_field", "max_tokens"},
    Setting{"llama.cpp", "max_tokens_field", "max_tokens"},
    Setting{"ollama", "max_tokens_field", "max_tokens"},
    Setting{"ollama", "empty_content", "empty"},
    Setting{"deepseek", "max_tokens_field", "max_tokens"},
    Setting{"deepseek", "tool_choice", "auto"},
    Setting{"deepseek", "tool_markup", "off"},
    Setting{"kimi", "max_tokens_field", "max_tokens"},
    Setting{"kimi", "tool_choice", "auto"},
    Setting{"kimi", "empty_content", "placeholder"},
    Setting{"kimi", "tool_ids", "kimi"},
    Setting{"kimi", "tool_markup", "kimi"},
    Setting{"glm", "max_tokens_field", "max_tokens"},
    Setting{"glm", "tool_choice", "auto"},
    Setting{"glm", "tool_markup", "glm"},
    Setting{"qwen", "max_tokens_field", "max_tokens"},
    Setting{"qwen", "tool_choice", "auto"},
    Setting{"qwen", "tool_markup", "hermes,qwen3_xml"},
    Setting{"gemini", "no_choices", "refusal"},
    Setting{"gemini", "tool_markup", "off"},
    Setting{"gemini", "think_prefilled", "false"},
    Setting{"openrouter", "effort_field", "reasoning.effort"},
    Setting{"openrouter", "body", R"({"provider":{"allow_fallbacks":false}})"},
};

constexpr std::array<std::string_view, 16> kNames = {"generic",
                                                     "openai",
                                                     "azure-v1",
                                                     "azure-classic",
                                                     "azure-inference",
                                                     "xai",
                                                     "vllm",
                                                     "sglang",
                                                     "llama.cpp",
                                                     "ollama",
                                                     "deepseek",
                                                     "kimi",
                                                     "glm",
                                                     "qwen",
                                                     "gemini",
                                                     "openrouter"};

struct Place {
  std::string_view profile;
  std::string_view host;  // "*.x": any host that ends so; ":N": any host at this port
  std::string_view path;  // begins with; empty: any
};

// The first that fits. Self-hosted servers choose their own ports; only Ollama's is telling.
constexpr std::array kPlaces = {
    Place{"openai", "api.openai.com", ""},
    Place{"azure-v1", "*.openai.azure.com", "/openai/v1"},
    Place{"azure-v1", "*.services.ai.azure.com", "/openai/v1"},
    Place{"azure-v1", "*.cognitiveservices.azure.com", "/openai/v1"},
    Place{"azure-inference", "*.openai.azure.com", "/models"},
    Place{"azure-inference", "*.services.ai.azure.com", "/models"},
    Place{"azure-inference", "*.services.ai.azure.com", ""},
    Place{"azure-inference", "*.models.ai.azure.com", ""},
    Place{"azure-classic", "*.openai.azure.com", ""},
    Place{"azure-classic", "*.cognitiveservices.azure.com", ""},
    Place{"xai", "api.x.ai", ""},
    Place{"xai", "*.api.x.ai", ""},
    Place{"deepseek", "api.deepseek.com", ""},
    Place{"kimi", "api.moonshot.ai", ""},
    Place{"kimi", "api.moonshot.cn", ""},
    Place{"kimi", "api.kimi.com", ""},
    Place{"glm", "api.z.ai", ""},
    Place{"glm", "open.bigmodel.cn", ""},
    Place{"qwen", "dashscope.aliyuncs.com", ""},
    Place{"qwen", "*.aliyuncs.com", "/compatible-mode"},
    Place{"gemini", "generativelanguage.googleapis.com", ""},
    Place{"openrouter", "openrouter.ai", ""},
    Place{"openrouter", "*.openrouter.ai", ""},
    Place{"ollama", "ollama.com", ""},
    Place{"ollama", ":11434", ""},
};

bool fits(const Place& place, std::string_view host, std::string_view port, std::string_view path) {
  const bool at = place.host.starts_with('*')   ? host.ends_with(place.host.substr(1))
                  : place.host.starts_with(':') ? port == place.host.substr(1)
                                                : host == place.host;
  return at && path.starts_with(place.path);
}

}  // namespace

std::string_view name(Markup markup) {
  return kMarkup.at(static_cast<std::size_t>(markup));
}

std::vector<std::string_view> profile_names() {
  return {kNames.begin(), kNames.end()};
}

std::vector<std::string_view> profile_keys() {
  std::vector<std::string_view> keys;
  for (const Field& field : kFields)
    keys.push_back(field.key);
  return keys;
}

std::string_view profile_for(std::string_view base_url) {
  const std::size_t scheme = base_url.find("://");
  std::string rest(base_url.substr(scheme == std::string_view::npos ? 0 : scheme + 3));
  std::transform(rest.begin(), rest.end(), rest.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  const std::string_view authority = std::string_view(rest).substr(0, end);
  const std::size_t bracket = std::min(authority.rfind(']'), authority.size());
  const std::size_t colon =
      std::min(authority.find(':', bracket < authority.size() ? bracket : 0), authority.size());
  const std::string_view port = authority.substr(std::min(colon + 1, authority.size()));
  for (const Place& place : kPlaces)
    if (fits(place, authority.substr(0, colon), port, std::string_view(rest).substr(end)))
      return place.profile;
  return kNames.front();
}

bool set(Profile& profile, std::string_view key, std::string_view value) {
  const auto* const field = std::find_if(
      kFields.begin(), kFields.end(), [&](const Field& one) { return one.key == key; });
  return field != kFields.end() && field->set(profile, value);
}

Profile resolve(const config::EndpointKeys& keys, std::string_view base_url) {
  Profile profile;
  profile.name = keys.profile == "auto" ? std::string(profile_for(base_url)) : keys.profile;
  if (std::find(kNames.begin(), kNames.end(), profile.name) == kNames.end())
    throw util::UsageError({"[models.endpoint] profile",
                            "there is no profile '" + util::printable(profile.name) + "'",
                            "docs/endpoints.md lists them; \"auto\" chooses by host"},
                           "E_ENDPOINT_PROFILE");
  for (const Setting& setting : kSettings)
    if (setting.profile == profile.name && !set(profile, setting.key, setting.value))
      throw util::InfraError({"endpoint profiles", std::string(setting.key), ""},
                             "E_ENDPOINT_PROFILE");
  for (const auto& [key, value] : keys.values)
    if (!set(profile, key, value))
      throw util::UsageError({"[models.endpoint] " + key,
                              "the value " + util::printable(value.substr(0, 80)) + " is unknown",
                              "docs/endpoints.md lists what it takes"},
                             "E_ENDPOINT_PROFILE");
  return profile;
}

Json to_json(const Profile& profile) {
  Json out = {{"name", profile.name}};
  for (const Field& field : kFields)
    out[std::string(field.key)] = field.get(profile);
  return out;
}

std::string summary(const config::EndpointKeys& keys, std::string_view base_url) {
  std::string out = resolve(keys, base_url).name;
  std::string_view before = ", with ";
  for (const auto& [key, value] : keys.values) {
    out += std::string(before) + key + " = " + util::printable(value);
    before = ", ";
  }
  return out;
}

}  // namespace sweep::endpoint
