#pragma once

#include "config/config.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sweep::endpoint {

enum class Auth { bearer, api_key, none };
enum class TokenField { max_completion_tokens, max_tokens };
enum class ToolChoice { all, auto_only, omit };
enum class EffortField { reasoning_effort, reasoning_object, omit };
enum class Replay { same_field, both, none };
enum class EmptyContent { null, empty, omit, placeholder };
enum class SystemRole { system, developer, user };
enum class ToolIds { as_is, kimi };
enum class Repair { safe, off };
enum class ModelMatch { off, prefix, exact };
enum class NoChoices { error, refusal };
enum class Markup { hermes, qwen3_xml, pythonic, kimi, glm, json, fenced };

// How one kind of server bends the protocol. The members carry the names of the keys of
// [models.endpoint]; docs/endpoints.md says what each does. A default-made one is "generic".
struct Profile {
  std::string name = "generic";
  Auth auth = Auth::bearer;
  std::string query;  // "api-version=2024-05-01-preview"; added to the URL
  std::string path;   // before /chat/completions; "{model}" is the model's id, percent-encoded
  TokenField max_tokens_field = TokenField::max_completion_tokens;
  bool include_usage = true;                  // stream_options.include_usage
  std::vector<std::string> omit;              // members never sent
  std::string body;                           // JSON object: members added where we send none
  std::string parallel_tool_calls = "unset";  // "true", "false"; "unset": not sent
  ToolChoice tool_choice = ToolChoice::all;
  EffortField effort_field = EffortField::reasoning_effort;
  std::string reasoning_summary = "auto";  // Responses; "off": not asked for
  std::vector<std::string> reasoning_read = {"reasoning_content", "reasoning", "reasoning_details"};
  Replay reasoning_replay = Replay::same_field;
  bool think_prefilled = true;  // the prompt's template may have opened <think>
  EmptyContent empty_content = EmptyContent::null;
  SystemRole system_role = SystemRole::system;
  ToolIds tool_ids = ToolIds::as_is;
  std::vector<Markup> tool_markup = {Markup::hermes,
                                     Markup::qwen3_xml,
                                     Markup::pythonic,
                                     Markup::kimi,
                                     Markup::glm,
                                     Markup::json,
                                     Markup::fenced};
  Repair json_repair = Repair::safe;
  ModelMatch require_model_match = ModelMatch::off;
  NoChoices no_choices = NoChoices::error;
  bool strict_params = false;  // a parameter that the server refuses is an error, not left out
};

// "hermes", "qwen3_xml", ...
[[nodiscard]] std::string_view name(Markup markup);

// Names of the built-in rows, "generic" among them, and of the members that can be set.
[[nodiscard]] std::vector<std::string_view> profile_names();
[[nodiscard]] std::vector<std::string_view> profile_keys();

// The row that fits a base URL by its host and path; "generic" when none is known.
[[nodiscard]] std::string_view profile_for(std::string_view base_url);

// One member from text as config::EndpointKeys holds it: a word, "true" or "false", words joined by
// commas, or JSON (body). False: no such member or value.
[[nodiscard]] bool set(Profile& profile, std::string_view key, std::string_view value);

// The row that `keys` names, or that fits the URL, with what `keys` sets. util::UsageError
// E_ENDPOINT_PROFILE for what no row or member takes.
[[nodiscard]] Profile resolve(const config::EndpointKeys& keys, std::string_view base_url);

// The name and every member, for the record.
[[nodiscard]] nlohmann::ordered_json to_json(const Profile& profile);

// "vllm" or "vllm, with max_tokens_field = max_tokens": the row and what `keys` changes, in one
// line for people.
[[nodiscard]] std::string summary(const config::EndpointKeys& keys, std::string_view base_url);

}  // namespace sweep::endpoint
