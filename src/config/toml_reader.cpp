#include "config/toml_reader.h"

#include "config/schema.h"
#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

namespace sweep::config {

namespace {

constexpr std::size_t kMaxList = 10000;

std::string_view kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

std::string shown(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? std::to_string(whole) : std::to_string(value);
}

std::string cut(std::string_view text) {
  return util::printable(text.substr(0, 80));
}

// Where a key belongs that stands in a wrong table of a model, or under the name that another
// program has for it; empty: nobody knows it.
std::string place_in_model(std::string_view key) {
  struct Other {
    std::string_view name;
    std::string_view here;
  };

  constexpr std::array<Other, 7> others = {
      Other{"api_key", "name the variable that holds it: api_key_env = \"NAME\""},
      Other{"key", "name the variable that holds it: api_key_env = \"NAME\""},
      Other{"model", "the id on the wire is deployment_name in [[models]]"},
      Other{"url", "write base_url in [[models]]"},
      Other{"api_base", "write base_url in [[models]]"},
      Other{"max_output_tokens", "write max_tokens in [models.sampling]"},
      Other{"max_completion_tokens", "write max_tokens in [models.sampling]"}};
  for (const Other& other : others) {
    if (key == other.name) {
      return std::string(other.here);
    }
  }
  const std::string_view home = home_of(key);
  return home.empty() ? std::string()
                      : "it belongs in " + (home == "models" ? std::string("[[models]]")
                                                             : "[" + std::string(home) + "]");
}

}  // namespace

std::string Diagnostic::text() const {
  return util::Message{where, what, next}.text();
}

toml::source_region place_of(const toml::table& table, std::string_view key) {
  for (auto&& [name, node] : table) {
    if (name.str() == key) {
      return name.source();
    }
  }
  return table.source();
}

std::string TomlReader::where(const toml::source_region& place) const {
  if (place.begin.line == 0) {
    return file_;
  }
  return file_ + ":" + std::to_string(place.begin.line) + ":" + std::to_string(place.begin.column);
}

void TomlReader::warn_once(const std::string& key,
                           const toml::source_region& place,
                           std::string what,
                           std::string next) {
  if (warned_.insert(key).second) {
    warnings_.push_back({where(place), std::move(what), std::move(next)});
  }
}

void TomlReader::check_keys(const toml::table& table, std::string_view name) {
  const std::string shown_table =
      (name == "models" ? "[[" : "[") + std::string(name) + (name == "models" ? "]]" : "]");
  for (auto&& [key, node] : table) {
    const Key* known = find_key_of(name, key.str());
    if (known != nullptr) {
      // Values that say what is done anyway need no remark.
      const bool harmless =
          (key.str() == "dataset_src" && node.value_or(std::string_view()) == "local") ||
          key.str() == "precision";
      if (!known->instead.empty() && !harmless) {
        warn_once(std::string(key.str()),
                  key.source(),
                  std::string(key.str()) + " has no meaning here",
                  std::string(known->instead));
      }
      continue;
    }
    const std::string_view home = home_of(key.str());
    const bool strict = name.starts_with("models") || name.starts_with("harness");
    if (!home.empty() && !home.starts_with("harness") && !strict) {
      warn_once(std::string(key.str()),
                key.source(),
                cut(key.str()) + " has no effect in " + shown_table,
                "it belongs in [" + std::string(home) + "]");
      continue;
    }
    const auto near = util::closest(key.str(), names_of(name));
    const std::string elsewhere =
        name.starts_with("models")
            ? place_in_model(key.str())
            : (home.empty() ? std::string() : "it belongs in [" + std::string(home) + "]");
    error(key.source(),
          "unknown key '" + cut(key.str()) + "' in " + shown_table,
          !elsewhere.empty() ? elsewhere
          : near             ? "did you mean '" + *near + "'?"
                             : "all keys: sweep --help config");
  }
}

void TomlReader::wrong_type(const toml::node& node,
                            std::string_view key,
                            std::string_view expected) {
  error(node.source(),
        std::string(key) + " is " + std::string(kind_of(node)),
        std::string(expected) + " is expected");
}

const toml::table* TomlReader::table(const toml::table& in, const char* key) {
  const toml::node* node = in.get(key);
  if (node == nullptr) {
    return nullptr;
  }
  if (!node->is_table()) {
    wrong_type(*node, key, "a table");
  }
  return node->as_table();
}

bool TomlReader::text(const toml::table& in, const char* key, std::string& into) {
  const toml::node* node = in.get(key);
  if (node == nullptr) {
    return false;
  }
  const auto* value = node->as_string();
  if (value == nullptr) {
    wrong_type(*node, key, "a text in quotes");
    return false;
  }
  if (value->get().size() > 4096 || value->get().find('\0') != std::string::npos) {
    error(node->source(),
          std::string(key) + " is too long or holds a NUL",
          "at most 4096 bytes are allowed");
    return false;
  }
  into = value->get();
  return true;
}

bool TomlReader::integer(const toml::table& in,
                         const char* key,
                         std::int64_t& into,
                         std::int64_t low,
                         std::int64_t high) {
  const toml::node* node = in.get(key);
  if (node == nullptr) {
    return false;
  }
  const auto* value = node->as_integer();
  if (value == nullptr) {
    wrong_type(*node, key, "a whole number");
    return false;
  }
  if (value->get() < low || value->get() > high) {
    error(node->source(),
          std::string(key) + " = " + std::to_string(value->get()) + " is out of range",
          std::to_string(low) + " to " + std::to_string(high) + " is allowed");
    return false;
  }
  into = value->get();
  return true;
}

bool TomlReader::number(
    const toml::table& in, const char* key, double& into, double low, double high) {
  const toml::node* node = in.get(key);
  if (node == nullptr) {
    return false;
  }
  const auto value = node->is_number() ? node->value<double>() : std::nullopt;
  if (!value) {
    wrong_type(*node, key, "a number");
    return false;
  }
  if (!std::isfinite(*value) || *value < low || *value > high) {
    error(node->source(),
          std::string(key) + " is out of range",
          shown(low) + " to " + shown(high) + " is allowed");
    return false;
  }
  into = *value;
  return true;
}

bool TomlReader::boolean(const toml::table& in, const char* key, bool& into) {
  const toml::node* node = in.get(key);
  if (node == nullptr) {
    return false;
  }
  const auto* value = node->as_boolean();
  if (value == nullptr) {
    wrong_type(*node, key, "true or false");
    return false;
  }
  into = value->get();
  return true;
}

bool TomlReader::texts(const toml::table& in, const char* key, std::vector<std::string>& into) {
  const toml::node* node = in.get(key);
  if (node == nullptr) {
    return false;
  }
  if (const auto* one = node->as_string()) {
    into = {one->get()};
    return true;
  }
  const auto* list = node->as_array();
  if (list == nullptr) {
    wrong_type(*node, key, "a list of texts");
    return false;
  }
  std::vector<std::string> values;
  for (const toml::node& element : *list) {
    const auto* value = element.as_string();
    if (value == nullptr || values.size() >= kMaxList) {
      wrong_type(element,
                 std::string(key) + "[" + std::to_string(values.size()) + "]",
                 "a text in quotes");
      return false;
    }
    values.push_back(value->get());
  }
  into = std::move(values);
  return true;
}

bool TomlReader::integers(const toml::node& node,
                          const std::string& key,
                          std::vector<std::int64_t>& into) {
  const auto* list = node.as_array();
  if (list == nullptr) {
    wrong_type(node, key, "a list of whole numbers");
    return false;
  }
  std::vector<std::int64_t> values;
  for (const toml::node& element : *list) {
    const auto* value = element.as_integer();
    if (value == nullptr || values.size() >= kMaxList) {
      wrong_type(element, key + "[" + std::to_string(values.size()) + "]", "a whole number");
      return false;
    }
    if (value->get() < 0 || value->get() > 1000000) {
      error(element.source(),
            key + " holds " + std::to_string(value->get()),
            "0 to 1000000 is allowed");
      return false;
    }
    values.push_back(value->get());
  }
  into = std::move(values);
  return true;
}

bool TomlReader::integers(const toml::table& in, const char* key, std::vector<std::int64_t>& into) {
  const toml::node* node = in.get(key);
  return node != nullptr && integers(*node, key, into);
}

bool TomlReader::by_level(const toml::node& node,
                          const std::string& key,
                          std::map<std::int64_t, std::vector<std::int64_t>>& into) {
  const auto* table = node.as_table();
  if (table == nullptr) {
    wrong_type(node, key, "a table of lists by level");
    return false;
  }
  for (auto&& [name, list] : *table) {
    std::int64_t level = 0;
    const std::string_view text = name.str();
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), level);
    if (failed != std::errc() || end != text.data() + text.size() || level < 0) {
      error(name.source(),
            key + " has the key '" + cut(text) + "'",
            "level numbers are expected: 1 = [2, 3]");
      continue;
    }
    integers(list, key + "." + std::string(text), into[level]);
  }
  return true;
}

toml::table parse_toml(std::string_view text, const std::string& file) {
  constexpr std::size_t kMaxFile = std::size_t{1} << 20;
  if (text.size() > kMaxFile) {
    throw util::UsageError({file, "larger than 1 MiB", "a configuration is a small TOML file"},
                           "E_CONFIG_SYNTAX");
  }
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    const auto& at = error.source().begin;
    throw util::UsageError({file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column),
                            util::printable(std::string(error.description())),
                            "mend the TOML there"},
                           "E_CONFIG_SYNTAX");
  }
}

std::string in_quotes(std::string_view text) {
  return "'" + util::printable(text.substr(0, 80)) + "'";
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& names) {
  // A word that was begun right is nearer than one with another end: 'sm_90' is no 'sm_80'.
  std::vector<std::string> begun;
  std::ranges::copy_if(names, std::back_inserter(begun), [&](const std::string& one) {
    return name.size() >= 3 && one.starts_with(name);
  });
  const auto near = begun.size() == 1 ? begun.front() : util::closest(name, names);
  if (near) {
    return "did you mean '" + *near + "'?";
  }
  std::string all;
  for (const std::string& one : names) {
    all += (all.empty() ? "" : ", ") + one;
  }
  return "one of " + all + " is expected";
}

void throw_errors(const std::vector<Diagnostic>& errors) {
  if (errors.empty()) {
    return;
  }
  std::string rest;
  for (std::size_t i = 1; i < errors.size(); ++i) {
    rest += "\n" + errors[i].text();
  }
  throw util::UsageError({errors[0].where, errors[0].what, errors[0].next + rest}, "E_CONFIG");
}

}  // namespace sweep::config
