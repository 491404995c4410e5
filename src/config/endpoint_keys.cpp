#include "config/toml_reader.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <sstream>

namespace sweep::config {

namespace {

enum class Kind { word, words, truth, text, texts, table };

struct Rule {
  const char* key;
  Kind kind;
  std::string_view allowed = {};  // " a b c " for a word
};

constexpr std::string_view kProfiles =
    " auto generic openai azure-v1 azure-classic azure-inference xai vllm sglang llama.cpp ollama "
    "deepseek kimi glm qwen gemini openrouter ";

// What each key takes; the endpoint's table of profiles gives the values their meaning.
constexpr std::array kRules = {
    Rule{"auth", Kind::word, " bearer api-key none "},
    Rule{"query", Kind::text},
    Rule{"path", Kind::text},
    Rule{"max_tokens_field", Kind::word, " max_completion_tokens max_tokens "},
    Rule{"include_usage", Kind::truth},
    Rule{"omit", Kind::texts},
    Rule{"body", Kind::table},
    Rule{"parallel_tool_calls", Kind::truth},
    Rule{"tool_choice", Kind::word, " all auto omit "},
    Rule{"effort_field", Kind::word, " reasoning_effort reasoning.effort omit "},
    Rule{"reasoning_summary", Kind::word, " auto concise detailed off "},
    Rule{"reasoning_read", Kind::texts},
    Rule{"reasoning_replay", Kind::word, " same_field both none "},
    Rule{"think_prefilled", Kind::truth},
    Rule{"empty_content", Kind::word, " null empty omit placeholder "},
    Rule{"system_role", Kind::word, " system developer user "},
    Rule{"tool_ids", Kind::word, " as_is kimi "},
    Rule{"tool_markup", Kind::words, " off auto hermes qwen3_xml pythonic kimi glm json fenced "},
    Rule{"json_repair", Kind::word, " safe off "},
    Rule{"require_model_match", Kind::word, " off prefix exact "},
    Rule{"no_choices", Kind::word, " error refusal "},
    Rule{"strict_params", Kind::truth},
};

// False, and an error, unless `value` is one of `allowed`.
bool known_word(TomlReader& reader,
                const toml::source_region& place,
                const char* key,
                const std::string& value,
                std::string_view allowed) {
  const bool plain = !value.empty() && value.find(' ') == std::string::npos;
  if (plain && allowed.find(" " + value + " ") != std::string_view::npos) {
    return true;
  }
  const std::string all(util::trim(allowed));
  std::vector<std::string> words;
  for (const std::string_view word : util::split(all, ' ')) {
    words.emplace_back(word);
  }
  const auto near = util::closest(value, words);
  reader.error(place,
               std::string(key) + " '" + util::printable(value.substr(0, 80)) + "' is unknown",
               (near ? "did you mean \"" + *near + "\"? One of: " : "one of: ") + all);
  return false;
}

void read_texts(TomlReader& reader, const toml::table& table, const Rule& rule, std::string& into) {
  std::vector<std::string> list;
  if (!reader.texts(table, rule.key, list)) {
    return;
  }
  const toml::source_region place = place_of(table, rule.key);
  for (const std::string& one : list) {
    if (rule.kind == Kind::words && !known_word(reader, place, rule.key, one, rule.allowed)) {
      return;
    }
    if (one.find(',') != std::string::npos) {
      reader.error(place, std::string(rule.key) + " holds a comma", "write a list of texts");
      return;
    }
    into += (into.empty() ? "" : ",") + one;
  }
  if (list.size() > 1 && rule.kind == Kind::words &&
      (list.front() == "off" || list.front() == "auto")) {
    reader.error(place, std::string(rule.key) + " mixes \"off\" or \"auto\" with formats", "");
  }
}

// The value as text; nullopt when absent or wrong.
std::optional<std::string> read_value(TomlReader& reader,
                                      const toml::table& table,
                                      const Rule& rule) {
  if (table.get(rule.key) == nullptr) {
    return std::nullopt;
  }
  std::string value;
  if (rule.kind == Kind::truth) {
    bool truth = false;
    if (!reader.boolean(table, rule.key, truth)) {
      return std::nullopt;
    }
    return truth ? "true" : "false";
  }
  if (rule.kind == Kind::table) {
    if (const toml::table* body = reader.table(table, rule.key)) {
      std::ostringstream shown;
      shown << toml::json_formatter{*body, toml::format_flags::none};
      const auto body_json = nlohmann::json::parse(shown.str(), nullptr, false);
      if (!body_json.is_object()) {
        reader.error(place_of(table, rule.key), "body has a value that JSON lacks", "leave it out");
        return std::nullopt;
      }
      return body_json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
    return std::nullopt;
  }
  if (rule.kind == Kind::texts || rule.kind == Kind::words) {
    read_texts(reader, table, rule, value);
    return value;
  }
  if (!reader.text(table, rule.key, value) ||
      (rule.kind == Kind::word &&
       !known_word(reader, place_of(table, rule.key), rule.key, value, rule.allowed))) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

void read_endpoint(TomlReader& reader, const toml::table& model, EndpointKeys& endpoint) {
  const toml::table* table = reader.table(model, "endpoint");
  if (table == nullptr) {
    return;
  }
  reader.check_keys(*table, "models.endpoint");
  std::string profile;
  if (reader.text(*table, "profile", profile) &&
      known_word(reader, place_of(*table, "profile"), "profile", profile, kProfiles)) {
    endpoint.profile = profile;
  }
  for (const Rule& rule : kRules) {
    if (auto value = read_value(reader, *table, rule)) {
      endpoint.values[rule.key] = std::move(*value);
    }
  }
}

}  // namespace sweep::config
